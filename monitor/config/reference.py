"""The reference of all settings, docs/configuration.md, made from the sections themselves.

``python -m monitor.config.reference > docs/configuration.md`` writes it anew; a test compares the two. What it says of
a key is the text under the key's field, so that it cannot fall behind the code.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import reduce
from operator import or_
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NamedTuple, Union, get_args, get_origin

import annotated_types
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from monitor.config.client import ClientProperties
from monitor.config.section import Section
from monitor.config.settings import ENVIRONMENT_DELIMITER, ENVIRONMENT_PREFIX, Settings
from monitor.config.systems import SecretReference
from monitor.model import Shard

START: Final = """\
# Configuration

Every setting of groupwatch. This page is made from the code, by
`python -m monitor.config.reference > docs/configuration.md`.

A deployment has one file in TOML, which `--config` names, and variables of the environment, which go before the file.
[groupwatch.example.toml](../groupwatch.example.toml) has everything that can be watched, in one file; of Kafka alone
this is enough:

```toml
[clusters.prod]                                   # "prod" is the label `cluster`
bootstrap_servers = "broker1:9092,broker2:9092"

[spark]
checkpoint = "/var/lib/groupwatch/checkpoint"
```

- **Variables.** The variable of a key stands in its row: `GROUPWATCH_` and the parts of the key, joined by two
  underscores. A value is taken as it is written, without quotes. Put the name of a table for NAME; it is read in lower
  case: `GROUPWATCH_CLUSTERS__PROD__BOOTSTRAP_SERVERS` is of `[clusters.prod]`. In a table of texts put the key for KEY,
  two underscores for each dot; it is read in lower case as well: `GROUPWATCH_CLUSTERS__PROD__CLIENT__SASL__PASSWORD` is
  `"sasl.password"`. A table in double brackets can only stand in the file.
- **Names.** NAME is a label, a part of addresses and a folder of the checkpoint. It may have any character that can be
  seen but slashes, has no space at its ends, is not `.` or `..`, and percent-encoded no longer than 200 characters.
- **Mistakes.** A key that groupwatch does not know, a value that is out of range and a variable that belongs to no
  table end the command with exit code 2 and one sentence for each, which names the key and shows nothing that could be
  a secret. `groupwatch check-config FILE` tells them without starting anything, and with `--connect` also whether each
  cluster answers and permits what is needed ([deployment.md](deployment.md) says what is looked at).
- **Secrets.** A value of `client`, and each key of the type secret, may contain `${env:NAME}` or `${file:/path}`. They
  are looked up when a connection is made, so a secret that changes needs no new start. No secret reaches a log, a
  metric, the page or an error.
- **When they count.** Settings are read once, at the start. What "a checkpoint keeps" can only be chosen while there is
  no checkpoint yet, or with `--rebuild` ([architecture.md](architecture.md#state-and-checkpoint)).
"""

UNITS: Final[Mapping[str, str]] = {"_s": "s", "_ms": "ms", "_bytes": "bytes", "_records": "records", "_lag": "records"}
"""What the end of a key says of its unit."""

TABLE_OF_TEXTS: Final = "table of texts"

UNITS_OF: Final[Mapping[str, str]] = {"lag_records": "records", "max_records_per_batch": "records (offsets)"}


class Table(NamedTuple):
    """A table of the file: its header, the path of its keys in the settings, and the section that it is."""

    header: str
    path: tuple[str, ...]
    section: type[BaseModel]
    listed_in: type[BaseModel] | None = None
    """The section that has a list of such tables."""

    @property
    def keys(self) -> Mapping[str, FieldInfo]:
        """The table's own keys: no table below it, no key that it shares, nor the name that its header has."""
        passed_over = {*self.shared, *(["name"] if self.path[-1:] == ("NAME",) else [])}
        fields = self.section.model_fields.items()
        return {key: field for key, field in fields if not section_in(field.annotation) and key not in passed_over}

    @property
    def shared(self) -> frozenset[str]:
        """Keys that a table of a list has in common with the one above it, as both are sections of the same kind."""
        if self.listed_in is None:
            return frozenset()
        kinds = (kind for kind in self.section.__mro__ if issubclass(kind, Section) and kind is not Section)
        common = (kind for kind in kinds if issubclass(self.listed_in, kind))
        return frozenset(key for kind in common for key in kind.model_fields)


def tables() -> Iterator[Table]:
    """All tables that a file may have, in the order of the settings; first what stands before any table."""
    yield from _with_those_below(Table("", (), Settings))


def _with_those_below(table: Table) -> Iterator[Table]:
    yield table
    for key, field in table.section.model_fields.items():
        section = section_in(field.annotation)
        if section is None:
            continue
        path = (*table.path, key)
        match get_origin(_bare(field.annotation)):
            case None:
                yield from _with_those_below(Table(f"[{'.'.join(path)}]", path, section))
            case origin if origin is dict:
                yield from _with_those_below(Table(f"[{'.'.join(path)}.NAME]", (*path, "NAME"), section))
            case _:
                yield from _with_those_below(Table(f"[[{'.'.join(path)}]]", path, section, listed_in=table.section))


def section_in(annotation: object) -> type[BaseModel] | None:
    """The section that a field holds, itself, by names or in a list; None if it holds a value."""
    given = _bare(annotation)
    found = [each for each in (given, *get_args(given)) if isinstance(each, type) and issubclass(each, BaseModel)]
    return found[0] if found else None


def variable(table: Table, key: str) -> str | None:
    """The variable of a key; None if it can only stand in the file. A table of texts has one for each KEY in it.

    >>> spark = next(table for table in tables() if table.header == "[spark]")
    >>> variable(spark, "trigger_s"), variable(spark, "conf")
    ('GROUPWATCH_SPARK__TRIGGER_S', 'GROUPWATCH_SPARK__CONF__KEY')
    """
    if table.listed_in is not None:
        return None
    below = ["KEY"] if _kind(_bare(table.section.model_fields[key].annotation)) == TABLE_OF_TEXTS else []
    return ENVIRONMENT_PREFIX + ENVIRONMENT_DELIMITER.join((*table.path, key, *below)).upper()


def page() -> str:
    """The whole of docs/configuration.md."""
    return START + "".join(_part(table) for table in tables() if table.keys)


def _part(table: Table) -> str:
    title = f"`{table.header}`" if table.header else "Before the first table"
    rows = "".join(_row(table, key, field) for key, field in table.keys.items())
    return f"\n## {title}\n\n{_about(table)}\n\n| key | value | default | meaning |\n|---|---|---|---|\n{rows}"


def _about(table: Table) -> str:
    if not table.header:
        return "Keys that stand at the top of the file."
    above = f" Besides these keys, any that `[{'.'.join(table.path[:-1])}]` has." if table.shared else ""
    return _line((table.section.__doc__ or "").split("\n\n")[0]) + above


def _row(table: Table, key: str, field: FieldInfo) -> str:
    name = variable(table, key)
    set_by = f"<br>`{name}`" if name else ""
    meaning = _line(field.description or "").replace("|", "\\|")
    return f"| `{key}` | {_value(key, field)} | {_default(field)} | {meaning}{set_by} |\n"


def _line(text: str) -> str:
    """A text of the code as one line of Markdown.

    >>> _line("``a``  and b")
    '`a` and b'
    """
    return " ".join(text.replace("``", "`").split())


def _value(key: str, field: FieldInfo) -> str:
    """Type, unit and bounds."""
    kind = _kind(_bare(field.annotation))
    unit = UNITS_OF.get(key) or next((unit for end, unit in UNITS.items() if key.endswith(end)), "")
    said = [f"{kind}, {unit}" if unit and "number" in kind else kind, *_bounds(field)]
    return ", ".join(said)


def _kind(annotation: object) -> str:
    """How a value is written.

    Raises:
        TypeError: nobody has said so yet; say it here.
    """
    if get_origin(annotation) is Literal:
        return " or ".join(f"`{_literal(each)}`" for each in get_args(annotation))
    if get_origin(annotation) in (tuple, list, frozenset, set):
        each = _kind(get_args(annotation)[0])
        return f"list of {each}s" if each.isalpha() else f"list, each {each}"
    known: Mapping[object, str] = {
        str: "text",
        int: "whole number",
        float: "number",
        bool: "`true` or `false`",
        Path: "path",
        Shard: "text",
        SecretReference: "secret",
        ClientProperties: TABLE_OF_TEXTS,
        dict[str, str]: TABLE_OF_TEXTS,
    }
    if annotation not in known:
        raise TypeError(f"monitor.config.reference does not know how a value of the type {annotation} is written")
    return known[annotation]


def _bounds(field: FieldInfo) -> Iterator[str]:
    bounds = {type(each): each for each in field.metadata}
    words = {annotated_types.Gt: "more than {.gt:,}", annotated_types.Ge: "at least {.ge:,}"}
    words |= {annotated_types.Lt: "less than {.lt:,}", annotated_types.Le: "at most {.le:,}"}
    yield from (text.format(bounds[bound]) for bound, text in words.items() if bound in bounds)
    if annotated_types.MinLen in bounds:
        yield "not empty"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=True)
    if default is None:
        return "not set"
    if isinstance(default, dict | tuple | list | frozenset | ClientProperties) and not list(default):
        return "empty"
    return f"`{_literal(default)}`"


def _literal(value: object) -> str:
    """A value as TOML has it.

    >>> _literal("a"), _literal(True), _literal(4_000_000)
    ('"a"', 'true', '4000000')
    """
    match value:
        case bool():
            return str(value).lower()
        case Shard(number=number, of=of):
            return f'"{number}/{of}"'
        case int() | float():
            return str(value)
        case tuple() | list():
            return f"[{', '.join(map(_literal, value))}]"
        case _:
            return f'"{value}"'


def _bare(annotation: object) -> Any:  # noqa: ANN401 - what may be annotated has no type
    """The type without "or None", and without what pydantic is told besides.

    >>> _bare(Annotated[Path, "some remark"] | None)
    <class 'pathlib.Path'>
    """
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return reduce(or_, (_bare(each) for each in get_args(annotation) if each is not NoneType))
    return annotation


if __name__ == "__main__":
    sys.stdout.write(page())

"""The one line of JAAS that Kafka's ``sasl.jaas.config`` holds: read and written.

The grammar is that of ``org.apache.kafka.common.security.JaasConfig``: a login module, a control flag, options with
bare or quoted values, and a semicolon. Its words are those of ``java.io.StreamTokenizer``: a bare value is a word, no
number and no path, as a slash begins a comment. In quotes there are escapes as in C.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from monitor.config import ConfigError
from monitor.model import Value

PROPERTY: Final = "sasl.jaas.config"

_FLAGS: Final = frozenset({"required", "requisite", "sufficient", "optional"})
_TOKEN: Final = re.compile(
    r"""
    (?P<skipped> [\x00-\x20]+ | /\*.*?(?:\*/|\Z) | //[^\n\r]* | /.?[^\n\r]* )
    | " (?P<double> (?:[^"\\\n\r]|\\.)*+ ) "?
    | ' (?P<single> (?:[^'\\\n\r]|\\.)*+ ) '?
    | (?P<number> -?(?=[0-9.])[0-9]*\.?[0-9]* )
    | (?P<word> [A-Za-z_$\xa0-\U0010ffff][\w.$\xa0-\U0010ffff-]* )
    | (?P<sign> . )
    """,
    re.DOTALL | re.VERBOSE,
)
"""A token of ``java.io.StreamTokenizer`` as JaasConfig sets it up; a quoted text ends with its line, too."""

_ESCAPE: Final = re.compile(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)", re.DOTALL)
_MEANINGS: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ESCAPES: Final = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r"}
LOGIN_MODULES: Final = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}


class JaasEntry(Value, frozen=True):
    """A login module with its options. Its text shows no option, because they are secrets."""

    module: str
    options: dict[str, str]

    def __repr__(self) -> str:
        """The module only."""
        return f"JaasEntry(module={self.module!r})"


def parse_jaas(text: str) -> JaasEntry | None:
    r"""Read one entry; None if the text is not one.

    >>> entry = parse_jaas('a.PlainLoginModule required username=eve password="a \\"b\\"";')
    >>> entry.module, entry.options
    ('a.PlainLoginModule', {'username': 'eve', 'password': 'a "b"'})
    """
    tokens = [*_tokens(text)]
    if len(tokens) < 3 or tokens[-1].sign != ";":
        return None
    module, flag, *given = tokens[:-1]
    options = [_option(given[place : place + 3]) for place in range(0, len(given), 3)]
    if module.text is None or (flag.text or "").lower() not in _FLAGS or None in options:
        return None
    return JaasEntry(module=module.text, options=dict(option for option in options if option))


def given_jaas(place: str, properties: Mapping[str, str]) -> JaasEntry:
    """The entry in ``sasl.jaas.config``, which is given.

    Args:
        place: where the properties stand in the configuration.
        properties: by their Java names, references resolved.

    Raises:
        ConfigError: it cannot be read.
    """
    entry = parse_jaas(properties[PROPERTY])
    if entry is None:
        raise ConfigError(f'{place}.{PROPERTY} is not of the form: module required name="value" ... ;')
    return entry


def jaas_line(mechanism: str, username: str, password: str) -> str:
    r"""The entry that logs a user in with PLAIN or SCRAM.

    >>> jaas_line("PLAIN", "eve", 'a"b')
    'org.apache.kafka.common.security.plain.PlainLoginModule required username="eve" password="a\\"b";'
    """
    return jaas_entry(LOGIN_MODULES[mechanism], {"username": username, "password": password})


def jaas_entry(module: str, options: Mapping[str, str]) -> str:
    r"""The entry of a login module with these options.

    >>> jaas_entry("a.Module", {"name": 'a"b'}), jaas_entry("a.Module", {})
    ('a.Module required name="a\\"b";', 'a.Module required;')
    """
    return " ".join([module, "required", *(f"{name}={_quote(value)}" for name, value in options.items())]) + ";"


class _Token(NamedTuple):
    """A word or a quoted text, or else (``text`` is None) a sign or a number."""

    text: str | None
    sign: str = ""


def _option(tokens: Sequence[_Token]) -> tuple[str, str] | None:
    """The name and the value that three tokens are; None: they are no option."""
    match tokens:
        case [_Token(text=str(name)), _Token(sign="="), _Token(text=str(value))]:
            return name, value
    return None


def _tokens(text: str) -> Iterator[_Token]:
    for found in _TOKEN.finditer(text):
        match found.lastgroup:
            case "word":
                yield _Token(found["word"])
            case "double" | "single" as quoted:
                yield _Token(_ESCAPE.sub(_meaning, found[quoted]))
            case "number" | "sign" as kind:
                yield _Token(None, found[kind])


def _meaning(escape: re.Match[str]) -> str:
    """The character of an escape, by StreamTokenizer: octal, a letter as in C, or the character itself."""
    found = escape[1]
    return chr(int(found, 8)) if found[0] in "01234567" else _MEANINGS.get(found, found)


def _quote(text: str) -> str:
    """As StreamTokenizer reads it back: a line would end the text."""
    return '"' + "".join(_ESCAPES.get(each, each) for each in text) + '"'

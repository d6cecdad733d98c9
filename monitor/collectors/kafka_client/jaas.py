"""The one line of JAAS that Kafka's ``sasl.jaas.config`` holds: read and written.

The grammar is that of ``org.apache.kafka.common.security.JaasConfig``: a login module, a control flag, options with
bare or quoted values, and a semicolon.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from monitor.config import ConfigError
from monitor.model import Value

PROPERTY: Final = "sasl.jaas.config"
VALUE: Final = r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[^\s;="\']+'
ENTRY: Final = re.compile(
    rf"\s*(?P<module>[\w.$]+)\s+(?:required|requisite|sufficient|optional)"
    rf"(?:\s+(?P<options>(?:[\w.-]+\s*=\s*(?:{VALUE})\s*)*))?;\s*",
    re.DOTALL | re.IGNORECASE,
)
OPTION: Final = re.compile(rf"([\w.-]+)\s*=\s*({VALUE})", re.DOTALL)
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
    entry = ENTRY.fullmatch(text)
    if entry is None:
        return None
    options = {name: _unquote(value) for name, value in OPTION.findall(entry["options"] or "")}
    return JaasEntry(module=entry["module"], options=options)


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
        raise ConfigError(f"{place}.{PROPERTY} is not of the form: module required name=value ... ;")
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


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unquote(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.DOTALL) if value[0] in "\"'" else value

"""A properties file of a Java client, such as Kafka's own tools take by ``--command-config``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from monitor.config.errors import ConfigError
from monitor.config.files import small_text

_NEWLINE: Final = re.compile(r"\r\n|\n|\r")
_BLANKS: Final = " \t\f"
_ENTRY: Final = re.compile(r"(?P<key>(?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(?P<value>.*)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.?)", re.DOTALL)
_MEANINGS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read_properties(path: Path) -> dict[str, str]:
    """The properties in a file.

    Raises:
        ConfigError: it cannot be read, or is no properties file. The text has none of its content.
    """
    try:
        return parse_properties(small_text(path))
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not text in UTF-8.") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror}).") from None


def parse_properties(text: str) -> dict[str, str]:
    r"""The entries of a properties file, by the rules of ``java.util.Properties``; of equal keys, the last counts.

    >>> parse_properties("# a comment\na=1\nb : two \\\n   words\nc\\:d e\n")
    {'a': '1', 'b': 'two words', 'c:d': 'e'}
    """
    entries = (_ENTRY.fullmatch(line) for line in _logical_lines(text))
    return {_unescape(entry["key"]): _unescape(entry["value"]) for entry in entries if entry}


def _logical_lines(text: str) -> Iterator[str]:
    """The lines without comments and empty ones; a line that ends with a backslash continues in the next."""
    whole: str | None = None
    for natural in _NEWLINE.split(text):
        line = natural.lstrip(_BLANKS)
        if whole is None and (not line or line[0] in "#!"):
            continue
        whole = (whole or "") + line
        if (len(line) - len(line.rstrip("\\"))) % 2:
            whole = whole[:-1]
        else:
            yield whole
            whole = None
    if whole is not None:
        yield whole


def _unescape(text: str) -> str:
    def meaning(found: re.Match[str]) -> str:
        escape = found[1]
        return chr(int(escape[1:], 16)) if len(escape) == 5 else _MEANINGS.get(escape, escape)

    return _ESCAPE.sub(meaning, text)

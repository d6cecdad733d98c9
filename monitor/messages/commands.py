"""Names in commands that are safe to paste into a shell.

Names come from the cluster, so a name may try to be a command. groupwatch runs none of these.
"""

from __future__ import annotations

import shlex
from typing import Final

from monitor.model.escaping import escaped

BROKER: Final = "BROKER:9092"
"""What a person replaces by an address of the cluster."""


def shell_word(name: str) -> str | None:
    r"""The name as one word of bash or zsh, in which every character can be seen; None: an argument cannot have it.

    >>> print(shell_word("orders"), shell_word("it's"), shell_word("a\n$(b)"))
    orders 'it'"'"'s' $'a\x0a$(b)'
    """
    if "\0" in name or not _is_encodable(name):
        return None
    if escaped(name) == name:
        return shlex.quote(name)
    return f"$'{''.join(map(_ansi, name.encode()))}'"


def option(name: str, value: str) -> str | None:
    """An option with its value. One that begins with a dash would be taken for another option."""
    word = shell_word(value) if value else None
    if word is None:
        return None
    return f"--{name}={word}" if value.startswith("-") else f"--{name} {word}"


def _ansi(byte: int) -> str:
    r"""A byte within ``$'...'``."""
    char = chr(byte)
    return char if char.isascii() and char.isprintable() and char not in "\\'" else f"\\x{byte:02x}"


def _is_encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True

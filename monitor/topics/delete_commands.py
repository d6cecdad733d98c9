"""The commands of Kafka that delete a group or some of its offsets, safe to paste into a shell.

Names come from the cluster, so a name may try to be a command. groupwatch runs none of these.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Final

from monitor.model import PartitionId
from monitor.model.escaping import escaped

BROKER: Final = "BROKER:9092"
"""What a person replaces by an address of the cluster."""

_NOT_IN_TOPICS: Final = frozenset(":,")
"""By these, the tool separates topics from partitions. Kafka allows them in no topic."""


def delete_group(tool: str, group: str) -> str | None:
    """The command that deletes a group; None if no command can name it.

    >>> delete_group("kafka-consumer-groups.sh", "orders; reboot")
    "kafka-consumer-groups.sh --bootstrap-server BROKER:9092 --delete --group 'orders; reboot'"
    """
    own = _option("group", group)
    return own and f"{tool} --bootstrap-server {BROKER} --delete {own}"


def delete_offsets(tool: str, group: str, topic: str, partitions: Iterable[PartitionId]) -> str | None:
    """The command that deletes the offsets of a group in a topic; None if no command can name them.

    >>> delete_offsets("kafka-consumer-groups.sh", "g", "orders", (0, 1))
    'kafka-consumer-groups.sh --bootstrap-server BROKER:9092 --delete-offsets --group g --topic orders:0,1'
    """
    if not topic or not _NOT_IN_TOPICS.isdisjoint(topic):
        return None
    own = _option("group", group)
    places = _option("topic", f"{topic}:{','.join(map(str, partitions))}")
    return own and places and f"{tool} --bootstrap-server {BROKER} --delete-offsets {own} {places}"


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


def _option(name: str, value: str) -> str | None:
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

"""Questions to brokers about groups: the bytes of a request's body, in each version that groupwatch asks in.

The layouts are those of Kafka's message definitions (``common/message`` in its jars); what is answered is in
:mod:`monitor.protocol.kafka_admin.responses`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from enum import IntEnum

from monitor.model import Value


class Api(IntEnum):
    """The numbers of the questions (ApiKeys of Kafka's clients)."""

    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    DESCRIBE_GROUPS = 15
    LIST_GROUPS = 16
    CONSUMER_GROUP_DESCRIBE = 69
    SHARE_GROUP_DESCRIBE = 77
    STREAMS_GROUP_DESCRIBE = 89
    SHARE_GROUP_OFFSETS = 90


class Versions(Value):
    """The supported versions of a request: ``flexible`` is the first with compact lengths."""

    oldest: int
    newest: int
    flexible: int


VERSIONS = {
    Api.OFFSET_FETCH: Versions(oldest=2, newest=9, flexible=6),
    Api.FIND_COORDINATOR: Versions(oldest=4, newest=6, flexible=3),
    Api.DESCRIBE_GROUPS: Versions(oldest=0, newest=6, flexible=5),
    Api.LIST_GROUPS: Versions(oldest=0, newest=5, flexible=3),
    Api.CONSUMER_GROUP_DESCRIBE: Versions(oldest=0, newest=1, flexible=0),
    Api.SHARE_GROUP_DESCRIBE: Versions(oldest=1, newest=1, flexible=0),
    Api.STREAMS_GROUP_DESCRIBE: Versions(oldest=0, newest=0, flexible=0),
    Api.SHARE_GROUP_OFFSETS: Versions(oldest=0, newest=1, flexible=0),
}

SEVERAL_GROUPS = 8
"""The first version of OffsetFetch that asks for several groups at once (KIP-709, Kafka 3.0)."""

_NO_TAGS = b"\x00"
_NULL, _NULL_COMPACT = struct.pack(">i", -1), b"\x00"
_GROUP = b"\x00"
"""The key type of FindCoordinator."""


def request_body(api: Api, version: int, groups: Sequence[str]) -> bytes:
    """The body of the question about these groups; ListGroups asks for all there are and takes none.

    Raises:
        ValueError: OffsetFetch before version 8 asks for one group only.
    """
    compact = version >= VERSIONS[api].flexible
    match api:
        case Api.LIST_GROUPS:
            return _empty_arrays((version >= 4) + (version >= 5)) + (_NO_TAGS if compact else b"")
        case Api.FIND_COORDINATOR:
            return _GROUP + _array(map(_compact_text, groups), len(groups), compact=True) + _NO_TAGS
        case Api.OFFSET_FETCH:
            return _offset_fetch(version, groups)
        case Api.SHARE_GROUP_OFFSETS:
            all_topics = (_compact_text(group) + _NULL_COMPACT + _NO_TAGS for group in groups)
            return _array(all_topics, len(groups), compact=True) + _NO_TAGS
    names = _array((_text(group, compact=compact) for group in groups), len(groups), compact=compact)
    asks_operations = b"\x00" if api is not Api.DESCRIBE_GROUPS or version >= 3 else b""
    return names + asks_operations + (_NO_TAGS if compact else b"")


def _offset_fetch(version: int, groups: Sequence[str]) -> bytes:
    """All topics of each group; offsets that a transaction may still change are given as they are."""
    if version >= SEVERAL_GROUPS:
        # of version 9: neither a member nor its epoch, as whoever asks is none
        who = _NULL_COMPACT + struct.pack(">i", -1) if version >= 9 else b""
        each = (_compact_text(group) + who + _NULL_COMPACT + _NO_TAGS for group in groups)
        return _array(each, len(groups), compact=True) + b"\x00" + _NO_TAGS
    (group,) = groups
    compact = version >= VERSIONS[Api.OFFSET_FETCH].flexible
    body = _text(group, compact=compact) + (_NULL_COMPACT if compact else _NULL)
    return body + (b"\x00" if version >= 7 else b"") + (_NO_TAGS if compact else b"")


def _empty_arrays(count: int) -> bytes:
    return b"\x01" * count


def _array(items: Iterable[bytes], count: int, *, compact: bool) -> bytes:
    return (_uvarint(count + 1) if compact else struct.pack(">i", count)) + b"".join(items)


def _text(text: str, *, compact: bool) -> bytes:
    data = text.encode()
    return (_uvarint(len(data) + 1) if compact else struct.pack(">h", len(data))) + data


def _compact_text(text: str) -> bytes:
    return _text(text, compact=True)


def _uvarint(number: int) -> bytes:
    """An unsigned varint (LEB128).

    >>> _uvarint(300).hex()
    'ac02'
    """
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)

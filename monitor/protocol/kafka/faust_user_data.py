"""What the leader of a classic group of Faust writes beside a member's partitions: which of them are standby copies.

The group's assignor is ``faust``. Its leader assigns a changelog partition to the worker that writes it, and also to
those that keep a copy of its table (``table_standby_replicas``, 1 by default) and, of a global table, to every worker.
The source is faust-streaming 0.15: ``ClientAssignment.kafka_protocol_assignment``, and ``ClientMetadata``, which is the
user data of the assignment as compressed JSON.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Final

import msgspec

from monitor.model import TopicPartitions

LARGEST_BYTES: Final = 8 << 20
"""More than this is not decompressed: a record has at most about a megabyte, and a hostile one could expand to much."""

_Distribution = dict[str, tuple[int, ...]]


class _ClientAssignment(msgspec.Struct):
    standbys: _Distribution


class _ClientMetadata(msgspec.Struct):
    assignment: _ClientAssignment
    changelog_distribution: dict[str, _Distribution]


_DECODER: Final = msgspec.json.Decoder(_ClientMetadata)


def standby_copies(data: bytes | None, assigned: Iterable[TopicPartitions]) -> tuple[TopicPartitions, ...] | None:
    """The assigned partitions that are only copies of a changelog; None: there is nothing that can be read.

    Faust also lists standby partitions of source topics. It assigns none of these, so only changelogs count.
    """
    metadata = _read(data)
    if metadata is None:
        return None
    standbys = metadata.assignment.standbys
    changelogs = {topic for own in metadata.changelog_distribution.values() for topic in own}
    found = [
        TopicPartitions(entry.topic, tuple([each for each in entry.partitions if each in copied]))
        for entry in assigned
        if entry.topic in changelogs and (copied := frozenset(standbys.get(entry.topic, ())))
    ]
    return tuple([entry for entry in found if entry.partitions])


def _read(data: bytes | None) -> _ClientMetadata | None:
    if not data:
        return None
    inflate = zlib.decompressobj()
    try:
        return _DECODER.decode(inflate.decompress(data, LARGEST_BYTES))
    except (zlib.error, msgspec.MsgspecError):
        return None

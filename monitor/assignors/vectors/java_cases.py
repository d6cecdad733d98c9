"""Cases for Java's orders as JSON writes them: keys in, their hash codes and orders out.

A case is an object: ``kind``, ``values`` in the order in which they are put into a new map, optionally ``capacity``,
with which the map is created. The kinds and how their values are written:

- ``string``: a text; ``integer``: a number of 32 bits;
- ``uuid``: Kafka's text form of 22 characters;
- ``topic-partition``: [topic, partition]; ``topic-id-partition``: [uuid, partition].
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, ValidationError

from monitor.assignors.errors import AssignorError
from monitor.assignors.java.hash import (
    integer_hash,
    string_hash,
    topic_id_partition_hash,
    topic_partition_hash,
    uuid_hash,
)
from monitor.assignors.java.order import hash_map_order, hash_set_copy_order, string_key
from monitor.assignors.java.uuid import Uuid, parse_uuid
from monitor.model import TopicPartition, Value

_Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]


class TopicIdPartition(Value):
    """One partition of a topic that is known by its id."""

    topic_id: Uuid
    partition: int


class Case(Value):
    """Keys for a map; their form depends on the kind."""

    kind: Literal["string", "integer", "uuid", "topic-partition", "topic-id-partition"]
    values: list[object]
    capacity: _Int32 | None = None


class Kind(Value):
    """One class of keys: from JSON, to JSON, its ``hashCode``, and the sort key of its ``compareTo`` if it has one."""

    read: Callable[[Any], Hashable]
    plain: Callable[[Any], object]
    hash_of: Callable[[Any], int]
    sort_key: Callable[[Any], Any] | None


def answer(assignor: str, case_input: object) -> dict[str, object]:
    """What Java says: ``hash`` of each value, ``iteration`` of the map, of a copy (a HashSet), and what is ``sorted``.

    The copy is ``new HashSet(collection)`` of the list of values. Classes that are not Comparable have no ``sorted``.

    >>> answer("java.order", {"kind": "topic-partition", "values": [["t", 0], ["t", 1]], "capacity": 1})
    {'hash': [1077, 1108], 'iteration': [['t', 1], ['t', 0]], 'hashset_copy_iteration': [['t', 1], ['t', 0]]}

    Raises:
        ValidationError: the object is not a case, or there is no such family.
        AssignorError: the capacity is negative.
    """
    if assignor != "java.order":
        raise ValidationError(f"No such family of Java's orders: {assignor!r}")
    case = msgspec.convert(case_input, Case)
    if case.capacity is not None and case.capacity < 0:
        raise AssignorError("IllegalArgumentException", f"Illegal initial capacity: {case.capacity}")
    kind = _KINDS[case.kind]
    keys = [kind.read(value) for value in case.values]
    found: dict[str, object] = {
        "hash": [kind.hash_of(key) for key in keys],
        "iteration": _plain(kind, hash_map_order(keys, kind.hash_of, case.capacity)),
        "hashset_copy_iteration": _plain(kind, hash_set_copy_order(keys, kind.hash_of)),
    }
    if kind.sort_key is not None:
        found["sorted"] = _plain(kind, sorted(keys, key=kind.sort_key))
    return found


def _plain(kind: Kind, keys: Sequence[Hashable]) -> list[object]:
    return [kind.plain(key) for key in keys]


def _same(key: object) -> object:
    return key


def _text(value: object) -> str:
    return msgspec.convert(value, str)


def _integer(value: object) -> int:
    return msgspec.convert(value, _Int32)


def _uuid(value: object) -> Uuid:
    try:
        return parse_uuid(_text(value))
    except ValueError as error:
        raise ValidationError(str(error)) from error


def _topic_partition(value: object) -> TopicPartition:
    topic, partition = msgspec.convert(value, tuple[str, _Int32])
    return TopicPartition(topic, partition)


def _topic_id_partition(value: object) -> TopicIdPartition:
    topic_id, partition = msgspec.convert(value, tuple[str, _Int32])
    return TopicIdPartition(topic_id=_uuid(topic_id), partition=partition)


_KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "string": Kind(read=_text, plain=_same, hash_of=string_hash, sort_key=string_key),
        "integer": Kind(read=_integer, plain=_same, hash_of=integer_hash, sort_key=_same),
        "uuid": Kind(read=_uuid, plain=str, hash_of=uuid_hash, sort_key=_same),
        "topic-partition": Kind(
            read=_topic_partition,
            plain=lambda key: [key.topic, key.partition],
            hash_of=lambda key: topic_partition_hash(key.topic, key.partition),
            sort_key=None,
        ),
        "topic-id-partition": Kind(
            read=_topic_id_partition,
            plain=lambda key: [str(key.topic_id), key.partition],
            hash_of=lambda key: topic_id_partition_hash(key.topic_id, key.partition),
            sort_key=None,
        ),
    }
)

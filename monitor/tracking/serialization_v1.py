"""States as version 1 of the format had them: every value with the names of its fields.

Version 2 writes committed offsets and the points of a topic's history as arrays, has topic ids in Kafka's text form
(version 1 had them in hexadecimal), and more fields, all with defaults.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Final

from msgspec import ValidationError

_OFFSET: Final = ("topic", "partition", "offset", "committed_ms")
_POINT: Final = ("at_ms", "offset")


def brought_to_v2(fields: dict[str, object]) -> dict[str, object]:
    """The fields of a group, topic or source of version 1 in the shape of version 2.

    Raises:
        msgspec.ValidationError: They are none of version 1.
    """
    changed = dict(fields)
    if "offsets" in changed:
        changed["offsets"] = _each(changed["offsets"], _offset)
    if "partitions" in changed:
        changed["partitions"] = _each(changed["partitions"], _partition)
    if changed.get("topic_id") is not None:
        changed["topic_id"] = _topic_id(changed["topic_id"])
    return changed


def _topic_id(text: object) -> str:
    try:
        return urlsafe_b64encode(bytes.fromhex(str(text).replace("-", ""))).decode().rstrip("=")
    except ValueError as broken:
        raise ValidationError(f"no topic id: {broken}") from broken


def _offset(fields: dict[str, object]) -> object:
    return [*_values(fields, _OFFSET), fields.get("leader_epoch", -1)]


def _partition(fields: dict[str, object]) -> object:
    return fields | {"ends": _each(fields.get("ends", []), lambda point: _values(point, _POINT))}


def _each(items: object, convert: Callable[[dict[str, object]], object]) -> list[object]:
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ValidationError("an array of objects was expected")
    return [convert(item) for item in items]


def _values(fields: dict[str, object], names: tuple[str, ...]) -> list[object]:
    try:
        return [fields[name] for name in names]
    except KeyError as missing:
        raise ValidationError(f"the field {missing} is missing") from missing

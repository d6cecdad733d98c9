"""Writes Kafka's messages, by the annotations of their classes: the other direction of monitor.protocol.wire.schema."""

from __future__ import annotations

import struct
from base64 import urlsafe_b64decode
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec

from monitor.protocol.wire.schema import Message, _Limits, _Wire

_CODES = {
    _Wire.INT8: ">b",
    _Wire.INT16: ">h",
    _Wire.UINT16: ">H",
    _Wire.INT32: ">i",
    _Wire.INT64: ">q",
}


def encoded(message: Message, version: int) -> bytes:
    """The version, and the message in it."""
    return struct.pack(">h", version) + written(message, version)


def encoded_key(record_type: int, key: Message) -> bytes:
    """The key of a record: keys are never flexible."""
    return struct.pack(">h", record_type) + written(key, 0)


def written(message: Message, version: int) -> bytes:
    """The message alone."""
    flexible = type(message).flexible is not None and version >= type(message).flexible
    return _struct(message, version, flexible)


def _struct(message: Message, version: int, flexible: bool) -> bytes:
    plain, tags = b"", []
    hints = get_type_hints(type(message), include_extras=True)
    for info in msgspec.structs.fields(message):
        kind, limits = taken_apart(hints[info.name])
        value = getattr(message, info.name)
        if version < limits.first or (limits.last is not None and version > limits.last):
            continue
        if limits.tag is None:
            plain += _value(kind, value, version, flexible)
        elif value != info.default:
            tags.append((limits.tag, _value(kind, value, version, flexible, tagged=True)))
    if not flexible:
        return plain
    plain += varint(len(tags))
    return plain + b"".join(varint(tag) + varint(len(data)) + data for tag, data in tags)


def taken_apart(hint: Any) -> tuple[Any, _Limits]:
    """The kind of a field, and in which versions it is."""
    extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    limits = next((extra for extra in extras if isinstance(extra, _Limits)), _Limits())
    width = next((extra for extra in extras if isinstance(extra, _Wire)), None)
    return width or (get_args(hint)[0] if extras else hint), limits


def _value(kind: Any, value: Any, version: int, flexible: bool, *, tagged: bool = False) -> bytes:
    if kind is _Wire.UUID:
        return urlsafe_b64decode(value + "==")
    if kind is _Wire.LOSSY_TEXT:
        kind = str
    if kind in _CODES:
        return struct.pack(_CODES[kind], value)
    some = next((part for part in get_args(kind) if part is not NoneType), kind) if NoneType in get_args(kind) else kind
    if get_origin(some) is tuple:
        items = None if value is None else [_value(_item(some), item, version, flexible) for item in value]
        return _length(items, ">i", flexible) + b"".join(items or ())
    if some in (str, bytes):
        data = value.encode() if isinstance(value, str) else value
        return _length(data, ">h" if some is str else ">i", flexible) + (data or b"")
    present = b"" if some is kind else _present(value is not None, tagged)
    return present + (b"" if value is None else _struct(value, version, flexible))


def _item(some: Any) -> Any:
    return taken_apart(get_args(some)[0])[0]


def _present(there: bool, tagged: bool) -> bytes:
    if tagged:
        return varint(1 if there else 0)
    return struct.pack(">b", 1 if there else -1)


def _length(value: Any, code: str, flexible: bool) -> bytes:
    size = -1 if value is None else len(value)
    return varint(size + 1) if flexible else struct.pack(code, size)


def varint(number: int) -> bytes:
    """An unsigned varint."""
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])

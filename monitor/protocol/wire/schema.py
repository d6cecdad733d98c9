"""Kafka's messages as frozen structs whose annotations are their schema.

A message class says for each field how it is written and in which versions; from that a layout is made once for each
version, and reading is a walk along it. The meaning of the annotations is that of Kafka's message definitions (the
JSON files in ``common/message`` of its jars, README of ``clients/src/main/resources/common/message``); the fields have
Kafka's own names, in the spelling of Python here and in Kafka's when a message is shown as JSON.

- ``Int32`` and the like say the width of a number; ``Uuid`` is 16 bytes, shown as 22 characters; ``LossyText`` is a
  text that decides nothing, read as Java reads it: what is no UTF-8 becomes U+FFFD.
- ``str``, ``bytes``, ``tuple[X, ...]`` and other messages can be null if annotated with ``| None``.
- ``since(3)``, ``only(1)`` and ``until(6)`` limit a field to some versions; elsewhere it has its default and is not
  shown.
- ``tagged(0)`` is an optional field behind the others (KIP-482), not shown where it has its default.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from enum import Enum, auto
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    ClassVar,
    Final,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from monitor.protocol.wire.reader import Reader

Read = Callable[[Reader], object]
M = TypeVar("M", bound="Message")


class _Wire(Enum):
    """How the kinds of fields are written whose Python type does not say it."""

    INT8 = auto()
    INT16 = auto()
    UINT16 = auto()
    INT32 = auto()
    INT64 = auto()
    UUID = auto()
    LOSSY_TEXT = auto()


Int8 = Annotated[int, _Wire.INT8]
Int16 = Annotated[int, _Wire.INT16]
UInt16 = Annotated[int, _Wire.UINT16]
Int32 = Annotated[int, _Wire.INT32]
Int64 = Annotated[int, _Wire.INT64]
Uuid = Annotated[str, _Wire.UUID]
LossyText = Annotated[str, _Wire.LOSSY_TEXT]


class _Limits(msgspec.Struct, frozen=True):
    """In which versions a field is written, and under which tag if it is a tagged one."""

    first: int = 0
    last: int | None = None
    tag: int | None = None

    def include(self, version: int) -> bool:
        return self.first <= version and (self.last is None or version <= self.last)


def since(version: int) -> _Limits:
    """The field is there from this version on."""
    return _Limits(first=version)


def only(version: int) -> _Limits:
    """The field is in this version and no other."""
    return _Limits(first=version, last=version)


def until(version: int, *, since: int = 0) -> _Limits:
    """The field is in no version after this one."""
    return _Limits(first=since, last=version)


def tagged(tag: int, *, since: int = 0) -> _Limits:
    """The field is a tagged one, from a version on."""
    return _Limits(first=since, tag=tag)


# msgspec hands "frozen" down to subclasses, which a type checker cannot know.
@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Message(msgspec.Struct, frozen=True, rename="camel"):
    """Base of all messages and of the structs inside them.

    Attributes:
        newest: The newest version that is known, for a message (not for a struct inside one).
        flexible: The version from which on lengths are compact and tagged fields follow (None: never).
    """

    newest: ClassVar[int] = 0
    flexible: ClassVar[int | None] = None


class _Field(msgspec.Struct, frozen=True):
    attribute: str
    name: str
    read: Read
    show: Callable[[object, int], object]
    default: object


class _Layout(msgspec.Struct, frozen=True):
    plain: tuple[_Field, ...]
    tagged: dict[int, _Field]


def read_versioned(message: type[M], data: bytes) -> tuple[int, M]:
    """The version that these bytes begin with, and the message in all of the rest.

    Raises:
        DecodeError: The version is not known, or the bytes are not a message of it to their end.
    """
    reader = Reader(data)
    version = reader.int16()
    if not 0 <= version <= message.newest:
        raise reader.unknown_version()
    read = read_message(message, version, reader)
    reader.finish()
    return version, read


def read_message(message: type[M], version: int, reader: Reader) -> M:
    """The message in this version at the reader's position; what follows it is left."""
    reader.flexible = message.flexible is not None and version >= message.flexible
    return _read(message, version, reader)


def json_fields(message: Message, version: int) -> dict[str, object]:
    """The message as the JSON object that Kafka's own converters make of it in this version."""
    layout = _layout(type(message), version)
    fields = {field.name: field.show(getattr(message, field.attribute), version) for field in layout.plain}
    for field in layout.tagged.values():
        value = getattr(message, field.attribute)
        if value != field.default:
            fields[field.name] = field.show(value, version)
    return fields


def _read(message: type[M], version: int, reader: Reader) -> M:
    layout = _layout(message, version)
    values = {field.attribute: field.read(reader) for field in layout.plain}
    if reader.flexible:
        for _ in range(reader.uvarint()):
            _read_tagged(layout, reader, values)
    return message(**values)


def _read_tagged(layout: _Layout, reader: Reader, values: dict[str, object]) -> None:
    tag, size = reader.tagged()
    field, start = layout.tagged.get(tag), reader.position
    if field is None:
        reader.skip(size)
    else:
        values[field.attribute] = field.read(reader)
        reader.end_tagged(start + size, start)


@cache
def _layout(message: type[Message], version: int) -> _Layout:
    hints = get_type_hints(message, include_extras=True)
    plain, tags = [], {}
    for info in msgspec.structs.fields(message):
        kind, limits = _split_annotation(hints[info.name])
        if not limits.include(version):
            continue
        read, show = _codec(kind, version, tagged=limits.tag is not None)
        field = _Field(info.name, info.encode_name, read, show, info.default)
        if limits.tag is None:
            plain.append(field)
        else:
            tags[limits.tag] = field
    return _Layout(tuple(plain), tags)


def _split_annotation(hint: object) -> tuple[object, _Limits]:
    """The kind of a field and its limits: ``Annotated[Int32, since(3)]`` is an Int32 with limits."""
    if get_origin(hint) is Annotated:
        kind, *extras = get_args(hint)
        limits = [extra for extra in extras if isinstance(extra, _Limits)]
        widths = [extra for extra in extras if isinstance(extra, _Wire)]
        return (widths[0] if widths else kind), (limits[0] if limits else _Limits())
    return hint, _Limits()


_NUMBERS: Final[dict[object, Read]] = {
    _Wire.INT8: Reader.int8,
    _Wire.INT16: Reader.int16,
    _Wire.UINT16: Reader.uint16,
    _Wire.INT32: Reader.int32,
    _Wire.INT64: Reader.int64,
    _Wire.UUID: Reader.uuid,
    _Wire.LOSSY_TEXT: Reader.lossy_string,
}
_TEXTS: Final[dict[tuple[object, bool], Read]] = {
    (str, False): Reader.string,
    (str, True): Reader.nullable_string,
    (bytes, False): Reader.byte_string,
    (bytes, True): Reader.nullable_bytes,
}
_NUMBER_ARRAYS: Final[dict[tuple[object, bool], Read]] = {
    (_Wire.INT16, False): Reader.int16_array,
    (_Wire.INT32, False): Reader.int32_array,
    (_Wire.INT32, True): Reader.nullable_int32_array,
}


def _codec(kind: object, version: int, *, tagged: bool = False) -> tuple[Read, Callable[[object, int], object]]:
    """How a kind of field is read in a version, and how it is shown."""
    if kind in _NUMBERS:
        return _NUMBERS[kind], _as_it_is
    some, nullable = _without_none(kind)
    if (some, nullable) in _TEXTS:
        return _TEXTS[some, nullable], _show_bytes if some is bytes else _as_it_is
    if get_origin(some) is tuple:
        return _array_codec(get_args(some)[0], nullable=nullable, version=version)
    if isinstance(some, type) and issubclass(some, Message):
        is_null = (_is_null_by_varint if tagged else _is_null_by_byte) if nullable else _never
        return (lambda reader: None if is_null(reader) else _read(some, version, reader)), _show_struct
    raise TypeError(f"no rule reads a field of the kind {kind}")


def _is_null_by_byte(reader: Reader) -> bool:
    """A byte precedes a struct that may be null (KIP-893): -1 for null."""
    return reader.int8() < 0


def _is_null_by_varint(reader: Reader) -> bool:
    """Inside a tagged field it is a varint: 0 for null (Kafka's generator, MessageDataGenerator)."""
    return reader.uvarint() == 0


def _never(_reader: Reader) -> bool:
    return False


def _array_codec(element: object, *, nullable: bool, version: int) -> tuple[Read, Callable[[object, int], object]]:
    kind, _ = _split_annotation(element)
    if (kind, nullable) in _NUMBER_ARRAYS:
        return _NUMBER_ARRAYS[kind, nullable], _show_numbers
    item, show = _codec(kind, version)
    if nullable:
        return (lambda reader: reader.nullable_array(lambda: item(reader))), _shows_array(show)
    return (lambda reader: reader.array(lambda: item(reader))), _shows_array(show)


def _without_none(kind: object) -> tuple[object, bool]:
    if get_origin(kind) in (Union, UnionType):
        (some,) = [part for part in get_args(kind) if part is not NoneType]
        return some, True
    return kind, False


def _as_it_is(value: object, _version: int) -> object:
    return value


def _show_bytes(value: object, _version: int) -> object:
    return b64encode(value).decode() if isinstance(value, bytes) else value


def _show_numbers(value: object, _version: int) -> object:
    return list(value) if isinstance(value, tuple) else value


def _show_struct(value: object, version: int) -> object:
    return json_fields(value, version) if isinstance(value, Message) else value


def _shows_array(show: Callable[[object, int], object]) -> Callable[[object, int], object]:
    def show_each(value: object, version: int) -> object:
        return [show(item, version) for item in value] if isinstance(value, tuple) else value

    return show_each

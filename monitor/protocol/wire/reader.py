"""Kafka's primitive types, read from bytes that may be broken.

The encodings are those of Kafka's protocol guide ("Protocol Primitive Types") and of KIP-482 (flexible versions).
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from struct import Struct
from struct import unpack_from as _unpack_from
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from monitor.protocol.wire.errors import DecodeError, Shortfall

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitor.protocol.wire.errors import Reason

Item = TypeVar("Item")

_INT8: Final = Struct(">b")
_INT16: Final = Struct(">h")
_UINT16: Final = Struct(">H")
_INT32: Final = Struct(">i")
_INT64: Final = Struct(">q")
_VARINT_LIMIT: Final = 1 << 32


class Reader:
    """Reads big-endian fields one after the other and never beyond the end.

    ``flexible`` chooses how strings, byte strings and arrays are written: with fixed lengths (False) or compact, with
    tagged fields after each struct (True). Every method raises DecodeError with the position of the field it could
    not read.

    >>> reader = Reader(bytes.fromhex("0002 6731 00000007"))
    >>> reader.string(), reader.int32(), reader.remaining
    ('g1', 7, 0)
    """

    __slots__ = ("_data", "_where", "flexible", "position")

    def __init__(self, data: bytes, where: str = "value") -> None:
        self._data = data
        self._where = where
        self.flexible = False
        self.position = 0

    @property
    def remaining(self) -> int:
        """How many bytes have not been read."""
        return len(self._data) - self.position

    def int8(self) -> int:
        """A signed 8-bit integer."""
        return self._number(_INT8)

    def int16(self) -> int:
        """A signed 16-bit integer."""
        return self._number(_INT16)

    def uint16(self) -> int:
        """An unsigned 16-bit integer."""
        return self._number(_UINT16)

    def int32(self) -> int:
        """A signed 32-bit integer."""
        return self._number(_INT32)

    def int64(self) -> int:
        """A signed 64-bit integer."""
        return self._number(_INT64)

    def uvarint(self) -> int:
        """An unsigned varint (LEB128) of at most 32 bits.

        >>> Reader(bytes.fromhex("ac02")).uvarint()
        300
        """
        start, result = self.position, 0
        for index, byte in enumerate(self._data[start : start + 5]):
            result |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                if result >= _VARINT_LIMIT:
                    raise self._error("bad_varint", start)
                self.position = start + index + 1
                return result
        raise self._too_short(start, "number", 1) if self.remaining < 5 else self._error("bad_varint", start)

    def uuid(self) -> str:
        r"""A Uuid in the text form that Kafka shows: 22 characters of URL-safe base64.

        >>> Reader(bytes(15) + b"\x01").uuid()
        'AAAAAAAAAAAAAAAAAAAAAQ'
        """
        return str(urlsafe_b64encode(self._take(16, self.position)), "ascii")[:22]

    def string(self) -> str:
        """A string that cannot be null."""
        start = self.position
        return self._required(self.nullable_string(), start)

    def nullable_string(self) -> str | None:
        """A string or null."""
        start = self.position
        length = self._length(_INT16)
        if length is None:
            return None
        try:
            return str(self._take(length, start), "utf-8")
        except UnicodeDecodeError as broken:
            raise self._error("bad_utf8", self.position - length + broken.start) from broken

    def lossy_string(self) -> str:
        """A string that cannot be null; whatever in it is no UTF-8 is replaced by U+FFFD."""
        start = self.position
        length = self._required(self._length(_INT16), start)
        return str(self._take(length, start), "utf-8", "replace")

    def utf16_string(self) -> str | None:
        r"""A string or null, written as so many UTF-16 characters; half of a pair is replaced by U+FFFD.

        >>> Reader(bytes.fromhex("00000002 0067 0031")).utf16_string()
        'g1'
        """
        start = self.position
        length = self._length(_INT32)
        return None if length is None else str(self._take(_UINT16.size * length, start), "utf-16-be", "replace")

    def byte_string(self) -> bytes:
        """Bytes that cannot be null."""
        start = self.position
        return self._required(self.nullable_bytes(), start)

    def nullable_bytes(self) -> bytes | None:
        """Bytes or null."""
        start = self.position
        length = self._length(_INT32)
        return None if length is None else self._take(length, start)

    def array(self, item: Callable[[], Item]) -> tuple[Item, ...]:
        """An array that cannot be null; ``item`` reads one element, which takes at least one byte."""
        start = self.position
        return self._required(self.nullable_array(item), start)

    def nullable_array(self, item: Callable[[], Item]) -> tuple[Item, ...] | None:
        """An array or null."""
        start = self.position
        count = self._length(_INT32)
        if count is None:
            return None
        if count > self.remaining:
            raise self._too_short(start, "elements", count)
        return tuple([item() for _ in range(count)])

    def int16_array(self) -> tuple[int, ...]:
        """An array of signed 16-bit integers that cannot be null."""
        start = self.position
        return self._required(self._numbers("h", 2), start)

    def int32_array(self) -> tuple[int, ...]:
        """An array of signed 32-bit integers that cannot be null, read in one go."""
        start = self.position
        return self._required(self._numbers("i", 4), start)

    def nullable_int32_array(self) -> tuple[int, ...] | None:
        """An array of signed 32-bit integers, or null."""
        return self._numbers("i", 4)

    def skip_array(self, size: int) -> None:
        """Pass over an array that cannot be null, of elements that have so many bytes each."""
        start = self.position
        self._take(size * self._required(self._length(_INT32), start), start)

    def tagged(self) -> tuple[int, int]:
        """The number and the size of a tagged field, whose bytes follow; the size is within the bytes left."""
        tag = self.uvarint()
        start = self.position
        size = self.uvarint()
        if size > self.remaining:
            raise self._too_short(start, "bytes", size)
        return tag, size

    def skip(self, size: int) -> None:
        """Pass over bytes."""
        self._take(size, self.position)

    def end_tagged(self, end: int, start: int) -> None:
        """Promise that a tagged field, begun at ``start``, has been read to its ``end`` and not beyond."""
        if self.position != end:
            raise self._error("bad_length", start)

    def finish(self) -> None:
        """Promise that everything has been read."""
        if self.remaining:
            raise self._error("trailing_bytes", self.position)

    def unknown_version(self) -> DecodeError:
        """The error for the version number that was just read."""
        return DecodeError("unknown_value_version", self.position - 2, self._where)

    def _number(self, struct: Struct) -> int:
        start = self.position
        end = start + struct.size
        if end > len(self._data):
            raise self._too_short(start, "number", 1)
        self.position = end
        number: int = struct.unpack_from(self._data, start)[0]
        return number

    def _length(self, fixed: Struct) -> int | None:
        """A length (None: null), compact or of the given fixed size."""
        start = self.position
        length = self.uvarint() - 1 if self.flexible else self._number(fixed)
        if length < -1:
            raise self._error("bad_length", start)
        return None if length == -1 else length

    def _numbers(self, code: str, size: int) -> tuple[int, ...] | None:
        start = self.position
        count = self._length(_INT32)
        if count is None:
            return None
        if count * size > self.remaining:
            raise self._too_short(start, "elements" if count > self.remaining else "number", count)
        begin = self.position
        self.position = begin + count * size
        return _unpack_from(f">{count}{code}", self._data, begin)

    def _take(self, length: int, start: int) -> bytes:
        end = self.position + length
        if end > len(self._data):
            raise self._too_short(start, "bytes", length)
        taken = self._data[self.position : end]
        self.position = end
        return taken

    def _required(self, value: Item | None, start: int) -> Item:
        if value is None:
            raise self._error("bad_length", start)
        return value

    def _too_short(self, position: int, unit: Literal["elements", "bytes", "number"], wanted: int) -> DecodeError:
        return DecodeError("underflow", position, self._where, Shortfall(unit=unit, wanted=wanted, left=self.remaining))

    def _error(self, reason: Reason, position: int) -> DecodeError:
        return DecodeError(reason, position, self._where)

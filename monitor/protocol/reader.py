"""Kafka's primitive types, read from bytes that may be broken.

The encodings are those of Kafka's protocol guide ("Protocol Primitive Types") and of KIP-482 (flexible versions).
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final, TypeVar

from monitor.protocol.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitor.protocol.errors import Reason

Item = TypeVar("Item")

_INT16: Final = Struct(">h")
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

    def __init__(self, data: bytes, where: str = "value", *, flexible: bool = False) -> None:
        self._data = data
        self._where = where
        self.flexible = flexible
        self.position = 0

    @property
    def remaining(self) -> int:
        """How many bytes have not been read."""
        return len(self._data) - self.position

    def int16(self) -> int:
        """A signed 16-bit integer."""
        return self._number(_INT16)

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
        raise self._error("underflow" if self.remaining < 5 else "bad_varint", start)

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

    def skip_string(self) -> None:
        """Pass over a string that cannot be null, without a look at its text."""
        start = self.position
        self._take(self._required(self._length(_INT16), start), start)

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
        count = self._required(self._length(_INT32), start)
        if count > self.remaining:
            raise self._error("underflow", start)
        return tuple([item() for _ in range(count)])

    def end_of_struct(self) -> None:
        """Pass over the tagged fields that follow every struct of a flexible version; nothing in a fixed one."""
        if not self.flexible:
            return
        for _ in range(self.uvarint()):
            self.uvarint()
            start = self.position
            self._take(self.uvarint(), start)

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
            raise self._error("underflow", start)
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

    def _take(self, length: int, start: int) -> bytes:
        end = self.position + length
        if end > len(self._data):
            raise self._error("underflow", start)
        taken = self._data[self.position : end]
        self.position = end
        return taken

    def _required(self, value: Item | None, start: int) -> Item:
        if value is None:
            raise self._error("bad_length", start)
        return value

    def _error(self, reason: Reason, position: int) -> DecodeError:
        return DecodeError(reason, position, self._where)

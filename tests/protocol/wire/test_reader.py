"""The primitive types that records show only in part."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.wire.reader import Reader


def reader_of(data: bytes, *, flexible: bool) -> Reader:
    reader = Reader(data)
    reader.flexible = flexible
    return reader


@pytest.mark.parametrize(
    ("data", "expected"),
    [("00", 0), ("7f", 127), ("8001", 128), ("ac02", 300), ("ffffffff0f", 2**32 - 1), ("8000", 0)],
)
def test_unsigned_varint(data, expected):
    """300 is the example of the Protocol Buffers encoding guide; a longer form than needed is allowed there too."""
    reader = Reader(bytes.fromhex(data))
    assert (reader.uvarint(), reader.remaining) == (expected, 0)


@pytest.mark.parametrize(
    ("data", "reason"),
    [("", "underflow"), ("80", "underflow"), ("80808080", "underflow"), ("8080808080", "bad_varint")],
)
def test_a_varint_that_does_not_end(data, reason):
    with pytest.raises(DecodeError) as caught:
        Reader(bytes.fromhex(data)).uvarint()
    assert (caught.value.reason, caught.value.position) == (reason, 0)


@given(st.text(max_size=200))
def test_strings_of_both_encodings(text):
    data = text.encode()
    fixed = Reader(len(data).to_bytes(2) + data)
    size = len(data) + 1
    varint = bytes([size]) if size < 128 else bytes([size & 0x7F | 0x80, size >> 7])
    compact = reader_of(varint + data, flexible=True)
    assert (fixed.string(), compact.string()) == (text, text)
    fixed.finish()
    compact.finish()


@pytest.mark.parametrize(("data", "flexible"), [("ffff", False), ("00", True)])
def test_null_is_a_value_only_where_it_is_allowed(data, flexible):
    assert reader_of(bytes.fromhex(data), flexible=flexible).nullable_string() is None
    with pytest.raises(DecodeError, match="bad_length at byte 0 of the value"):
        reader_of(bytes.fromhex(data), flexible=flexible).string()


def test_the_size_of_a_tagged_field_is_within_the_bytes():
    reader = reader_of(bytes.fromhex("8001 02 abcd"), flexible=True)
    assert reader.tagged() == (128, 2)
    with pytest.raises(DecodeError, match="underflow at byte 1 of the value"):
        reader_of(bytes.fromhex("00 02 ab"), flexible=True).tagged()


@given(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=300), st.booleans())
def test_arrays_of_numbers(numbers, flexible):
    size = len(numbers) + 1
    varint = bytes([size]) if size < 128 else bytes([size & 0x7F | 0x80, size >> 7])
    data = (varint if flexible else len(numbers).to_bytes(4)) + b"".join(n.to_bytes(4, signed=True) for n in numbers)
    reader = reader_of(data, flexible=flexible)
    assert reader.int32_array() == tuple(numbers)
    reader.finish()


@pytest.mark.parametrize("count", ["00000003", "7fffffff"])
def test_an_array_of_numbers_is_within_the_bytes(count):
    with pytest.raises(DecodeError, match="underflow at byte 0 of the value"):
        Reader(bytes.fromhex(f"{count} 00000001 00000002 0000")).int32_array()

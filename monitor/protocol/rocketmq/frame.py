"""Frames of RocketMQ's remoting protocol: requests as bytes, answers as values.

A frame is an int32 length of what follows; an int32 whose high byte says how the header is written and whose low three
say how long it is; the header; the body. Requests are written with JSON headers, and brokers answer in kind; binary
headers (RocketMQSerializable) are read too. Source: RemotingCommand and NettyDecoder of RocketMQ 4.9 and 5.5.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import msgspec

from monitor.model import Value
from monitor.protocol.wire.errors import DecodeError, Shortfall
from monitor.protocol.wire.json_value import decode_json_struct
from monitor.protocol.wire.reader import Reader

MAX_FRAME: Final = 16 * 1024 * 1024
"""The largest frame in bytes that RocketMQ's own clients take (``com.rocketmq.remoting.frameMaxLength``)."""

LENGTH_SIZE: Final = 4
"""The bytes at the start of a frame that say how long the rest is."""

_RESPONSE_FLAG: Final = 1


class HeaderForm(IntEnum):
    """How a header is written (SerializeType)."""

    JSON = 0
    BINARY = 1


class Frame(Value):
    """What the other side sent: an answer to our request ``opaque``, or a request of its own.

    ``code`` 0 is success; of others ``remark`` says more, in words of a server that need not be harmless.
    """

    code: int
    opaque: int
    is_answer: bool
    remark: str | None = None
    body: bytes = b""


class _Header(msgspec.Struct):
    """A header in JSON. What we do not need is passed over."""

    code: int
    opaque: int = 0
    flag: int = 0
    remark: str | None = None


_HEADERS: Final = msgspec.json.Decoder(_Header)
_ENCODER: Final = msgspec.json.Encoder()


def encode_request(code: int, opaque: int, fields: dict[str, str]) -> bytes:
    """A request frame, without a body. Its answer bears ``opaque``; values of ``fields`` are texts, also of numbers."""
    header: dict[str, object] = {"code": code, "language": "OTHER", "version": 0, "opaque": opaque, "flag": 0}
    header["serializeTypeCurrentRPC"] = "JSON"
    if fields:
        header["extFields"] = fields
    encoded = _ENCODER.encode(header)
    lengths = (LENGTH_SIZE + len(encoded)).to_bytes(4, "big") + len(encoded).to_bytes(4, "big")
    return lengths + encoded


def frame_length(start: bytes | bytearray) -> int:
    """How many bytes the frame has that begins with these, its first four included.

    Raises:
        DecodeError: no frame is that long (``bad_length``), or there are fewer than four bytes.
    """
    length = Reader(bytes(start[:LENGTH_SIZE]), "frame").int32()
    if not LENGTH_SIZE <= length <= MAX_FRAME:
        raise DecodeError("bad_length", 0, "frame")
    return LENGTH_SIZE + length


def decode_frame(data: bytes) -> Frame:
    """One whole frame, its length included.

    Raises:
        DecodeError: it is cut short or too long, its header is longer than itself, or is not a header.
    """
    size = frame_length(data)
    if len(data) < size:
        raise DecodeError("underflow", 0, "frame", Shortfall(unit="bytes", wanted=size, left=len(data)))
    if len(data) > size:
        raise DecodeError("trailing_bytes", size, "frame")
    form, header_end = data[4], 8 + int.from_bytes(data[5:8], "big")
    if header_end > size:
        raise DecodeError("bad_length", 5, "frame")
    header = data[8:header_end]
    if form == HeaderForm.JSON:
        return _frame(decode_json_struct(_HEADERS, header), data[header_end:])
    if form == HeaderForm.BINARY:
        return _frame(_binary_header(header), data[header_end:])
    raise DecodeError("unknown_value_version", 4, "frame")


def _frame(header: _Header, body: bytes) -> Frame:
    is_answer = bool(header.flag & _RESPONSE_FLAG)
    return Frame(code=header.code, opaque=header.opaque, is_answer=is_answer, remark=header.remark, body=body)


def _binary_header(data: bytes) -> _Header:
    """Code, language, version, opaque, flag, remark and the fields, which must be what is left."""
    reader = Reader(data, "header")
    code, _language, _version = reader.int16(), reader.int8(), reader.int16()
    header = _Header(code=code, opaque=reader.int32(), flag=reader.int32(), remark=_text(reader))
    reader.byte_string()
    reader.finish()
    return header


def _text(reader: Reader) -> str | None:
    """A text behind its length of four bytes; an empty one stands for none."""
    start = reader.position
    try:
        return str(reader.byte_string(), "utf-8") or None
    except UnicodeDecodeError as broken:
        raise DecodeError("bad_utf8", start + 4 + broken.start, "header") from broken

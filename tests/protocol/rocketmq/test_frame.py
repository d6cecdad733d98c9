import json
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.protocol.rocketmq.frame import MAX_FRAME, Frame, decode_frame, encode_request, frame_length
from monitor.protocol.wire.errors import REASONS, DecodeError
from tests.support.examples import example_count
from tests.support.rocketmq_captures import Exchange, exchanges, refusal

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20)


def framed(header: bytes, body: bytes = b"", form: int = 0) -> bytes:
    return struct.pack(">iI", 4 + len(header) + len(body), form << 24 | len(header)) + header + body


def binary_header(code: int, opaque: int, flag: int, remark: bytes, fields: bytes) -> bytes:
    """As RocketMQSerializable.rocketMQProtocolEncode writes it: Java (0), version 513."""
    start = struct.pack(">hbhii", code, 0, 513, opaque, flag)
    return start + struct.pack(">i", len(remark)) + remark + struct.pack(">i", len(fields)) + fields


@pytest.mark.parametrize("captured", exchanges(), ids=lambda each: each.name)
def test_every_captured_answer_is_taken_apart(captured: Exchange):
    header = captured.response_header
    frame = decode_frame(captured.response)
    assert (frame.code, frame.opaque, frame.remark) == (header["code"], header["opaque"], header.get("remark"))
    assert frame.is_answer
    assert frame.body == captured.response_body
    assert frame_length(captured.response[:4]) == len(captured.response)
    if "__error__" in captured.decoded:
        assert {"__error__": frame.code, "remark": frame.remark} == captured.decoded


@pytest.mark.parametrize(
    "captured", [each for each in exchanges() if not each.request_body], ids=lambda each: each.name
)
def test_our_requests_mean_what_the_captured_ones_meant(captured: Exchange):
    header = captured.request_header
    ours = encode_request(captured.code, header["opaque"], captured.fields)
    length, size = struct.unpack(">iI", ours[:8])
    assert (length, size >> 24) == (len(ours) - 4, 0)
    assert json.loads(ours[8 : 8 + size]) == header
    assert len(ours) == 8 + size


def test_a_frame_of_a_server_that_asks_is_no_answer():
    assert not decode_frame(framed(b'{"code":40,"opaque":7,"flag":0}')).is_answer


def test_a_binary_header_is_read_too():
    fields = struct.pack(">h5si3s", 5, b"topic", 3, b"T-1")
    header = binary_header(17, 42, 1, "no topic é".encode(), fields)
    expected = Frame(code=17, opaque=42, is_answer=True, remark="no topic é", body=b"{}")
    assert decode_frame(framed(header, b"{}", form=1)) == expected


def test_a_binary_header_without_remark_has_none():
    assert decode_frame(framed(binary_header(0, 1, 1, b"", b""), form=1)).remark is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"", "underflow", id="nothing"),
        pytest.param(b"\0\0\0", "underflow", id="half a length"),
        pytest.param(struct.pack(">i", -1) + bytes(4), "bad_length", id="a negative length"),
        pytest.param(struct.pack(">i", 0), "bad_length", id="no room for a header's length"),
        pytest.param(struct.pack(">i", MAX_FRAME + 1), "bad_length", id="too long a frame"),
        pytest.param(struct.pack(">i", MAX_FRAME), "underflow", id="a long frame of which nothing came"),
        pytest.param(framed(b"{}")[:-1], "underflow", id="a byte is missing"),
        pytest.param(framed(b'{"code":0}') + b"x", "trailing_bytes", id="a byte too much"),
        pytest.param(struct.pack(">iI", 6, 3) + b"{}", "bad_length", id="a header longer than its frame"),
        pytest.param(struct.pack(">iI", 4, 0xFFFFFF), "bad_length", id="a header of 16 MB in a frame of 4 bytes"),
        pytest.param(framed(b'{"code":0}', form=2), "unknown_value_version", id="an unknown form"),
        pytest.param(framed(b"[]"), "bad_event", id="a header that is an array"),
        pytest.param(framed(b'{"code":"0"}'), "bad_event", id="a code that is a text"),
        pytest.param(framed(b'{"opaque":1}'), "bad_event", id="no code"),
        pytest.param(framed(b"{"), "bad_json", id="half a header"),
        pytest.param(framed(b'{"code":0,"x":' + b"[" * 99_999), "bad_json", id="a header nested deeply"),
        pytest.param(framed(b'{"code":0,"remark":"\xff"}'), "bad_utf8", id="a remark that is no UTF-8"),
        pytest.param(framed(b'{"code":' + b"9" * 9999 + b"}"), "bad_event", id="a huge number"),
        pytest.param(framed(bytes(8), form=1), "underflow", id="half a binary header"),
        pytest.param(framed(binary_header(0, 1, 1, b"", b"") + b"x", form=1), "trailing_bytes", id="binary, too long"),
        pytest.param(framed(bytes(13) + b"\xff\xff\xff\xfe", form=1), "bad_length", id="binary, negative length"),
        pytest.param(framed(bytes(13) + b"\x7f\xff\xff\xff", form=1), "underflow", id="binary, 2 GB of remark"),
        pytest.param(framed(binary_header(0, 1, 1, b"\xff", b""), form=1), "bad_utf8", id="binary, no UTF-8"),
    ],
)
def test_what_is_no_frame_is_refused_with_a_reason(data: bytes, reason: str):
    with pytest.raises(DecodeError) as refused:
        decode_frame(data)
    assert refused.value.reason == reason
    assert 0 <= refused.value.position <= len(data)


@given(st.integers(0, 1000), st.integers(0, 2**31 - 1), st.dictionaries(TEXT, TEXT))
def test_any_request_says_what_it_was_given(code: int, opaque: int, fields: dict[str, str]):
    encoded = encode_request(code, opaque, fields)
    size = int.from_bytes(encoded[5:8], "big")
    header = json.loads(encoded[8 : 8 + size])
    assert (header["code"], header["opaque"], header.get("extFields", {})) == (code, opaque, fields)
    assert decode_frame(encoded) == Frame(code=code, opaque=opaque, is_answer=False)


@settings(max_examples=example_count(3))
@given(st.sampled_from(exchanges()), st.data())
def test_a_damaged_frame_gives_a_value_or_a_reason(captured: Exchange, data: st.DataObject):
    frame = bytearray(captured.response)
    frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    for damaged in (bytes(frame), bytes(frame[: data.draw(st.integers(0, len(frame)))])):
        refused = refusal(decode_frame, damaged)
        assert refused is None or (refused.reason in REASONS and 0 <= refused.position <= len(damaged))


@given(st.binary(max_size=64))
def test_any_bytes_behind_a_true_length_give_a_value_or_a_reason(data: bytes):
    refused = refusal(decode_frame, struct.pack(">i", len(data)) + data)
    assert refused is None or refused.reason in REASONS

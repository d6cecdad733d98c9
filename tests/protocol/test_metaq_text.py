"""The text protocol of MetaQ's brokers: captured exchanges, and answers that are none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.protocol.metaq_text import (
    LONGEST_BODY,
    LONGEST_HEAD,
    Head,
    PartitionOffsets,
    decode_head,
    decode_offsets,
    stats_offsets_request,
)
from monitor.protocol.wire.errors import DecodeError
from tests.support.zookeeper_captures import FIXTURES

EXCHANGES = json.loads((FIXTURES / "metaq-broker-stats.json").read_text())["exchanges"]


def captured(broker: str, request: str) -> bytes:
    answers = [each["response"] for each in EXCHANGES if (each["broker"], each["request"]) == (broker, request)]
    return answers[0].encode()


def test_the_question_is_the_captured_one():
    assert stats_offsets_request(16).decode() in {each["request"] for each in EXCHANGES}


def test_the_captured_offsets_of_the_first_broker():
    data = captured("127.0.0.1:8123", "stats offsets 16\r\n")
    head = decode_head(data)
    assert head == Head(status=200, length=104, opaque=16, size=19)
    assert decode_offsets(data[head.size :]) == (
        PartitionOffsets(topic="meta-two", partition=0, earliest=0, end=1173),
        PartitionOffsets(topic="meta-test", partition=1, earliest=0, end=797),
    )


def test_the_captured_offsets_of_the_second_broker():
    data = captured("127.0.0.1:8124", "stats offsets 16\r\n")
    assert [(each.topic, each.partition, each.end) for each in decode_offsets(data[19:])] == [
        ("meta-two", 0, 1172),
        ("meta-test", 0, 773),
        ("meta-test", 2, 775),
    ]


@pytest.mark.parametrize("exchange", EXCHANGES, ids=lambda exchange: exchange["request"].strip())
def test_every_captured_answer_has_a_head_and_as_much_body_as_it_says(exchange):
    data = exchange["response"].encode()
    head = decode_head(data)
    assert len(data) == head.size + head.length
    assert f" {head.opaque}\r\n" in exchange["request"]


def test_an_unknown_topic_is_refused_in_the_head():
    head = decode_head(captured("127.0.0.1:8123", "offset meta-test meta-grp 0 999999999 14\r\n"))
    assert head == Head(status=404, length=52, opaque=14, size=18)


@given(st.integers(0, 18))
def test_a_head_that_has_not_come_whole_is_waited_for(length):
    assert decode_head(b"result 200 104 16\r\n"[:length]) is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"\r\n", "bad_text", id="an empty line"),
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n", "bad_text", id="another server"),
        pytest.param(b"result 200 -1 16\r\n", "bad_text", id="a negative length"),
        pytest.param(b"result 200 104 16 \r\n", "bad_text", id="a word too many"),
        pytest.param(b"x" * (LONGEST_HEAD + 1), "bad_text", id="no end of line"),
        pytest.param(b"result 200 %d 16\r\n" % (LONGEST_BODY + 1), "bad_length", id="a body that is too long"),
    ],
)
def test_a_head_that_is_none(data, reason):
    with pytest.raises(DecodeError) as caught:
        decode_head(data)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("body", "reason", "position"),
    [
        pytest.param(b"", "underflow", 0, id="nothing"),
        pytest.param(b"END\r\n", "bad_text", 0, id="no beginning"),
        pytest.param(b"STATS\r\nt part 0 min_offset 0 max_offset 9\r\n", "underflow", 43, id="no end"),
        pytest.param(b"STATS\r\nt part 0 min_offset 0\r\nEND\r\n", "bad_text", 7, id="a line that was cut"),
        pytest.param(b"STATS\r\nt part 0 min_offset 9 max_offset 8\r\nEND\r\n", "bad_text", 7, id="it ends too early"),
        pytest.param(b"STATS\r\nt part 2147483648 min_offset 0 max_offset 0\r\nEND\r\n", "bad_text", 7, id="partition"),
        pytest.param(
            b"STATS\r\nt part 0 min_offset 0 max_offset 9223372036854775808\r\nEND\r\n", "bad_text", 7, id="offset"
        ),
        pytest.param(b"STATS\r\n\xff part 0\r\nEND\r\n", "bad_utf8", 7, id="no UTF-8"),
    ],
)
def test_a_body_that_is_none(body, reason, position):
    with pytest.raises(DecodeError) as caught:
        decode_offsets(body)
    assert (caught.value.reason, caught.value.position) == (reason, position)


def test_a_broker_without_any_message_has_an_empty_body():
    assert decode_offsets(b"STATS\r\nEND\r\n") == ()


OFFSETS = st.builds(
    lambda topic, partition, earliest, length: PartitionOffsets(
        topic=topic, partition=partition, earliest=earliest, end=earliest + length
    ),
    st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1),
    st.integers(0, 2**31 - 1),
    st.integers(0, 2**62),
    st.integers(0, 2**62 - 1),  # both together are an offset
)


@given(st.lists(OFFSETS))
def test_what_a_broker_writes_is_read_back(offsets):
    lines = [f"{o.topic} part {o.partition} min_offset {o.earliest} max_offset {o.end}\r\n" for o in offsets]
    assert decode_offsets(f"STATS\r\n{''.join(lines)}END\r\n".encode()) == tuple(offsets)


@given(st.binary(max_size=200), st.binary(max_size=60), st.integers(0, 150))
def test_no_bytes_give_anything_but_a_value_or_a_decode_error(noise, patch, at):
    data = captured("127.0.0.1:8124", "stats offsets 16\r\n")
    for tried in (noise, data[:at] + patch + data[at + len(patch) :], data[:at]):
        for decode in (decode_head, decode_offsets):
            assert 0 <= _position_of_error(decode, tried) <= len(tried)


def _position_of_error(decode, data):
    """Where the error is; 0 if there is none."""
    try:
        decode(data)
    except DecodeError as error:
        return error.position
    return 0

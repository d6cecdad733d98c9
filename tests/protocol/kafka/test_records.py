"""Every type of record and every version: as Kafka reads the captured ones, and as written by our own hand."""

import json
import struct
import subprocess
import sys
from functools import cache, partial
from types import NoneType
from typing import get_args, get_origin, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.protocol.kafka.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from monitor.protocol.kafka.records import RECORD_TYPES
from monitor.protocol.offsets_topic import read_record
from monitor.protocol.offsets_topic.decoded_line import decode_line
from monitor.protocol.wire.reader import Reader
from monitor.protocol.wire.schema import Message, _Wire, json_fields, read_message, read_versioned
from tests.support.captures import BROKERS, lines, records
from tests.support.encoding import encoded, encoded_key, taken_apart, written

# --- captured records -------------------------------------------------------------------------------------------------


def as_captured(line):
    """What we say of a line, in the form that the captures have (they tell how many bytes were left unread: none)."""
    ours = json.loads(decode_line(json.dumps(line).encode()))
    for part in ("key", "value"):
        if ours.get(part):
            ours[part]["unread"] = 0
    return ours


@pytest.mark.parametrize("broker", BROKERS)
def test_every_captured_record_reads_as_kafka_reads_it(broker):
    compared = 0
    for line in lines(broker):
        if "control" not in line:
            kafkas = {name: line[name] for name in ("p", "o", "key", "value", "consumer_protocol") if name in line}
            assert as_captured({name: line[name] for name in ("p", "o", "ts", "k", "v")}) == kafkas
            compared += 1
    assert compared > 1400


def test_the_captures_hold_nearly_every_type():
    found = {record.record_type for broker in BROKERS for record in records(broker) if record.value is not None}
    assert set(RECORD_TYPES) - found == {0, 9}


def test_the_command_answers_every_line_in_order():
    asked = [*lines("4.3.1")][:50]
    given_lines = [json.dumps(line) for line in asked]
    given_lines[7] = "no json"
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-m", "monitor.protocol.offsets_topic"],
        input="\n".join(given_lines).encode(),
        capture_output=True,
        check=True,
    )
    answered = [json.loads(line) for line in answer.stdout.splitlines()]
    assert answer.stderr == b""
    assert [(line["p"], line["o"]) for line in answered[:7]] == [(line["p"], line["o"]) for line in asked[:7]]
    assert answered[7] == {"p": None, "o": None, "error": "bad_line", "at": 0}
    assert [line["key"]["data"] for line in answered[8:]] == [line["key"]["data"] for line in asked[8:]]


KEY = "AAMAAmcx"  # ConsumerGroupMetadata of g1


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        pytest.param({"p": 1, "o": 2, "ts": 3, "k": None, "v": None}, ("null_key", 0), id="no key"),
        pytest.param({"p": 1, "o": 2, "ts": 3, "k": "AAMAAmc=", "v": None}, ("underflow", 2), id="a key that is cut"),
        pytest.param({"p": 1, "o": 2, "ts": 3, "k": KEY, "v": "AAAA"}, ("underflow", 2), id="a value that is cut"),
        pytest.param({"p": 1, "o": 2, "ts": 3, "k": "AB8=", "v": ""}, ("unknown_key_version", 0), id="type 31"),
        pytest.param({"p": 1, "o": 2, "ts": 3, "k": KEY, "v": "AAk="}, ("unknown_value_version", 0), id="version 9"),
        pytest.param({"p": 1, "o": 2, "ts": 3, "k": KEY, "v": "%"}, ("bad_base64", 0), id="no base64"),
    ],
)
def test_a_record_that_cannot_be_read_is_answered_with_reason_and_position(line, answer):
    reason, at = answer
    assert json.loads(decode_line(json.dumps(line).encode())) == {"p": 1, "o": 2, "error": reason, "at": at}


def test_a_control_record_is_repeated_as_such():
    line = {"p": 3, "o": 755, "ts": 1, "txn": True, "k": "AAAAAQ==", "v": "AAAAAAAA", "control": "COMMIT"}
    assert json.loads(decode_line(json.dumps(line).encode())) == {"p": 3, "o": 755, "control": "COMMIT"}


@given(st.binary())
def test_any_line_has_an_answer_of_one_line(line):
    answer = decode_line(line)
    assert answer.endswith(b"\n")
    assert answer.count(b"\n") == 1
    json.loads(answer)


# --- what is written is read ------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
PLAIN = {
    _Wire.INT8: st.integers(-(2**7), 2**7 - 1),
    _Wire.INT16: st.integers(-(2**15), 2**15 - 1),
    _Wire.UINT16: st.integers(0, 2**16 - 1),
    _Wire.INT32: st.integers(-(2**31), 2**31 - 1),
    _Wire.INT64: st.integers(-(2**63), 2**63 - 1),
    _Wire.UUID: st.binary(min_size=16, max_size=16).map(lambda data: Reader(data).uuid()),
    _Wire.LOSSY_TEXT: TEXT,
    str: TEXT,
    bytes: st.binary(max_size=200),
}


def values(kind, version):
    if kind in PLAIN:
        return PLAIN[kind]
    if NoneType in get_args(kind):
        (some,) = [part for part in get_args(kind) if part is not NoneType]
        return st.none() | values(some, version)
    if get_origin(kind) is tuple:
        item, _ = taken_apart(get_args(kind)[0])
        return st.lists(values(item, version), max_size=3).map(tuple)
    return messages(kind, version)


@cache
def messages(message, version):
    """Messages that can be written in this version: fields that it lacks have their defaults.

    Each is made once: to make it anew takes longer than to draw an example.
    """
    hints = get_type_hints(message, include_extras=True)
    fields = {}
    for info in msgspec.structs.fields(message):
        kind, limits = taken_apart(hints[info.name])
        if limits.include(version):
            fields[info.name] = values(kind, version)
    return st.builds(partial(message), **fields)


VERSIONED = [
    pytest.param(message, version, id=f"{message.__name__} v{version}")
    for message in dict.fromkeys(record_type.value for record_type in RECORD_TYPES.values())
    for version in range(message.newest + 1)
]
EMBEDDED = [
    pytest.param(message, version, id=f"{message.__name__} v{version}")
    for message, newest in ((ConsumerProtocolSubscription, 3), (ConsumerProtocolAssignment, 3))
    for version in range(newest + 1)
]


@pytest.mark.parametrize(("message", "version"), VERSIONED)
@given(data=st.data())
def test_a_value_is_read_as_it_was_written(message, version, data):
    value = data.draw(messages(message, version))
    assert read_versioned(message, encoded(value, version)) == (version, value)
    json.dumps(json_fields(value, version))  # and it can be shown


@pytest.mark.parametrize(("message", "version"), EMBEDDED)
@given(data=st.data())
def test_members_own_bytes_are_read_as_they_were_written(message, version, data):
    value = data.draw(messages(message, version))
    reader = Reader(written(value, version))
    assert read_message(message, version, reader) == value
    assert reader.remaining == 0


@pytest.mark.parametrize("record_type", RECORD_TYPES.values(), ids=lambda record_type: record_type.name)
@given(data=st.data())
def test_a_key_is_read_as_it_was_written(record_type, data):
    key = data.draw(messages(record_type.key, 0))
    assert read_record(encoded_key(record_type.number, key), None).key == key


# --- what a newer broker may add --------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [3, 5, 6, 8, 17])
@given(data=st.data())
def test_tagged_fields_of_later_versions_are_passed_over(number, data):
    message = RECORD_TYPES[number].value
    plain = {field.name: field.default for field in msgspec.structs.fields(message)}
    hints = get_type_hints(message, include_extras=True)
    tags = {name for name in plain if taken_apart(hints[name])[1].tag is not None}
    value = data.draw(messages(message, 0).map(lambda m: msgspec.structs.replace(m, **{t: plain[t] for t in tags})))
    known = encoded(value, 0)
    assert known.endswith(b"\x00")  # no tagged field
    extended = known[:-1] + bytes.fromhex("02 09 02 abcd 8001 00")
    assert read_versioned(message, extended) == (0, value)


def test_null_inside_a_tagged_field_is_a_varint():
    """Seen in the captures; a struct behind a byte, as elsewhere, would begin with ff."""
    message = RECORD_TYPES[5].value
    data = bytes.fromhex("0000 00 00 01 01 01 00 00000000 00 01 00 01 00")
    assert read_versioned(message, data)[1].classic_member_metadata is None


@pytest.mark.parametrize("size", ["02", "00", "7f"])
def test_a_tagged_field_has_exactly_the_size_that_it_names(size):
    message = RECORD_TYPES[5].value
    data = bytes.fromhex(f"0000 00 00 01 01 01 00 00000000 00 01 00 {size} 00 00")
    with pytest.raises(Exception, match=r"^(bad_length at byte 1[67]|underflow at byte 1[56]) of the value$"):
        read_versioned(message, data)


def test_a_length_of_two_billion_costs_nothing():
    """Each array, text and byte string of each message, one after the other, said to be as long as can be."""
    for record_type in RECORD_TYPES.values():
        for length in (b"\x7f\xff\xff\xff", b"\x80\x80\x80\x80\x08", b"\xff\xff\xff\xff\x0f"):
            for start in range(2, 40):
                data = struct.pack(">h", record_type.value.newest) + b"\x01" * (start - 2) + length
                with pytest.raises(Exception, match="at byte"):
                    read_versioned(record_type.value, data)


def test_every_message_is_frozen_and_has_no_field_without_a_rule():
    for record_type in RECORD_TYPES.values():
        for message in (record_type.key, record_type.value):
            assert issubclass(message, Message)
            assert message.__struct_config__.frozen

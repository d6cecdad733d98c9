"""Broken records, read by us and by the broker's own classes (4.3.1): what both can read is the same."""

import base64
from collections import Counter

from monitor.protocol.offsets_topic import read_record
from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.wire.schema import json_fields
from tests.oracle.original import Original
from tests.protocol.fuzz import mutated_records

LENIENT = {"bad_utf8", "underflow", "bad_length", "bad_varint"}
"""Where Kafka's classes read on and we do not: they put U+FFFD for what is no UTF-8, take any negative length for null,
do not look at the size of a tagged field that they know, and cut a varint to 32 bits. No broker writes such bytes."""

OLD = (b"\x00\x00", b"\x00\x09")
"""Types that 4.3.1 knows less of than older brokers wrote: commits before 0.9, and share groups of Kafka 4.0."""


def text(data):
    return None if data is None else base64.b64encode(data).decode()


def ours(key, value):
    record = read_record(key, value)
    read = {"key": json_fields(record.key, 0)}
    return read if record.value is None else {**read, "value": json_fields(record.value, record.version)}


def kafkas(jvm, key, value):
    """None where its classes refuse the bytes, or leave some of them unread."""
    answer = jvm.send({"k": text(key), "v": text(value)})
    whole = "error" not in answer and not answer["key_unread"] and not answer.get("value_unread")
    return {name: answer[name] for name in ("key", "value") if name in answer} if whole else None


def test_what_both_read_is_the_same_and_we_read_nothing_that_kafka_refuses():
    found, too_strict = Counter(), []
    with Original(program="Records") as jvm:
        for key, value in mutated_records(6_000, seed=3):
            expected = kafkas(jvm, key, value)
            try:
                read = ours(key, value)
            except DecodeError as error:
                found["refused"] += 1
                if expected is not None and error.reason not in LENIENT:
                    too_strict.append((key, value))
                continue
            if key[:2] in OLD:
                continue
            assert read == expected, (key, value)
            found["read"] += 1
    assert too_strict == []
    assert found["read"] > 500
    assert found["refused"] > 3_000

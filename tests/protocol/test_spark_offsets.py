"""The offset log of a Structured Streaming query, as Spark 4.0.0 wrote it and as somebody else may have."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from monitor.model import ObservedOffset
from monitor.protocol.spark_offsets import newest_first, read_query_offsets
from monitor.protocol.wire.errors import DecodeError

CAPTURE = Path(__file__).parent.parent / "fixtures" / "spark-checkpoint" / "offsets" / "2"
"""A query of two Kafka sources with a rate source between them."""


def log(*sources: str, metadata: str = '{"batchTimestampMs":1700000000000,"conf":{}}') -> bytes:
    return "\n".join(["v1", metadata, *sources]).encode()


def places(data: bytes) -> dict[tuple[str, object], int]:
    return {(each.topic, each.partition): each.offset for each in read_query_offsets(data).offsets}


def test_a_captured_file():
    told = read_query_offsets(CAPTURE.read_bytes())
    assert told.batch_ms == 1795340552480
    assert told.offsets == (
        ObservedOffset("clicks", 0, 4, 1795340552480),
        ObservedOffset("clicks", 1, 2, 1795340552480),
        ObservedOffset("clicks", 2, 3, 1795340552480),
        ObservedOffset("views", 0, 5, 1795340552480),
    )


@pytest.mark.parametrize(
    ("source", "whose"),
    [
        ("-", "a source without an offset"),
        ("17", "rate, memory and socket sources: a number"),
        ('{"logOffset":3}', "a file source"),
        ('{"offset":12,"timestamp":1700000000000}', "rate per micro-batch"),
        ('{"0":{"value":3,"runTimeMs":3000}}', "the rate source of the second API"),
        ('{"sourceVersion":1,"reservoirId":"x","reservoirVersion":4,"index":-1,"isStartingVersion":true}', "Delta"),
        ('{"events":{"shard-0":12}}', "topics whose partitions are no numbers"),
        ("[1, 2]", "JSON that is no object"),
        ("offset 12", "no JSON at all"),
    ],
)
def test_sources_that_are_not_kafka_are_passed_over(source, whose):
    assert places(log(source)) == {}, whose
    assert places(log(source, '{"t":{"0":7}}')) == {("t", 0): 7}
    assert places(log('{"t":{"0":7}}', source)) == {("t", 0): 7}


def test_a_partition_that_two_sources_read_is_as_far_as_the_slower():
    assert places(log('{"t":{"0":7,"1":3}}', '{"t":{"0":5},"u":{"10":1}}')) == {("t", 0): 5, ("t", 1): 3, ("u", 10): 1}


def test_names_with_odd_characters():
    assert places(log('{"späte.\\"topic\\n":{"0":7}}')) == {('späte."topic\n', 0): 7}


@pytest.mark.parametrize("metadata", ["", "{}", '{"batchTimestampMs":0}', '{"batchTimestampMs":-5}'])
def test_a_batch_without_a_time_has_none(metadata):
    told = read_query_offsets(log('{"t":{"0":7}}', metadata=metadata))
    assert told.batch_ms is None
    assert told.offsets == (ObservedOffset("t", 0, 7, None),)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "underflow"),
        (b"v1", "underflow"),
        (b"v1\n", "underflow"),
        (b'v1\n{"batchTimestampMs":1}', "underflow"),
        (b'v1\n{"batchTimestampMs":1}\n', "underflow"),
        (b'v1\n{"batchTime\n{"t":{"0":1}}', "bad_json"),
        (log('{"t":{"0":1'), "bad_json"),
        (log('{"t":{"0":1}'), "bad_json"),
        (log('{"t":{"0":1}}', '{"u":'), "bad_json"),
        (b'v2\n{"batchTimestampMs":1}\n{"t":{"0":1}}', "unknown_value_version"),
        (b"v1\n{}\n\xff\xfe", "bad_utf8"),
        (log('{"t":{"0":-2}}'), "bad_event"),
        (log('{"t":{"0":9223372036854775808}}'), "bad_event"),
        (log('{"t":{"2147483648":1}}'), "bad_event"),
    ],
)
def test_a_file_that_is_not_whole_or_none_at_all_is_an_error(data, reason):
    with pytest.raises(DecodeError) as error:
        read_query_offsets(data)
    assert (error.value.reason, error.value.where) == (reason, "offset log")


def test_no_beginning_of_a_file_is_taken_for_the_whole_unless_a_line_ends_there():
    """Spark renames a file once it is whole; where that is no single step, a half one can be seen."""
    whole = CAPTURE.read_bytes()
    told = places(whole)
    ends = {index for index, byte in enumerate(whole) if byte == ord("\n")} | {len(whole)}
    for length in range(len(whole)):
        with suppress(DecodeError):
            assert places(whole[:length]).items() <= told.items()
            assert {length, length - 1} & ends or whole[:length].endswith((b"\n2", b"\n5")), length


@given(st.binary(max_size=200))
@example(log("[" * 5000))
@example(log('{"t":' * 5000))
@example(log('{"t":{"0":1e400}}'))
def test_bytes_that_are_no_offset_log_are_an_error_and_nothing_else(data):
    with suppress(DecodeError):
        read_query_offsets(data)
    with suppress(DecodeError):
        read_query_offsets(b"v1\n{}\n" + data)


@given(st.dictionaries(st.integers(0, 2**40), st.sampled_from(["{}", ".{}.crc", ".{}.a1.tmp", "{}.compact"])))
def test_the_newest_batches_are_found_in_any_order(names):
    found = newest_first((form.format(number) for number, form in names.items()), 3)
    assert list(found) == sorted((number for number, form in names.items() if form == "{}"), reverse=True)[:3]

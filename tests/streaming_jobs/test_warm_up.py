"""Nothing is judged before the backlog seen at start has been read."""

import json
from dataclasses import dataclass

import pytest

from streaming_jobs.warm_up import LogPosition, WarmUp, position_of


@dataclass(frozen=True)
class Report:
    """What Spark 4.0.0 reported of a source in a real run, cut down to the fields that are read."""

    description: str
    endOffset: str  # noqa: N815
    latestOffset: str  # noqa: N815
    numInputRows: int  # noqa: N815


OFFSETS = Report(
    "KafkaV2[Assign[__consumer_offsets-0, __consumer_offsets-1]]",
    json.dumps({"__consumer_offsets": {"0": 5, "1": 10}}),
    json.dumps({"__consumer_offsets": {"0": 7, "1": 10}}),
    12,
)
TICKS = Report("RatePerMicroBatchStream[rowsPerBatch=16]", '{"offset":480,"timestamp":30000}', "null", 16)


def test_the_position_is_that_of_the_asked_topic():
    assert position_of("__consumer_offsets", [TICKS, OFFSETS]) == LogPosition(
        read={0: 5, 1: 10}, end={0: 7, 1: 10}, records=12
    )


def test_a_topic_that_spark_has_not_reported_has_no_position():
    assert position_of("groupwatch.events", [TICKS, OFFSETS]) is None


@pytest.mark.parametrize("nothing", ["None", "null", ""])
def test_a_progress_without_offsets_has_nothing_read(nothing):
    """So Spark 4.0.0 reports a topic right after a restart, and an internal topic that it passes over always."""
    reported = Report(OFFSETS.description, nothing, nothing, 0)
    assert position_of("__consumer_offsets", [reported]) == LogPosition(read={}, end={}, records=0)
    assert position_of("__consumer_offsets", [Report(TICKS.description, nothing, nothing, 0)]) is None


def test_a_reading_that_stands_at_the_beginning_is_told_after_a_while():
    passed_over = LogPosition(read={}, end={}, records=0)
    warm_up = WarmUp(begin={0: 0}, target={0: 9})
    told = []
    for _ in range(10):
        warm_up.advance(passed_over)
        told.append(warm_up.read_nothing(resumed=False))
    assert told == [False] * 5 + [True] * 5
    assert not warm_up.done


def test_behind_counts_what_is_left_in_every_partition():
    assert LogPosition(read={0: 5, 1: 10}, end={0: 7, 1: 10}, records=0).behind == 2


def test_it_is_done_only_when_every_partition_has_been_reached():
    warm_up = WarmUp(begin={0: 0, 1: 4}, target={0: 5, 1: 10})
    assert (warm_up.total, warm_up.remaining, warm_up.done) == (11, 11, False)

    warm_up.advance(LogPosition(read={0: 5, 1: 7}, end={0: 5, 1: 10}, records=8))
    assert (warm_up.remaining, warm_up.done) == (3, False)

    warm_up.advance(LogPosition(read={0: 6, 1: 10}, end={0: 6, 1: 10}, records=4))
    assert (warm_up.remaining, warm_up.done) == (0, True)


def test_an_empty_log_is_read_at_once():
    warm_up = WarmUp(begin={0: 3}, target={0: 3})
    warm_up.advance(LogPosition(read={0: 3}, end={0: 3}, records=0))
    assert warm_up.done
    assert not warm_up.read_nothing(resumed=False)


@pytest.mark.parametrize(
    ("records", "resumed", "silent"),
    [
        pytest.param(0, False, True, id="a full log passed without one record: the internal-topic trap"),
        pytest.param(1, False, False, id="one record is enough: compaction may have removed the rest"),
        pytest.param(0, True, False, id="a resumed job may have nothing left to read"),
    ],
)
def test_a_log_passed_without_a_record_is_told(records, resumed, silent):
    warm_up = WarmUp(begin={0: 0}, target={0: 9})
    warm_up.advance(LogPosition(read={0: 9}, end={0: 9}, records=records))
    assert warm_up.read_nothing(resumed) is silent

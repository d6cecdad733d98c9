"""Nothing is judged before the backlog seen at start has been read, and it is said how much of it remains."""

import json
from dataclasses import dataclass

import pytest

from monitor.model import WarmUpProgress
from monitor.readiness.warm_up import LogPosition, ReportedOffsets, WarmUp, plan_age_ms, planned_end, reported_offsets

OFFSETS_TOPIC = "__consumer_offsets"


@dataclass(frozen=True)
class Report:
    """What Spark 4.0.0 reported of a source in a real run, cut down to the fields that are read."""

    description: str
    latestOffset: str  # noqa: N815
    numInputRows: int  # noqa: N815


OFFSETS = Report(
    "KafkaV2[Assign[__consumer_offsets-0, __consumer_offsets-1]]",
    json.dumps({OFFSETS_TOPIC: {"0": 7, "1": 10}}),
    12,
)
TICKS = Report("RatePerMicroBatchStream[rowsPerBatch=16]", "null", 16)


def offset_log(*sources: str) -> str:
    """A file of Spark 4.0.0's offset log from a real run, its second line cut down."""
    return "\n".join(
        (
            "v1",
            '{"batchWatermarkMs":0,"batchTimestampMs":1795261538935,"conf":{"spark.sql.shuffle.partitions":"2"}}',
            *sources,
        )
    )


READ = '{"__consumer_offsets":{"0":150,"1":225}}'
EVENTS = '{"groupwatch.events":{"0":102}}'
TICKED = '{"offset":12,"timestamp":3000}'


def test_a_planned_micro_batch_tells_where_it_ends_in_the_asked_topic():
    text = offset_log(READ, EVENTS, TICKED)
    assert planned_end(OFFSETS_TOPIC, text) == {0: 150, 1: 225}
    assert planned_end("groupwatch.events", text) == {0: 102}


@pytest.mark.parametrize(
    ("later_ms", "age_ms"), [(100, 0), (4_999, 0), (5_000, 5_000), (17_000, 17_000), (600_001, 0), (-60_000, 0)]
)
def test_a_micro_batch_that_begins_long_after_its_plan_has_records_of_then(later_ms, age_ms):
    """More than ten minutes, and less than none, are steps of the machine's clock."""
    assert plan_age_ms(offset_log(READ, EVENTS), 1795261538935 + later_ms) == age_ms


@pytest.mark.parametrize("text", ["", "v1", "v1\n{}", "v1\n[]", 'v1\n{"batchTimestampMs":"x"}', "v1\n{"])
def test_a_plan_without_a_time_counts_as_new(text):
    assert plan_age_ms(text, 1795261538935) == 0


@pytest.mark.parametrize("nothing", ["-", "{}", "null", "12"])
def test_a_source_without_an_offset_of_the_topic_has_nothing_read(nothing):
    assert planned_end(OFFSETS_TOPIC, offset_log(nothing, EVENTS, TICKED)) == {}


def test_what_is_reported_is_that_of_the_asked_topic():
    assert reported_offsets(OFFSETS_TOPIC, [TICKS, OFFSETS]) == ReportedOffsets(end={0: 7, 1: 10}, records=12)
    assert reported_offsets("groupwatch.events", [TICKS, OFFSETS]) is None


@pytest.mark.parametrize("nothing", ["None", "null", ""])
def test_a_report_without_offsets_knows_no_end(nothing):
    """So Spark 4.0.0 reports a topic right after a restart, and an internal topic that it passes over always."""
    assert reported_offsets(OFFSETS_TOPIC, [Report(OFFSETS.description, nothing, 0)]) == ReportedOffsets(
        end={}, records=0
    )


def test_behind_counts_what_is_left_in_every_partition():
    reported = ReportedOffsets(end={0: 7, 1: 10, 2: 3}, records=0)
    assert LogPosition(read={0: 5, 1: 11}, before=reported).behind == 2 + 0 + 3


def test_without_a_report_it_is_not_known_how_far_the_job_is_behind():
    assert LogPosition(read={0: 5}).behind is None


def test_a_reading_that_stands_at_the_beginning_is_told_after_a_while():
    warm_up = WarmUp(begin={0: 0}, target={0: 9})
    told = []
    for _ in range(10):
        warm_up.advance({})
        told.append(warm_up.read_nothing(resumed=False))
    assert told == [False] * 5 + [True] * 5
    assert not warm_up.done


def test_it_is_done_only_when_every_partition_has_been_reached():
    warm_up = WarmUp(begin={0: 0, 1: 4}, target={0: 5, 1: 10})
    assert (warm_up.total, warm_up.remaining, warm_up.done) == (11, 11, False)

    warm_up.advance({0: 5, 1: 9})
    assert (warm_up.remaining, warm_up.done) == (1, False)

    warm_up.advance({0: 6, 1: 10})
    assert (warm_up.remaining, warm_up.done) == (0, True)


def test_never_more_remains_than_there_is():
    """A checkpoint may stand before where the log begins by now."""
    warm_up = WarmUp(begin={0: 10}, target={0: 15})
    warm_up.advance({0: 3})
    assert (warm_up.total, warm_up.remaining) == (5, 5)


def test_an_empty_log_is_read_at_once():
    warm_up = WarmUp(begin={0: 3}, target={0: 3})
    warm_up.advance({0: 3})
    assert warm_up.done
    assert not warm_up.read_nothing(resumed=False)
    assert warm_up.is_believable(groups=0, resumed=False)


@pytest.mark.parametrize(
    ("records", "resumed", "silent"),
    [
        pytest.param(0, False, True, id="a full log passed without one record: the internal-topic trap"),
        pytest.param(1, False, False, id="one record is enough: compaction may have removed the rest"),
        pytest.param(0, True, False, id="a resumed job may have nothing left to read"),
    ],
)
def test_a_log_passed_without_a_record_is_told(records, resumed, silent):
    warm_up = WarmUp(begin={0: 0}, target={0: 9}, records=records)
    warm_up.advance({0: 9})
    assert warm_up.read_nothing(resumed) is silent
    assert warm_up.is_believable(groups=0, resumed=resumed) is not silent


def test_groups_prove_that_something_was_read_before_spark_counts_it():
    warm_up = WarmUp(begin={0: 0}, target={0: 9})
    warm_up.advance({0: 9})
    assert warm_up.is_believable(groups=1, resumed=False)


def test_the_time_left_is_known_from_the_second_batch_on():
    warm_up = WarmUp(begin={0: 0}, target={0: 1_000})
    seen = []
    for now_ms, read in [(60_000, 100), (61_000, 300), (62_000, 500)]:
        warm_up.advance({0: read})
        warm_up.end_batch(now_ms)
        seen.append(warm_up.progress)
    assert seen == [
        WarmUpProgress(total=1_000, remaining=900, left_ms=None),
        WarmUpProgress(total=1_000, remaining=700, left_ms=3_500),
        WarmUpProgress(total=1_000, remaining=500, left_ms=2_500),
    ]


def test_the_pace_forgets_what_was_long_ago():
    """One batch that took 100 s, then four of 1 s that read 40, the last of them 5: 50 more take 5 s."""
    warm_up = WarmUp(begin={0: 0}, target={0: 100})
    for now_ms, read in [(0, 9), (100_000, 10), (101_000, 20), (102_000, 40), (103_000, 45), (104_000, 50)]:
        warm_up.advance({0: read})
        warm_up.end_batch(now_ms)
    assert warm_up.progress.left_ms == 5_000


def told_by(batch_ms: int, batches: int) -> dict[int, str]:
    """What the log says when, of a backlog that is read in so many batches of 1,000 offsets; started at 0."""
    warm_up = WarmUp(begin={0: 0}, target={0: 1_000 * batches}, told_ms=0)
    told = {}
    for number in range(1, batches + 3):
        warm_up.advance({0: 1_000 * number})
        news = warm_up.end_batch(number * batch_ms)
        if news is not None:
            told[number * batch_ms] = news
    return told


def test_the_log_says_every_10_s_what_remains_and_once_that_nothing_does():
    assert told_by(batch_ms=2_000, batches=12) == {
        10_000: "7,000 of 12,000 offsets still to read, about 14 s left",
        20_000: "2,000 of 12,000 offsets still to read, about 4 s left",
        24_000: "the backlog of 12,000 offsets has been read",
    }


def test_the_log_says_after_every_long_batch_what_remains():
    assert told_by(batch_ms=30_000, batches=3) == {
        30_000: "2,000 of 3,000 offsets still to read",
        60_000: "1,000 of 3,000 offsets still to read, about 30 s left",
        90_000: "the backlog of 3,000 offsets has been read",
    }

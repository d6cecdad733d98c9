"""What is told of groups while whoever reads them is away, and the topics go on. A reading comes every 10 s."""

from __future__ import annotations

from monitor.detection import DetectionSettings, evaluate
from monitor.model import (
    GroupKind,
    GroupObserved,
    GroupState,
    GroupVerdict,
    ObservedOffset,
    PartitionObserved,
    Source,
    TopicObserved,
    TopicState,
)
from monitor.tracking.group import fold_group
from monitor.tracking.topic import catalog_of, fold_topic

START_MS = 1_795_300_000_000
LAST = 59
"""The number of the newest reading of the query."""


def topic_until(number: int) -> TopicState:
    """A topic of which a collector sees 100 records more in each of its passes."""
    passes = [START_MS + each * 10_000 for each in range(number + 1)]
    seen = [
        TopicObserved(
            cluster="prod",
            topic="t",
            pass_ms=at_ms,
            observed_ms=at_ms,
            partitions=(PartitionObserved(partition=0, earliest=0, end=1000 + each * 100),),
        )
        for each, at_ms in enumerate(passes)
    ]
    state = fold_topic("prod", "t", None, seen)
    assert state is not None
    return state


def query(stuck_after: int) -> GroupState:
    """A query of Spark that is read until LAST, and reads everything until ``stuck_after``, 3 s before each reading."""
    readings = [
        GroupObserved(
            cluster="prod",
            group="etl",
            kind=GroupKind.SPARK,
            source=Source.CHECKPOINT,
            pass_ms=START_MS + each * 10_000,
            observed_ms=START_MS + each * 10_000,
            offsets=(
                ObservedOffset("t", 0, 1000 + min(each, stuck_after) * 100, START_MS + min(each, stuck_after) * 10_000),
            ),
            protocol_type="spark",
        )
        for each in range(LAST + 1)
    ]
    state = fold_group("prod", "etl", None, readings)
    assert state is not None
    return state


def verdict(state: GroupState, number: int) -> GroupVerdict:
    at_ms = START_MS + number * 10_000
    return evaluate(state, catalog_of("prod", at_ms, [topic_until(number)]), at_ms, DetectionSettings())


def test_while_nobody_reads_the_checkpoint_of_a_query_it_is_not_said_to_have_stopped():
    """The topic's ends come from another collector, which goes on: 31 passes without a reading are 310 s."""
    state = query(stuck_after=LAST)
    for number in (LAST, LAST + 6, LAST + 11, LAST + 31):
        after = verdict(state, number)
        assert after.findings == ()
        assert after.status == "ok"
        assert after.lag == (number - LAST) * 100
        assert after.evaluated_ms == START_MS + number * 10_000


def test_a_query_that_is_read_and_does_not_go_on_has_stopped():
    (finding,) = verdict(query(stuck_after=LAST - 20), LAST).findings
    assert (finding.kind, finding.reason) == ("lag", "not_committing")

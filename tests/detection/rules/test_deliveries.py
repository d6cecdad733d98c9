"""Share groups: their lag, and what is told of records that nobody answers for or that nobody accepts.

The captures are real groups with a limit of three deliveries; that of the poisoned records gave ten of them up.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.evaluation_input import GroupInputs, only_concerned
from monitor.model import (
    ArchivedRecords,
    Catalog,
    DeliveredSince,
    DeliveryTotals,
    EndOffsetAt,
    GroupKind,
    GroupState,
    GroupVerdict,
    IdPartitions,
    ListedShareOffset,
    Member,
    PartitionState,
    Phase,
    Reconciliation,
    ShareBatch,
    ShareConfig,
    SharedTopic,
    ShareGroupState,
    SharePartition,
    Source,
    TopicState,
)
from tests.support import kind_captures
from tests.support.builders import ASSIGNED, CREATED, NOW, catalog, topic

LIMIT = 3
CUT = {"cut", "cut-read", "end"}
"""Marks after which retention had removed records, which Kafka still counts."""


def topics_at(mark: dict[str, Any], first_ms: dict[tuple[str, str], int]) -> Catalog:
    found = {}
    for name, known in mark["topics"].items():
        if "id" not in known:
            continue  # it has been deleted
        partitions = []
        for number in known["end"]:
            seen_ms = first_ms.setdefault((name, number), mark["t"])
            ends = EndOffsetAt(seen_ms, 0), EndOffsetAt(mark["t"] + 1, known["end"][number])
            partitions.append(
                PartitionState(
                    partition=int(number),
                    first_seen_ms=seen_ms,
                    earliest=known["start"][number],
                    end=known["end"][number],
                    stable=known["stable"][number],
                    ends=ends,
                )
            )
        partitions.sort(key=lambda each: each.partition)
        found[name] = TopicState(
            cluster="c", topic=name, topic_id=known["id"], pass_ms=mark["t"], partitions=tuple(partitions)
        )
    names = {state.topic_id: name for name, state in found.items() if state.topic_id is not None}
    return Catalog(cluster="c", pass_ms=mark["t"], topics=found, names=names, watched_ms=0)


def states_at_marks() -> Iterator[tuple[dict[str, Any], GroupState | None]]:
    states: dict[str, GroupState | None] = {}
    for mark, since in kind_captures.lines_until_each_mark():
        for record in since:
            if record["key"] is None or not record["topic"].startswith("__"):
                continue
            kind_captures.fold_record(states, record)
        if mark["scenario"] == "share":
            yield mark, states.get(mark["group"])


@cache
def verdicts() -> list[tuple[dict[str, Any], GroupVerdict]]:
    """Every mark of a share group that there is, with what is said of it then."""
    first_ms: dict[tuple[str, str], int] = {}
    settings = DetectionSettings(delivery_limit=LIMIT)
    return [
        (mark, evaluate(state, topics_at(mark, first_ms), mark["t"], settings))
        for mark, state in states_at_marks()
        if state is not None
    ]


def test_the_lag_of_each_partition_is_that_of_the_admin_client_and_less_after_a_cut():
    compared = 0
    for mark, verdict in verdicts():
        lags = {f"{row.topic}-{row.partition}": row.lag for row in verdict.partitions}
        for place, known in mark["offsets"].items():
            if known is None or place.rpartition("-")[0] not in {row.topic for row in verdict.partitions}:
                continue
            if mark["label"] in CUT:
                assert lags[place] <= known["lag"]
            else:
                assert lags[place] == known["lag"], (mark["label"], place)
                compared += 1
    assert compared > 150


def test_what_is_told_of_the_captured_groups_is_true_and_nothing_else():
    """Poisoned records were released until the group gave them up; one member was killed with records in its hands."""
    told: dict[str, set[str]] = {}
    for mark, verdict in verdicts():
        for finding in verdict.findings:
            told.setdefault(f"{finding.kind.value}/{finding.reason}", set()).add(mark["label"])
    first_given_up = next(mark["label"] for mark, verdict in verdicts() if any(d.given_up for d in verdict.deliveries))
    assert told.keys() == {"poison/last_try", "poison/given_up", "orphaned/not_initialized"}
    assert first_given_up == "poison-0"
    assert told["poison/last_try"] == {
        "released-all",
        "timed-out",
        "poison-0",
        "poison-1",
        "poison-2",
        "child-killed",
        "child-gone",
    }
    assert told["orphaned/not_initialized"] == {"grown"}, "two new partitions, for the second that this takes"


def test_ten_records_were_given_up_and_none_of_them_was_rejected():
    (drained,) = [verdict for mark, verdict in verdicts() if mark["label"] == "limit-0"]
    assert sum(each.given_up for each in drained.deliveries) == 10
    assert [each.given_up_offset is not None for each in drained.deliveries] == [True] * 4


# --- by hand --------------------------------------------------------------------------------------------------------

FULL = (EndOffsetAt(CREATED, 100), EndOffsetAt(NOW, 100))
TOPIC = replace(
    topic("orders", 2), topic_id="t", partitions=tuple(replace(p, ends=FULL) for p in topic("orders", 2).partitions)
)
TOPICS = replace(catalog(TOPIC), names={"t": "orders"})
ANSWERED = NOW - 200_000


def shared(*partitions: SharePartition, readable=(0, 1), config=None, **fields) -> GroupState:
    known = {
        "phase": Phase.STABLE,
        "phase_ms": ASSIGNED,
        "generation": 3,
        "generation_ms": ASSIGNED,
        "members": tuple(modern(n) for n in range(2)),
    }
    topics = (SharedTopic("t", "orders", tuple(readable)),)
    share = ShareGroupState(partitions=partitions, initialized=topics, config=config or ShareConfig())
    return GroupState(cluster="c", group="g", kind=GroupKind.SHARE, share=share, **(known | fields))


def modern(number: int) -> Member:
    reconciliation = Reconciliation(epoch=3, assigned=(IdPartitions("t", (0, 1)),))
    return Member(member_id=f"C{number}", topics=("orders",), reconciliation=reconciliation)


def partition(number: int, start: int, *batches, answered_ms=NOW, **fields) -> SharePartition:
    known = tuple(ShareBatch(*each) for each in batches)
    done = sum(batch.last - batch.first + 1 for batch in known if batch.state in (2, 4))
    return SharePartition("t", number, start, done, known, answered_ms=answered_ms, **fields)


def told(state: GroupState, now_ms=NOW, **settings) -> list[tuple[str, str, int]]:
    verdict = evaluate(state, TOPICS, now_ms, DetectionSettings(**settings))
    return [(each.kind.value, each.reason, each.since_ms) for each in verdict.findings]


def test_members_that_answer_for_nothing_for_more_than_two_locks_are_told():
    state = shared(partition(0, 50, answered_ms=ANSWERED), partition(1, 100))
    assert told(state) == [("lag", "stalled", ANSWERED)]
    assert told(state, now_ms=ANSWERED + 60_000) == [("lag", "stalled", ANSWERED)]
    assert told(state, now_ms=ANSWERED + 59_999) == []


@pytest.mark.parametrize(
    "state",
    [
        pytest.param(shared(partition(0, 50)), id="answered just now"),
        pytest.param(shared(partition(0, 100, answered_ms=ANSWERED)), id="nothing waits"),
        pytest.param(shared(SharePartition("t", 0)), id="nobody has answered for anything yet"),
        pytest.param(shared(partition(0, 50), partition(1, 50, (51, 99, 2, 1))), id="all but one are done with"),
    ],
)
def test_groups_of_which_nothing_is_told(state: GroupState):
    assert told(state) == []


def test_a_group_without_members_for_which_records_wait_is_unattended():
    state = shared(partition(0, 50, answered_ms=ANSWERED), members=(), phase=Phase.EMPTY, phase_ms=ANSWERED)
    assert told(state) == [("unattended", "no_members", ANSWERED)]


def test_a_partition_that_is_not_initialized_is_told_with_the_members_unable_to_read_it():
    state = shared(partition(0, 100), readable=(0,))
    assert told(state) == [("orphaned", "not_initialized", ASSIGNED)]
    verdict = evaluate(state, TOPICS, NOW, DetectionSettings())
    assert [each.is_readable for each in verdict.deliveries] == [True, False]


def test_records_before_their_last_delivery_are_told_until_they_are_answered_for():
    waits = partition(0, 50, (50, 51, 0, 4), (52, 99, 2, 1), waiting=(DeliveredSince(4, NOW - 9_000),))
    assert told(shared(waits)) == [("poison", "last_try", NOW - 9_000)]
    assert told(shared(waits), delivery_limit=6) == []
    (finding,) = evaluate(shared(waits), TOPICS, NOW, DetectionSettings()).findings
    assert "2 records of 1 partition of orders (0) have been delivered 4 times" in finding.sentence
    assert "offsets 50, 51" in finding.sentence


def test_records_that_were_given_up_are_told_for_an_hour():
    state = shared(partition(0, 100, archived=(ArchivedRecords(5, 7, 40, CREATED),)))
    assert told(state, now_ms=CREATED + 3_599_999) == [("poison", "given_up", CREATED)]
    assert told(state, now_ms=CREATED + 3_600_000) == []


def test_the_limit_and_the_lock_are_those_of_the_group_if_they_could_be_read():
    limits = {"config": ShareConfig(delivery_limit=4, lock_ms=90_000)}
    archived = (ArchivedRecords(3, 1, 30, NOW - 1_000), ArchivedRecords(4, 2, 31, NOW - 1_000))
    (given_up,) = evaluate(
        shared(partition(0, 100, archived=archived), **limits), TOPICS, NOW, DetectionSettings(delivery_limit=3)
    ).findings
    assert given_up.sentence.startswith(
        "The group has given up records of 1 partition of orders (0): 2 so far, the new"
    )
    assert "after 4 deliveries, and" in given_up.sentence
    assert "by default" not in given_up.sentence
    waits = shared(partition(0, 50, answered_ms=ANSWERED), **limits)
    assert told(waits, now_ms=ANSWERED + 180_000) == [("lag", "stalled", ANSWERED)]
    assert told(waits, now_ms=ANSWERED + 179_999) == []


def test_another_limit_does_not_change_what_became_of_records_before():
    archived = (ArchivedRecords(5, 7, 40, NOW - 1_000, limit=5), ArchivedRecords(8, 2, 50, NOW - 500, limit=10))
    for limit in (2, 5, 10):
        state = shared(partition(0, 100, archived=archived), config=ShareConfig(delivery_limit=limit))
        verdict = evaluate(state, TOPICS, NOW, DetectionSettings())
        assert verdict.delivery_totals == DeliveryTotals(given_up=7, rejected=2)
        assert "7 so far, the newest with offset 40" in verdict.findings[0].sentence


def test_offsets_that_are_not_all_named_are_the_first_ones():
    waits = partition(0, 50, (50, 69, 0, 1), (70, 99, 2, 1), waiting=(DeliveredSince(1, NOW - 9_000),))
    (finding,) = evaluate(
        shared(waits, config=ShareConfig(delivery_limit=2)), TOPICS, NOW, DetectionSettings()
    ).findings
    assert "20 records of 1 partition of orders (0) have been delivered once or more" in finding.sentence
    assert "(first offsets 50, 51, 52, 53, 54, 55, 56, 57, 58, 59 of partition 0 of orders)" in finding.sentence


# --- transactions, retention, topics that are left or made again ------------------------------------------------------


def with_partitions(**fields) -> Catalog:
    state = replace(TOPIC, partitions=tuple(replace(each, **fields) for each in TOPIC.partitions))
    return replace(TOPICS, topics={"orders": state})


@pytest.mark.parametrize(
    ("reads_committed", "found"), [(None, "stalled"), (False, "stalled"), (True, "open_transaction")]
)
def test_only_a_group_that_reads_committed_records_waits_for_a_transaction(reads_committed, found):
    behind = with_partitions(stable=50, stable_ms=ANSWERED)
    config = ShareConfig(reads_committed=reads_committed)
    state = shared(partition(0, 50, answered_ms=ANSWERED), partition(1, 100, answered_ms=ANSWERED), config=config)
    verdict = evaluate(state, behind, NOW, DetectionSettings())
    assert [(each.kind.value, each.reason) for each in verdict.findings] == [("lag", found)]
    away = replace(state, members=(), phase=Phase.EMPTY, phase_ms=ANSWERED)
    found_away = evaluate(away, behind, NOW, DetectionSettings()).findings
    assert [each.reason for each in found_away] == ["open_transaction" if reads_committed else "no_members"]


def test_records_that_retention_removed_before_they_were_done_are_lost():
    cut = with_partitions(earliest=70, earliest_ms=NOW - 150_000)
    state = shared(partition(0, 50, (55, 59, 2, 1), answered_ms=ANSWERED), partition(1, 100))
    verdict = evaluate(state, cut, NOW, DetectionSettings())
    assert (verdict.deliveries[0].lost, verdict.lost) == (15, 15)
    lost = next(each for each in verdict.findings if each.kind == "retention")
    assert (lost.reason, lost.since_ms) == ("records_lost", NOW - 150_000)
    assert lost.sentence.endswith("Retention removed them before a member acknowledged them.")


def test_a_topic_that_no_member_subscribes_any_more_is_abandoned_and_has_lag():
    left = modern(0)
    left = replace(left, topics=("other",), reconciliation=Reconciliation(epoch=3))
    state = shared(partition(0, 50, answered_ms=ANSWERED), partition(1, 100, answered_ms=ANSWERED), members=(left,))
    assert told(state) == [("abandoned", "unsubscribed", ANSWERED)]
    verdict = evaluate(state, TOPICS, NOW, DetectionSettings())
    assert verdict.lag == 50
    assert verdict.findings[0].sentence.startswith(
        "The group has share state and lag in 1 partition of orders (0), but"
    )
    assert only_concerned(GroupInputs(group=state, catalog=TOPICS, now_ms=NOW)).catalog.topics.keys() == {"orders"}


def test_the_coordinator_alone_does_not_tell_when_a_topic_was_left():
    left = replace(modern(0), topics=("other",), reconciliation=Reconciliation(epoch=3))
    share = ShareGroupState(listed=(ListedShareOffset("t", 0, 50, 50),))
    state = replace(shared(members=(left,), source=Source.ADMIN), share=share)
    assert told(state) == [("abandoned", "unsubscribed", ASSIGNED)]
    endless = with_partitions(end=None, ends=())
    assert evaluate(state, endless, NOW, DetectionSettings()).lag is None


def test_a_topic_that_was_made_again_is_not_initialized_until_its_new_id_is():
    again = replace(TOPIC, topic_id="new")
    topics = replace(catalog(again), names={"new": "orders"})
    verdict = evaluate(shared(partition(0, 100), partition(1, 100)), topics, NOW, DetectionSettings())
    assert [each.is_readable for each in verdict.deliveries] == [False, False]
    assert [each.reason for each in verdict.findings] == ["not_initialized"]


def test_a_partition_with_many_batches_is_done_with_up_to_its_end():
    accepted = [(number, number, 2, 1) for number in range(0, 200, 2)]
    archived = [(number, number, 4, 1) for number in range(1, 200, 2)]
    known = partition(0, 0, *sorted(accepted + archived), answered_ms=NOW)
    state = shared(replace(known, complete_count=200), partition(1, 200))
    ends = (EndOffsetAt(CREATED, 200), EndOffsetAt(NOW, 200))
    verdict = evaluate(state, with_partitions(end=200, ends=ends), NOW, DetectionSettings())
    assert (verdict.lag, verdict.deliveries[0].more_batches) == (0, 100)
    assert [row.committed for row in verdict.partitions] == [200, 200]


def test_a_count_that_contradicts_the_batches_breaks_nothing():
    odd = replace(partition(0, 50, (50, 99, 2, 1), answered_ms=None), complete_count=10)
    verdict = evaluate(shared(odd, members=(), phase=Phase.EMPTY, phase_ms=ANSWERED), TOPICS, NOW, DetectionSettings())
    assert verdict.lag == 40


def test_a_limit_that_could_not_be_read_is_given_as_the_default():
    verdict = evaluate(
        shared(partition(0, 100, archived=(ArchivedRecords(5, 7, 40, NOW),))), TOPICS, NOW, DetectionSettings()
    )
    assert "after 5 deliveries (by default; the configs" in verdict.findings[0].sentence
    assert (verdict.delivery_limit, verdict.has_default_limit) == (5, True)


def test_without_share_state_nothing_is_said_of_what_became_of_records():
    verdict = evaluate(shared(), TOPICS, NOW, DetectionSettings())
    assert (verdict.delivery_totals, verdict.lag, verdict.findings) == (None, None, ())
    some = evaluate(shared(partition(0, 100, accepted=100)), TOPICS, NOW, DetectionSettings())
    assert some.delivery_totals == DeliveryTotals(accepted=100)


def test_records_that_were_given_up_before_the_log_begins_are_counted_and_not_told():
    state = shared(partition(0, 100, archived=(ArchivedRecords(5, 7, 40, 0),)))
    assert told(state) == []
    assert evaluate(state, TOPICS, NOW, DetectionSettings()).delivery_totals == DeliveryTotals(given_up=7)


def test_several_owners_of_a_partition_are_meant_and_no_status_is_given():
    verdict = evaluate(shared(partition(0, 50), partition(1, 100)), TOPICS, NOW, DetectionSettings())
    assert verdict.partitions[0].owners == ("C0", "C1")
    assert (verdict.lag, verdict.status) == (50, None)


def listed(*offsets: ListedShareOffset, source=Source.ADMIN, **fields) -> GroupState:
    """A group of which only its coordinator's answers are known."""
    state = shared(**fields)
    return replace(state, source=source, share=ShareGroupState(listed=offsets))


def test_where_the_log_is_not_read_the_lag_is_the_coordinators_and_no_outcome_is_known():
    state = listed(ListedShareOffset("t", 0, 90, 7), ListedShareOffset("t", 1))
    verdict = evaluate(state, TOPICS, NOW, DetectionSettings())
    assert [row.lag for row in verdict.partitions] == [7, None]
    assert (verdict.lag, verdict.delivery_totals, verdict.findings) == (7, None, ())
    assert [(each.start_offset, each.is_readable) for each in verdict.deliveries] == [(90, True), (None, True)]


def test_what_the_log_says_counts_before_what_the_coordinator_says():
    state = shared(partition(0, 50, answered_ms=NOW))
    both = replace(state, share=replace(state.share, listed=(ListedShareOffset("t", 0, 90, 7),)))
    assert evaluate(both, TOPICS, NOW, DetectionSettings()).partitions[0].lag == 50


def test_a_group_without_members_is_unattended_also_where_the_log_is_not_read():
    state = listed(ListedShareOffset("t", 0, 90, 7), members=(), phase=Phase.EMPTY, phase_ms=ANSWERED)
    assert told(state) == [("unattended", "no_members", ANSWERED)]


def test_members_that_have_just_joined_have_time_to_answer():
    state = shared(partition(0, 50, answered_ms=ANSWERED), generation_ms=NOW - 59_999, phase_ms=NOW - 59_999)
    assert told(state) == []
    assert told(state, now_ms=NOW + 1) == [("lag", "stalled", NOW - 59_999)]


def test_the_coordinators_lag_counts_no_records_that_retention_deleted():
    cut = replace(TOPIC, partitions=tuple(replace(each, earliest=95) for each in TOPIC.partitions))
    verdict = evaluate(
        listed(ListedShareOffset("t", 0, 40, 60)),
        replace(TOPICS, topics={"orders": cut}),
        NOW,
        DetectionSettings(),
    )
    assert (verdict.lag, verdict.deliveries[0].first_waiting) == (5, 95)

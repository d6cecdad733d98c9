"""Groups of RocketMQ and MetaQ of every shape, with shares cut by hand: what is orphaned and what is owned twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.ownership.self_assigned.groups import offered
from monitor.explain.partition import explain_partition
from monitor.model import (
    KINDS,
    Catalog,
    GroupKind,
    GroupObserved,
    LagStatus,
    Member,
    ObservedOffset,
    PartitionObserved,
    Source,
    TopicObserved,
    TopicPartitions,
)
from monitor.tracking.group import fold_group
from monitor.tracking.topic import catalog_of as catalog_seen
from monitor.tracking.topic import fold_topic
from tests.support.builders import group
from tests.support.captured_groups import READ, catalog_of, folded, topic, verdict_on

AVERAGELY, CIRCLE = "AllocateMessageQueueAveragely", "AllocateMessageQueueAveragelyByCircle"
TOPICS = ("A", "B")


def cut(items: list[str], into: int, place: int, *, by_circle: bool) -> list[str]:
    """The share of the one at this place: every so-manyth, or a run, of which the first ones have one more."""
    if by_circle:
        return items[place::into]
    sizes = [len(items) // into + (number < len(items) % into) for number in range(into)]
    return items[sum(sizes[:place]) : sum(sizes[: place + 1])]


@st.composite
def groups(draw: st.DrawFn) -> tuple[GroupObserved, Catalog, dict[str, list[str]]]:
    """A RocketMQ group in which everybody has exactly its share, the topics, and the queues in the clients' order."""
    brokers = draw(st.lists(st.sampled_from(["a", "b-1", "B"]), min_size=1, max_size=3, unique=True))
    line_up = {
        name: [f"{broker}-{n}" for broker in sorted(brokers) for n in range(draw(st.integers(1, 12)))]
        for name in TOPICS
    }
    count = draw(st.integers(1, 5))
    members = []
    for place in range(count):
        circle = draw(st.booleans())
        subscribed = draw(st.sampled_from([("A",), ("B",), ("A", "B")]))
        own = [(name, sorted(cut(line_up[name], count, place, by_circle=circle))) for name in subscribed]
        members.append(
            Member(
                member_id=f"10.0.0.{place}@x",
                topics=subscribed,
                assigned=tuple(TopicPartitions(name, tuple(has)) for name, has in own if has),
                assignor=CIRCLE if circle else AVERAGELY,
            )
        )
    shuffled = draw(st.permutations(members))
    return _read(GroupKind.ROCKETMQ, shuffled), _catalog(line_up), line_up


def _read(kind: GroupKind, members: list[Member]) -> GroupObserved:
    return GroupObserved("mq", "g", kind, Source.SYSTEM, READ, READ, members=tuple(members))


def _catalog(line_up: dict[str, list[str]]) -> Catalog:
    return catalog_of("mq", *(topic("mq", name, sorted(own)) for name, own in line_up.items()))


@given(groups())
def test_what_everybody_has_by_its_own_rule_is_expected_and_only_what_does_not_fit_together_is_told(
    made: tuple[GroupObserved, Catalog, dict[str, list[str]]],
):
    reading, catalog, line_up = made
    verdict = verdict_on(reading, catalog)
    held = [(entry.topic, each) for member in reading.members for entry in member.assigned for each in entry.partitions]
    subscribed = {name for member in reading.members for name in member.topics}
    nobodys = {(name, each) for name in subscribed for each in line_up[name]} - set(held)
    twice = {place for place in held if held.count(place) > 1}
    told = {kind: set[tuple[str, str]]() for kind in ("orphaned", "double_owned", "drift")}
    for finding in verdict.findings:
        told.setdefault(finding.kind.value, set()).update((p.topic, str(p.partition)) for p in finding.partitions)
        assert finding.reason not in ("pending", "grew", "assignor_gap", "same_generation")
    assert verdict.expectation == "exact"
    assert (told["orphaned"], told["double_owned"], told["drift"]) == (nobodys, twice, set())
    mixed_strategies = len({member.assignor for member in reading.members}) > 1
    mixed_topics = len({member.topics for member in reading.members}) > 1
    reasons = {finding.reason for finding in verdict.findings if finding.kind in ("orphaned", "double_owned")}
    assert mixed_strategies or "mixed_strategy" not in reasons
    assert mixed_topics or "mixed_subscription" not in reasons


@given(groups(), st.data())
def test_a_queue_that_its_client_does_not_hold_is_told_with_that_client(
    made: tuple[GroupObserved, Catalog, dict[str, list[str]]], data: st.DataObject
):
    """Of one strategy and one subscription, whichever queue is left out."""
    reading, catalog, line_up = made
    count = len(reading.members)
    whole = [
        replace(
            member,
            topics=("A",),
            assignor=AVERAGELY,
            assigned=tuple(
                TopicPartitions("A", tuple(sorted(own)))
                for own in [cut(line_up["A"], count, int(member.member_id[7]), by_circle=False)]
                if own
            ),
        )
        for member in reading.members
    ]
    assert verdict_on(_read(GroupKind.ROCKETMQ, whole), catalog).expectation == "exact"
    lost = data.draw(st.sampled_from([m for m in whole if m.assigned]))
    queue = data.draw(st.sampled_from(lost.assigned[0].partitions))
    left = tuple(each for each in lost.assigned[0].partitions if each != queue)
    less = replace(lost, assigned=(TopicPartitions("A", left),) if left else ())
    verdict = verdict_on(_read(GroupKind.ROCKETMQ, [less if m is lost else m for m in whole]), catalog)
    (orphaned,) = [finding for finding in verdict.findings if finding.kind == "orphaned"]
    assert (orphaned.reason, [place.partition for place in orphaned.partitions]) == ("pending", [queue])
    assert f"to {lost.member_id}" in orphaned.sentence


@given(st.integers(1, 15), st.integers(1, 4), st.integers(0, 3))
def test_a_healthy_group_of_metaq_has_no_finding_but_those_of_its_numbers(
    partitions: int, consumers: int, elsewhere: int
):
    """Default: runs of the partitions in the order of strings, over those who subscribe; others do not count."""
    line_up = sorted(f"{n % 2}-{n // 2}" for n in range(partitions))
    members = [
        Member(
            member_id=f"g_{place}",
            topics=("T",),
            assigned=tuple(
                TopicPartitions("T", tuple(own)) for own in [cut(line_up, consumers, place, by_circle=False)] if own
            ),
        )
        for place in range(consumers)
    ] + [Member(member_id=f"g_a{place}", topics=("U",)) for place in range(elsewhere)]
    catalog = catalog_of("mq", topic("mq", "T", line_up))
    verdict = verdict_on(_read(GroupKind.METAQ, members), catalog)
    assert (verdict.expectation, verdict.assignor) == ("exact", "default")
    assert {finding.kind.value for finding in verdict.findings} <= {"idle_members"}
    assert any(finding.kind == "idle_members" for finding in verdict.findings) == (consumers > partitions)


@pytest.mark.parametrize("name", ["", "a", "-", "a-", "a-x", "a-1-", "a-\u0663", "a-" + "9" * 5000, "\ud800-0", "a-00"])
def test_queues_with_names_that_no_broker_gives_are_judged_without_an_error(name: str):
    """Nothing can be expected of the topic then, or the queue is one like others; that nobody has it is told."""
    members = [
        Member(member_id=f"c{n}", topics=("T",), assignor=AVERAGELY, assigned=(TopicPartitions("T", (f"b-{n}",)),))
        for n in range(2)
    ]
    catalog = catalog_of("mq", topic("mq", "T", sorted(["b-0", "b-1", name])))
    for hung in (members, [members[0], replace(members[1], answers=False, assigned=())]):
        reading = _read(GroupKind.ROCKETMQ, hung)
        verdict = verdict_on(reading, catalog)
        assert [row.partition for row in verdict.partitions] == sorted(["b-0", "b-1", name])
        inputs = GroupInputs(group=folded(reading), catalog=catalog, now_ms=READ + 60_000)
        assert explain_partition(inputs, "T", "b-0").statements


def test_what_another_holds_by_its_own_word_is_not_presumed_of_a_silent_client():
    """Of four queues c1's share is b-2 and b-3, but c0 has taken b-2 while c1 hung: b-2 has one owner."""
    members = [
        Member("c0", topics=("T",), assignor=AVERAGELY, assigned=(TopicPartitions("T", ("b-0", "b-1", "b-2")),)),
        Member("c1", topics=("T",), assignor=AVERAGELY, answers=False),
    ]
    verdict = verdict_on(_read(GroupKind.ROCKETMQ, members), _catalog({"T": ["b-0", "b-1", "b-2", "b-3"]}))
    assert {row.partition: row.owners for row in verdict.partitions} == {
        **dict.fromkeys(("b-0", "b-1", "b-2"), ("c0",)),
        "b-3": ("c1",),
    }


@pytest.mark.parametrize("later_ms", [0, 50])
def test_a_topic_that_a_first_reading_dates_a_little_later_than_its_groups_has_not_grown(later_ms: int):
    """Two strategies and four queues: the first takes 0 and 1, the second 1 and 3, since as long as both are known."""
    shares = {"a": (AVERAGELY, ("b-0", "b-1")), "b": (CIRCLE, ("b-1", "b-3"))}
    members = [
        Member(member_id=name, topics=("A",), assignor=assignor, assigned=(TopicPartitions("A", own),))
        for name, (assignor, own) in shares.items()
    ]
    known = topic("mq", "A", [f"b-{n}" for n in range(4)])
    first = [replace(partition, first_seen_ms=READ + later_ms) for partition in known.partitions]
    verdict = verdict_on(_read(GroupKind.ROCKETMQ, members), catalog_of("mq", replace(known, partitions=tuple(first))))
    told = [(finding.kind.value, finding.reason) for finding in verdict.findings]
    assert told == [("double_owned", "mixed_strategy"), ("orphaned", "mixed_strategy")]


@pytest.mark.parametrize(
    ("answers", "told", "status"),
    [
        pytest.param(False, [], LagStatus.OK, id="its broker tells nothing"),
        pytest.param(True, ["silent"], LagStatus.STOP, id="its broker tells that nothing is committed"),
    ],
)
def test_that_nothing_is_committed_is_said_only_while_the_broker_answers(
    answers: bool, told: list[str], status: LagStatus
):
    """A group that is always about 5000 records behind. After ten minutes, nothing new comes from b for ten more."""
    group = state = None
    for number in range(120):
        at_ms, news = READ + number * 10_000, number < 60
        ends = {"a-0": number * 100 + 5000, "b-0": min(number, 59) * 100 + 5000 if news or answers else None}
        done = {"a-0": number, "b-0": min(number, 59)} if news or answers else {"a-0": number}
        offsets = {partition: many * 100 + many % 3 * 10 for partition, many in done.items()}
        members = tuple(
            Member(member_id=each, topics=("A",), assigned=(TopicPartitions("A", (f"{each}-0",)),), assignor=AVERAGELY)
            for each in ("a", "b")
        )
        reading = replace(
            _read(GroupKind.ROCKETMQ, list(members)),
            pass_ms=at_ms,
            observed_ms=at_ms,
            offsets=tuple(ObservedOffset("A", partition, offset) for partition, offset in offsets.items()),
            partial=not news and not answers,
        )
        partitions = tuple(PartitionObserved(partition=name, earliest=0, end=end) for name, end in ends.items())
        group = fold_group("mq", "g", group, [reading])
        state = fold_topic("mq", "A", state, [TopicObserved("mq", "A", at_ms, at_ms, partitions)])
    assert group is not None
    assert state is not None
    verdict = evaluate(group, catalog_seen("mq", at_ms, [state]), at_ms, DetectionSettings())
    assert {each.partition: (each.lag, each.status) for each in verdict.partitions} == {
        "a-0": (4980, LagStatus.OK),
        "b-0": (4980, status),
    }
    assert [each.reason for each in verdict.findings if each.reason != "lag"] == told


@pytest.mark.parametrize("kind", list(GroupKind))
def test_shares_can_be_worked_out_of_exactly_the_kinds_that_are_said_to_share_by_themselves(kind: GroupKind):
    try:
        offered(group(kind=kind), {})
    except KeyError:
        assert not KINDS[kind].is_self_assigned
    else:
        assert KINDS[kind].is_self_assigned

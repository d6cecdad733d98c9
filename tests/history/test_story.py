"""What happened to a group, told from its recording: made by hand, each thing at a known second."""

from __future__ import annotations

from itertools import pairwise

import pytest

from monitor.history.chronicle.values import Chronicle, GroupPoint, PhaseBegun
from monitor.history.recorded import RecordedEvent, RecordedRow, RecordingError, encode_events
from monitor.history.replay import inputs_at
from monitor.history.report.assemble import group_report, report_of
from monitor.history.story import GroupStory, missing_sentences, story_of
from monitor.history.walk import GroupWalk
from monitor.messages.formatting import lag_range
from monitor.model import (
    Entity,
    GroupDeleted,
    GroupKind,
    Member,
    MembershipStored,
    OffsetCommitted,
    PartitionObserved,
    PassCompleted,
    Phase,
    TopicObserved,
    TopicPartitions,
)
from tests.history.incidents import Made, ms
from tests.history.memory import MemoryRecording, tell_story

START = 1_795_313_640_000


def joined(second: int, generation: int, shares: dict[str, list[int]]) -> RecordedEvent:
    """By range: the first members have one partition more."""
    members = tuple(
        Member(member_id=name, client_id=name, topics=("t",), assigned=(TopicPartitions("t", tuple(own)),))
        for name, own in shares.items()
    )
    leader = next(iter(shares), None)
    protocol = "range" if shares else None
    at_ms = START + second * 1_000
    stored = MembershipStored("g", generation, "consumer", protocol, leader, stored_ms=at_ms, members=members)
    return RecordedEvent(at_ms, stored)


def commit(second: int, partition: int, offset: int) -> RecordedEvent:
    at_ms = START + second * 1_000
    return RecordedEvent(at_ms, OffsetCommitted("g", "t", partition, offset, at_ms))


def seen(second: int, end: int, partitions: int = 2) -> list[RecordedRow]:
    at_ms = START + second * 1_000
    observed = tuple(PartitionObserved(partition=n, earliest=0, end=end) for n in range(partitions))
    topic = TopicObserved(cluster="c", topic="t", pass_ms=at_ms, observed_ms=at_ms, partitions=observed, topic_id="T")
    ended = PassCompleted(cluster="c", pass_ms=at_ms, completed_ms=at_ms, topics=1)
    return [
        row(Entity.TOPIC, "t", second, [RecordedEvent(at_ms, topic)]),
        row(Entity.PASS, "", second, [RecordedEvent(at_ms, ended)]),
    ]


def row(entity: Entity, name: str, second: int, events: list[RecordedEvent]) -> RecordedRow:
    return RecordedRow(START + (second // 60 + 1) * 60_000, entity, name, second, encode_events(events))


def recording(*events: RecordedEvent) -> MemoryRecording:
    polls = [each for second in range(0, 300, 10) for each in seen(second, 100 + second)]
    own = [row(Entity.GROUP, "g", (each.at_ms - START) // 1_000, [each]) for each in events]
    return MemoryRecording([*polls, *own])


HISTORY = recording(
    joined(5, 1, {"a": [0], "b": [1]}),
    commit(20, 0, 100),
    commit(20, 1, 110),
    joined(65, 2, {"a": [0]}),  # nobody has partition 1: range gives both to a
    joined(95, 3, {"a": [0, 1]}),
    joined(240, 4, {}),
    RecordedEvent(START + 250_000, GroupDeleted("g", START + 250_000)),
)


def truncated(cut: int) -> MemoryRecording:
    """The log ends at 100 and a record a second; at 65 it is cut by so many. Partition 0 had been committed before."""
    ends = [(second, 100 + second - (cut if second >= 65 else 0)) for second in range(0, 300, 10)]
    polls = [each for second, end in ends for each in seen(second, end, partitions=1)]
    own = [row(Entity.GROUP, "g", 60, [commit(60, 0, 155)])]
    return MemoryRecording([*polls, *own])


def test_a_log_that_went_back_is_told_and_so_are_the_offsets_beyond_its_end_until_it_has_grown_past_them():
    """The poll at 70 sees it gone back; that at 90 is 30 s younger than the commit, that at 120 is past the commit."""
    found = tell_story(truncated(60), "c", "g", START + 61_000, START + 131_000)
    assert found is not None
    told = [((each.at_ms - START) // 1_000, each.about.value, each.finding) for each in found.happened]
    assert told == [(70, "log", None), (90, "opened", "lag/beyond_end"), (120, "closed", "lag/beyond_end")]
    assert found.happened[0].sentence == (
        "The log of partition 0 of t went back from 160 to 110: at least 50 records are gone. An unclean leader "
        "election does this, and so does a restored log."
    )
    lags = {(each.at_ms - START) // 1_000: each.lag for each in found.lag}
    assert [lags[second] for second in (61, 70, 80, 110, 120, 130, 131)] == [5, None, None, None, 5, 15, 15]


def test_a_commit_that_went_back_is_told_with_its_cause():
    """At 130 a rebalance ends that both members notice; the new owner of partition 0 begins at 100 again."""
    joining = [joined(5, 1, {"a": [0, 1]}), joined(130, 2, {"a": [1], "b": [0]})]
    made = recording(*joining, *[commit(at_s, 0, 100 + at_s) for at_s in (20, 60, 120)], commit(140, 0, 100))
    found = tell_story(made, "c", "g", START + 10_000, START + 200_000)
    assert found is not None
    assert [(each.at_ms - START, each.sentence) for each in found.happened if each.about.value == "commit"] == [
        (
            140_000,
            "The committed offset of partition 0 of t went back from 220 to 100 with the first commit after a "
            "rebalance: 120 records (offsets 100 to 219) are delivered again.",
        )
    ]


def story(since: int, until: int) -> GroupStory:
    found = tell_story(HISTORY, "c", "g", START + since * 1_000, START + until * 1_000)
    assert found is not None
    return found


def test_rebalances_and_findings_come_in_their_order_with_their_second():
    """One member alone got one of two partitions: its metadata may have had no more."""
    told = [each for each in story(10, 120).happened if each.finding in (None, "orphaned/grew")]
    assert [(each.at_ms - START, each.about.value, each.finding) for each in told] == [
        (65_000, "rebalance", None),
        (70_000, "opened", "orphaned/grew"),  # with the next poll: until then, the partition might be gone
        (95_000, "rebalance", None),
        (95_000, "closed", "orphaned/grew"),
    ]
    assert told[1].sentence.startswith("1 partition of t (1) has no owner")


def test_the_lag_has_a_point_every_ten_seconds():
    assert [(point.at_ms - START, point.lag) for point in story(10, 40).lag] == [
        (10_000, None),
        (20_000, 120 - 100 + 120 - 110),
        (30_000, 130 - 100 + 130 - 110),
        (40_000, 140 - 100 + 140 - 110),
    ]


def test_what_was_open_at_the_beginning_began_before_it():
    told = story(70, 80)
    assert [each.about.value for each in told.happened] == []


def test_a_group_that_was_left_and_deleted_is_told_to_be():
    told = story(200, 290).happened
    assert [(each.at_ms - START, each.sentence) for each in told if each.about == "group"] == [
        (240_000, "The group has no members anymore."),
        (250_000, "The group was deleted."),
    ]


@pytest.mark.parametrize(
    ("phases", "expected"),
    [
        pytest.param((Phase.STABLE, Phase.EMPTY, Phase.STABLE), ["no more", "again"], id="left and joined"),
        pytest.param((Phase.EMPTY, Phase.RECONCILING, Phase.STABLE), ["again"], id="no second time"),
        pytest.param((Phase.GONE, Phase.STABLE), ["has members"], id="made"),
        pytest.param((Phase.STABLE, Phase.GONE, Phase.EMPTY), ["deleted", "no more"], id="made again without members"),
        pytest.param((Phase.GONE, Phase.OFFSETS_ONLY), [], id="only offsets are known, and no members"),
        pytest.param((Phase.EMPTY, Phase.UNSEEN), [], id="nothing is known"),
    ],
)
def test_members_are_told_of_where_they_are_known_to_be_in_a_story_as_in_a_report(phases, expected):
    words = {
        "no more": "The group has no members anymore.",
        "deleted": "The group was deleted.",
        "again": "The group has members again.",
        "has members": "The group has members.",
    }
    begun = tuple(PhaseBegun(place, *pair) for place, pair in enumerate(pairwise(phases), 1))
    points = (GroupPoint(0, Phase.STABLE, 1, 0, 0, 0, None, None),)
    chronicle = Chronicle("c", "g", GroupKind.CLASSIC, 0, 9, points=points, phases=begun)
    sentences = [words[each] for each in expected]
    assert [each.sentence for each in story_of(chronicle).happened] == sentences
    assert [line.sentence for line in report_of(chronicle, 9, 1).timeline] == sentences


def test_of_a_group_that_was_not_there_nothing_is_told():
    assert tell_story(HISTORY, "c", "g", START, START + 4_000) is None
    assert tell_story(HISTORY, "c", "other", START, START + 290_000) is None


def test_what_is_not_recorded_yet_is_not_told():
    """The newest portion was recorded at the end of the fifth minute."""
    assert story(200, 1_000).until_ms == START + 300_000
    with pytest.raises(RecordingError, match="The recording of cluster c reaches until 2026-11-22 02:19:00 UTC"):
        story(301, 400)
    with pytest.raises(RecordingError, match="reaches until"):
        inputs_at(HISTORY, "c", "g", START + 301_000)


def test_how_the_lag_went_is_a_sentence():
    lags = (None, 7, 1200, 1)
    assert lag_range(lags, "record") == "The lag was 7 records at first, at most 1,200 records, and 1 record at last."
    assert lag_range(lags[:1], "record") is None


# --- after a stop of the job ------------------------------------------------------------------------------------------


def test_a_backlog_that_was_read_in_several_portions_is_told_in_the_order_of_time():
    """The first portion has what a collector just saw, the second what happened long before."""
    late = [joined(5, 1, {"a": [0], "b": [1]}), commit(290, 0, 200)]
    rows = [each for each in HISTORY.every_row if each.entity is not Entity.GROUP]
    backlog = [
        RecordedRow(START + 300_000, Entity.GROUP, "g", 1, encode_events(late)),
        RecordedRow(START + 310_000, Entity.GROUP, "g", 2, encode_events([joined(100, 2, {"a": [0, 1]})])),
    ]
    recording = MemoryRecording([*rows, *backlog])
    walk = GroupWalk(recording, "c", "g", START, START + 295_000)
    instants = [START + second * 1_000 for second in (50, 99, 100, 150, 295)]
    walked = [walk.inputs_at(at_ms) for at_ms in instants]
    assert [each and each.group.generation for each in walked] == [1, 1, 2, 2, 2]
    assert walked == [inputs_at(recording, "c", "g", at_ms) for at_ms in instants]


def test_a_time_without_any_record_is_said_not_to_be_recorded_in_a_story_and_in_a_report():
    """The job was off from 300 to 900: no row of any kind after 295 s. A span within that time has nothing at all."""
    made = Made(1_200)
    made.poll()
    made.assign(5, 1, {"a": [0], "b": [1]})
    made.commits(range(10, 1_201, 5), 0, 1)
    rows = [each for each in made.recording().every_row if not ms(300) < each.recorded_ms <= ms(900)]
    found = tell_story(MemoryRecording(rows), "c", "g", ms(10), ms(1_190))
    assert found is not None
    assert missing_sentences(found) == [
        "Nothing of the group is recorded from 2026-11-22 02:18:50 UTC to 2026-11-22 02:29:00 UTC."
    ]
    within = tell_story(MemoryRecording(rows), "c", "g", ms(400), ms(800))
    assert within is not None
    assert missing_sentences(within) == [
        "Nothing of the group is recorded from 2026-11-22 02:20:40 UTC to 2026-11-22 02:27:20 UTC."
    ]
    report = group_report(MemoryRecording(rows), "c", "g", ms(400), ms(800))
    assert report is not None
    assert report.summary[0].startswith("No event of group g is recorded. Nothing of it is recorded from 02:20:40")


def test_the_lag_is_unknown_while_no_collector_polls():
    """The last poll is that of second 110: two minutes later, nothing is known of the ends any more."""
    rows = [each for second in range(0, 120, 10) for each in seen(second, 100 + second, partitions=1)]
    own = [row(Entity.GROUP, "g", 5, [joined(5, 1, {"a": [0]})])]
    own += [row(Entity.GROUP, "g", second, [commit(second, 0, 100)]) for second in range(10, 300, 10)]
    found = tell_story(MemoryRecording([*rows, *own]), "c", "g", START, START + 290_000)
    assert found is not None
    lags = {(point.at_ms - START) // 1_000: point.lag for point in found.lag}
    assert (lags[100], lags[230], lags[240], lags[290]) == (100, 110, None, None)

"""Records that a commit passed and the group did not read.

Whole stories are folded from the log of the group and from polls of its topic.

Times are in seconds. A consumer reads t-0, which the collector polls every second.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.detection import DetectionSettings, evaluate
from monitor.model import (
    FindingKind,
    GroupState,
    GroupVerdict,
    MembershipStored,
    OffsetCommitted,
    OffsetDeleted,
    OffsetsListed,
    PartitionObserved,
    PassHistory,
    TopicObserved,
    TopicState,
)
from monitor.model.events import ListedOffset
from monitor.model.jumps import SkipCause
from monitor.tracking.group import fold_group
from monitor.tracking.topic import catalog_of, fold_topic
from tests.support.builders import member

NEW, PERHAPS, LOST = "new_partition", "perhaps", "retention"


@dataclass
class Story:
    """A group and its topic as their events come. ``commit_silence_s`` is longer than any story."""

    group: GroupState | None = None
    topic: TopicState | None = None
    generation: int = 0
    now_s: float = 0
    logs: dict[int, tuple[int, int]] = field(default_factory=lambda: {0: (0, 0)})

    def at(self, second: float) -> Story:
        self.now_s = second
        return self

    def poll(self, *, start: int = 0, end: int, partition: int = 0) -> Story:
        """The log is seen to begin and to end there."""
        self.logs[partition] = (start, end)
        observed = tuple(PartitionObserved(number, *self.logs[number]) for number in sorted(self.logs))
        event = TopicObserved("c", "t", self._ms, self._ms, partitions=observed)
        self.topic = fold_topic("c", "t", self.topic, [event])
        return self

    def join(self, *members: str) -> Story:
        """A generation with these members, the first of which has all partitions; none: the group is empty."""
        self.generation += 1
        has = {"t": sorted(self.logs)}
        who = [member(name, ("t",), has if name == members[0] else {}) for name in members]
        kind = {"protocol_type": "consumer", "protocol": "range" if members else None}
        event = MembershipStored(
            "g", self.generation, leader=members[0] if members else None, stored_ms=self._ms, members=tuple(who), **kind
        )
        self.group = fold_group("c", "g", self.group, [event])
        return self

    def commit(self, offset: int, *, partition: int = 0) -> Story:
        event = OffsetCommitted("g", "t", partition, offset, self._ms)
        self.group = fold_group("c", "g", self.group, [event])
        return self

    def delete(self) -> Story:
        """The offset of t-0 is deleted."""
        self.group = fold_group("c", "g", self.group, [OffsetDeleted("g", "t", 0)])
        return self

    def answer(self, offset: int) -> Story:
        """The broker says that this is committed."""
        event = OffsetsListed("c", "g", self._ms, (ListedOffset("t", 0, offset),))
        self.group = fold_group("c", "g", self.group, [event])
        return self

    @property
    def verdict(self) -> GroupVerdict:
        assert self.group is not None
        assert self.topic is not None
        topics = catalog_of("c", self.topic.pass_ms, [self.topic], PassHistory(first_ms=1))
        return evaluate(self.group, topics, self._ms, DetectionSettings(commit_silence_ms=10**9))

    @property
    def found(self) -> list[str]:
        """The reasons of the findings about skipped records."""
        return [each.reason for each in self.verdict.findings if each.kind is FindingKind.SKIPPED]

    @property
    def bounds(self) -> list[tuple[int, int]]:
        return [(skip.at_least, skip.at_most) for skip in self.verdict.skips]

    @property
    def _ms(self) -> int:
        return round(self.now_s * 1000) + 1_000_000


def slow_reader(*, end: int = 20_000, until_s: int = 60, per_s: int = 10) -> Story:
    """Reads that many records a second and commits each second, while 20,000 wait: at second 60 it has 600."""
    story = Story().at(0).poll(end=end).join("A").commit(0)
    for second in range(1, until_s + 1):
        story.at(second).poll(end=end).commit(per_s * second)
    return story


def overtaken() -> Story:
    """Records 600 to 4,999 are removed at second 60.5; the consumer goes on as slowly from 5,000."""
    return slow_reader().at(61).commit(5_010).at(61.5).poll(start=5_000, end=20_000).at(62).commit(5_020)


# --- what is found ----------------------------------------------------------------------------------------------------


def test_retention_that_overtakes_a_living_consumer_is_told_with_close_bounds():
    """Records 600 to 4,999 are removed at second 60.5; the consumer continues at 5,000 and has read 10 by second 61."""
    story = overtaken()
    assert story.found == [LOST]
    ((least, most),) = story.bounds
    assert least <= 4_400 <= most
    assert most - least == 160, "ten times 16 records a second, for a second"
    assert "At least 4,250 and at most 4,410 records were not read." in story.verdict.findings[0].sentence


def test_it_is_told_for_an_hour_and_whatever_is_committed_meanwhile():
    story = overtaken()
    for minute in range(2, 60):
        story.at(60 * minute).poll(start=5_000, end=20_000 + minute).commit(5_010 + 600 * minute)
    assert story.found == [LOST]
    assert story.at(61 + 3_600).found == [LOST]
    assert story.at(61 + 3_600.001).found == []


def test_a_new_owner_that_begins_at_the_end_is_told_as_unknown_however_slow_the_group_was():
    """At second 70, B has begun at the end, 20,000, and commits that a second later. Or it reads far faster than A."""
    story = slow_reader().at(65).join().at(70).join("B").at(71).poll(end=20_000).commit(20_000)
    assert story.found == [PERHAPS]
    assert story.bounds == [(0, 19_400)]
    assert [skip.cause for skip in story.verdict.skips] == [SkipCause.REBALANCE]


def test_what_a_group_that_had_read_everything_passes_is_told_as_unknown():
    """It reads ten records a second because no more are written: how fast it can read is not known."""
    story = Story().at(0).poll(end=0).join("A").commit(0)
    for second in range(1, 61):
        story.at(second).poll(end=10 * second).commit(10 * second)
    story.at(65).join().at(300).poll(end=3_000).at(301).join("B").at(305).poll(end=3_040).commit(3_040)
    assert story.found == [PERHAPS]
    assert story.bounds == [(0, 2_440)]
    assert story.verdict.findings[0].sentence.startswith(
        "After a rebalance, the first commits in 1 partition of t (0) passed 2,440 records at once."
    )


def test_records_of_a_new_partition_are_told_as_unknown():
    """t-1 comes at second 70; 1,200 records are written before the group has it, and its first commit is 1,200."""
    story = slow_reader(end=600).at(70).poll(end=600, partition=0).poll(end=1_200, partition=1)
    story.at(72).join("A", "B").at(77).commit(1_200, partition=1)
    assert story.found == [NEW]
    assert story.bounds == [(0, 1_200)]


def test_a_partition_is_also_new_to_a_group_that_repeats_its_commits_twice_a_second():
    """Its newest ten commits of t-0 are all from after the rebalance, but the first of that offset is from before."""
    story = Story().poll(end=4).at(1).join("A")
    for half_seconds in range(4, 24):
        story.at(half_seconds / 2).commit(4)
        if half_seconds == 8:
            story.poll(end=4).poll(end=2_800, partition=1).join("A", "B")
    story.commit(2_800, partition=1)
    assert story.found == [NEW]
    assert story.bounds == [(0, 2_800)]


def deleted_while_empty(*, restart_at: float = 70) -> Story:
    """At 600 of 20,000, the group is empty and its offset is deleted; then B has the partition."""
    return slow_reader().at(65).join().at(67).delete().at(restart_at).join("B")


def test_what_a_group_passes_whose_offset_was_deleted_is_told_as_unknown_with_that_cause():
    story = deleted_while_empty().at(71).poll(end=20_000).commit(20_000)
    assert story.found == [PERHAPS]
    assert story.bounds == [(0, 19_400)]
    assert [skip.cause for skip in story.verdict.skips] == [SkipCause.DELETED]
    assert story.verdict.findings[0].sentence.endswith(
        "In partition 0 of t, the committed offset went from 600 to 20,000. The offsets of 1 partition of t (0) had "
        "been deleted before, or had expired: auto.offset.reset decided where the group began."
    )


def test_retention_is_not_accused_where_the_offset_had_been_deleted():
    """From 5,000 on, the records are there; without an offset, the group may have begun at the end or there."""
    story = deleted_while_empty().at(71).poll(start=5_000, end=20_000).commit(20_000)
    assert story.found == [PERHAPS]
    assert story.bounds == [(0, 19_400)]


@given(st.integers(1, 200), st.integers(100, 15_000), st.floats(0.2, 5), st.integers(0, 50))
def test_the_truth_is_within_the_bounds(per_s, removed, away_s, read):
    """Whoever reads at most twice as fast as before, whatever retention removes."""
    story = slow_reader(per_s=per_s, end=60_000)
    committed = 60 * per_s
    begin = committed + removed
    story.at(60 + away_s).commit(begin + min(read, int(per_s * away_s)))
    story.at(60.5 + away_s).poll(start=begin, end=60_000).at(62 + away_s).commit(begin + 50 + per_s)
    for least, most in story.bounds:
        assert least <= removed <= most


def test_what_retention_removed_is_information_until_the_next_commit_shows_that_the_group_is_as_slow_as_before():
    story = slow_reader().at(61).commit(5_010).at(61.5).poll(start=5_000, end=20_000)
    assert (story.found, story.bounds) == ([PERHAPS], [(0, 4_410)])
    assert story.verdict.findings[0].sentence == (
        "Retention removed records in 1 partition of t (0) before the group committed them. The group had read them, "
        "or missed up to 4,410 records: commits do not tell. In partition 0 of t, the committed offset went from 600 "
        "to 5,010."
    )
    assert story.at(62).commit(5_020).found == [LOST]


def test_a_few_hundred_records_that_retention_removed_are_information():
    """In a second it may have read 160 of them, and so it may have read all."""
    story = slow_reader().at(61).commit(750).at(61.5).poll(start=740, end=20_000).at(62).commit(760)
    assert (story.found, story.bounds) == ([PERHAPS], [(0, 150)])


def test_a_loss_of_a_hundred_records_is_seen_of_a_consumer_that_commits_twice_a_second():
    """It reads 20 records a second. 120 are removed at second 30.2, of which none was read."""
    story = Story().at(0).poll(end=9_000).join("A").commit(0)
    for half in range(1, 61):
        story.at(half / 2).poll(end=9_000).commit(10 * half)
    story.at(30.5).commit(730).at(31).poll(start=720, end=9_000).commit(740)
    assert (story.found, story.bounds) == ([PERHAPS], [(0, 130)])


def test_a_consumer_that_retention_overtakes_a_little_and_that_continues_at_the_end_is_told():
    """At 600 of 2,000, records up to 649 are removed: it begins at the end, and nobody was exchanged."""
    story = slow_reader(end=2_000).at(61).commit(2_000).at(61.5).poll(start=650, end=2_000)
    assert (story.found, story.bounds) == ([PERHAPS], [(0, 1_400)])
    within = slow_reader(end=2_000).at(61).commit(1_990).at(61.5).poll(start=650, end=2_000)
    assert (within.found, within.bounds) == ([], []), "it has read what was left"


def test_fewer_than_a_thousand_records_after_a_restart_are_no_finding_and_remain_known():
    """B begins at the end, which is 700 records further; or it reads them at once, as most that restart do."""
    story = slow_reader(end=600).at(65).join().at(100).poll(end=1_300).join("B").at(101).commit(1_300)
    assert story.found == []
    assert story.bounds == [(0, 700)]


def test_a_restart_at_the_end_is_told_although_a_burst_was_larger():
    """It reads 8,000 records at once, and goes on slowly. Later it begins anew, 1,400 further, at the end."""
    story = slow_reader(end=8_600).at(61).commit(8_600)
    for second in range(62, 80):
        story.at(second).poll(end=8_600 + 10 * (second - 61)).commit(8_600 + 10 * (second - 61))
    assert story.found == []
    story.at(85).join().at(300).poll(end=10_180).at(301).join("B").at(302).commit(10_180)
    assert (story.found, story.bounds) == ([PERHAPS], [(0, 1_400)])


def test_both_are_told_of_a_group_that_retention_overtakes_twice():
    story = overtaken()
    for second in range(63, 90):
        story.at(second).poll(start=5_000, end=20_000).commit(5_020 + 10 * (second - 62))
    story.at(90).commit(7_010).at(90.5).poll(start=7_000, end=20_000).at(91).commit(7_020)
    assert story.found == [LOST]
    assert story.bounds == [(4_250, 4_410), (1_560, 1_720)]
    assert "At least 5,810 and at most 6,130 records were not read." in story.verdict.findings[0].sentence
    for second, offset in enumerate(range(6_000, 7_200, 90), 100):
        story.at(second).commit(offset)
    assert story.bounds == [(3_130, 4_410)], "the second are read after all, at 90 a second: ten times 128 may be read"
    assert story.at(130).commit(600).at(131).commit(690).found == []


# --- what is not ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(slow_reader().at(61).commit(610), id="it reads on"),
        pytest.param(slow_reader().at(61).commit(699), id="89 records at once"),
        pytest.param(slow_reader().at(61).commit(20_000).at(62).poll(end=20_000), id="the application seeks"),
        pytest.param(slow_reader().at(65).join().at(70).commit(20_000), id="an administrator resets an empty group"),
        pytest.param(
            slow_reader().at(65).join().at(70).join("B").at(71).commit(15_000), id="a new owner reads faster than ever"
        ),
        pytest.param(
            slow_reader().at(65).join().at(70).join("B").at(71).commit(20_000).at(72).commit(600),
            id="the group goes back",
        ),
        pytest.param(
            deleted_while_empty().at(71).commit(15_000), id="its offset was deleted, and it begins within the log"
        ),
        pytest.param(deleted_while_empty().at(71).commit(500), id="its offset was deleted, and it reads again"),
        pytest.param(
            slow_reader().at(65).join().at(67).delete().at(68).commit(20_000).at(70).join("B").at(71).commit(20_000),
            id="its offset was deleted, and an administrator sets it",
        ),
        pytest.param(
            Story()
            .at(0)
            .join("A")
            .commit(600)
            .at(65)
            .join()
            .at(67)
            .delete()
            .at(69)
            .poll(end=20_000)
            .at(70)
            .join("B")
            .at(71)
            .commit(20_000),
            id="its offset was deleted, and the topic was seen after that only",
        ),
        pytest.param(slow_reader().at(67).delete().at(68).commit(20_000), id="its offset was deleted as it reads"),
        pytest.param(
            slow_reader().at(65).join().at(70).join("B").at(71).commit(20_000).at(80).answer(600),
            id="the transaction of the commit was aborted",
        ),
        pytest.param(
            Story().at(0).poll(end=900_000).join("A").at(5).commit(900_000), id="a new group begins at the end"
        ),
        pytest.param(
            slow_reader().at(61).join("A", "B").at(62).commit(620),
            id="a rebalance that leaves the partition where it is",
        ),
        pytest.param(
            slow_reader().at(61).commit(700).at(500).poll(start=650, end=20_000), id="retention comes long after"
        ),
    ],
)
def test_nothing_is_told_where_nothing_was_skipped(story):
    assert story.found == []


def test_a_group_that_was_seen_to_read_fast_is_not_accused():
    """For some seconds it read 2,000 records a second; then it lags at ten, and a cut passes it by 2,000."""
    story = Story().at(0).poll(end=20_000).join("A").commit(0)
    for second in range(1, 6):
        story.at(second).poll(end=40_000).commit(2_000 * second)
    for second in range(6, 61):
        story.at(second).poll(end=40_000).commit(10_000 + 10 * second)
    story.at(61).commit(12_600).at(61.5).poll(start=12_500, end=40_000)
    assert (story.found, story.bounds) == ([PERHAPS], [(0, 2_000)])


@pytest.mark.parametrize(
    ("end", "later"),
    [
        pytest.param(5_010, [], id="it has reached the end"),
        pytest.param(5_010, [5_020, 5_030], id="it has reached the end, and follows the producers"),
        pytest.param(20_000, [], id="whether it goes on so fast is not known yet"),
        pytest.param(20_000, [9_000, 13_000], id="it goes on so fast"),
    ],
)
def test_a_group_that_catches_up_is_not_accused_where_retention_follows_right_behind_it(end, later):
    """From second 60 on it reads 4,410 records in a second, and retention removes them before that is committed."""
    story = slow_reader(end=end).at(61).commit(5_010).at(61.5).poll(start=5_000, end=end)
    for second, offset in enumerate(later, 62):
        story.at(second).poll(start=5_000, end=max(end, offset)).commit(offset)
    assert LOST not in story.found
    assert [least for least, _ in story.bounds] == [0]


def test_a_group_is_not_accused_that_reads_what_is_left_faster_than_it_was_thought_to():
    """The commit passes 9,000 records that are still there: so fast it may have read those that are removed, too."""
    story = slow_reader().at(61).commit(14_000).at(61.5).poll(start=5_000, end=20_000).at(62).commit(14_010)
    assert (story.found, story.bounds) == ([PERHAPS], [(0, 13_400)])


def test_retention_that_comes_after_a_fast_commit_is_not_its_cause():
    """It reads 4,400 records in a second, from second 60 on; a poll still sees them, and then they are removed."""
    story = slow_reader().at(61).commit(5_010).at(62).poll(end=20_000).at(85).poll(start=5_000, end=20_000)
    assert story.found == []
    after_a_restart = slow_reader().at(65).join().at(70).join("B").at(71).commit(20_000).at(72).poll(end=20_000)
    assert after_a_restart.at(85).poll(start=19_000, end=20_000).found == [PERHAPS]


def test_what_a_group_reads_after_all_stays_read():
    """It goes back to 600 and reads everything; later it is restarted and redelivers five records."""
    story = overtaken()
    assert story.found == [LOST]
    story.at(70).commit(600).at(75).commit(5_500).at(80).commit(5_495)
    assert story.found == []

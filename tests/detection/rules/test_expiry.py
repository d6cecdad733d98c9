"""Committed offsets that expire: when they are due, what is told before, and what stays afterwards.

Whole stories are folded from the log of the group. The rules are those of Kafka's coordinator
(``ClassicGroup.offsetExpirationCondition``, ``OffsetMetadataManager.cleanupExpiredOffsets``). Times are in hours; the
brokers keep offsets for 100 hours and look for expired ones each half hour.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.kinds.offset_expiry import is_forgotten, is_shown
from monitor.model import (
    EpochStored,
    FindingKind,
    GroupDeleted,
    GroupEvent,
    GroupKind,
    GroupState,
    GroupVerdict,
    MemberRemoved,
    MembershipStored,
    MemberStored,
    OffsetCommitted,
    OffsetDeleted,
    OffsetsListed,
    PartitionObserved,
    PassCompleted,
    PassHistory,
    PendingOffsets,
    Phase,
    RebalanceSampled,
    TargetEpochStored,
    TopicObserved,
    TopicPartitions,
    TopicState,
)
from monitor.model.expiry import DeletedOffset, FormerRetention, OffsetsRetention, has_expired
from monitor.tracking.cluster_fold import ClusterFold
from monitor.tracking.group import fold_group
from monitor.tracking.topic import catalog_of, fold_topic
from tests.support.builders import member

HOUR = 3_600_000
MINUTE = 60_000
BEGIN = 1_000 * HOUR
RETENTION = OffsetsRetention(100 * HOUR, HOUR // 2)
REFUSED = OffsetsRetention(None)


@dataclass
class Story:
    """Group "g" with committed offset 10 in t-0; the topics t and u end at 60."""

    retention: OffsetsRetention | None = RETENTION
    group: GroupState | None = None
    now_h: float = 0
    topics: dict[str, TopicState | None] = field(default_factory=lambda: {"t": None, "u": None})

    def __post_init__(self) -> None:
        for topic in self.topics:
            self.topics[topic] = self._polled(topic)

    def at(self, hour: float) -> Story:
        self.now_h = hour
        return self

    def take(self, *events: GroupEvent) -> Story:
        self.group = fold_group("c", "g", self.group, events)
        return self

    def join(self, *topics: str, state: bool = True, protocol_type: str = "consumer") -> Story:
        """A generation of one member that subscribes to these topics; none: the group becomes empty."""
        members = (member("A", topics, {topics[0]: [0]}),) if topics else ()
        generation = 1 + (0 if self.group is None else self.group.generation)
        protocol = "range" if topics else None
        at_ms = self.ms if state else None
        return self.take(
            MembershipStored("g", generation, protocol_type, protocol, "A" if topics else None, self.ms, members, at_ms)
        )

    def commit(self, offset: int = 10, *, topic: str = "t", expires_h: float | None = None) -> Story:
        expires_ms = None if expires_h is None else BEGIN + round(expires_h * HOUR)
        return self.take(OffsetCommitted("g", topic, 0, offset, self.ms, expires_ms=expires_ms))

    def delete(self, topic: str = "t") -> Story:
        return self.take(OffsetDeleted("g", topic, 0, self.ms))

    def delete_group(self) -> Story:
        return self.take(GroupDeleted("g", self.ms))

    def poll(self, end: int, topic: str = "t", topic_id: str = "id") -> Story:
        self.topics[topic] = self._polled(topic, end, topic_id)
        return self

    def _polled(self, topic: str, end: int = 60, topic_id: str = "id") -> TopicState | None:
        seen = TopicObserved("c", topic, self.ms, self.ms, (PartitionObserved(0, 0, end),), topic_id)
        return fold_topic("c", topic, self.topics[topic], [seen])

    @property
    def ms(self) -> int:
        return BEGIN + round(self.now_h * HOUR)

    @property
    def verdict(self) -> GroupVerdict:
        assert self.group is not None
        known = [topic for topic in self.topics.values() if topic is not None]
        topics = catalog_of(
            "c", max(each.pass_ms for each in known), known, PassHistory(first_ms=BEGIN), self.retention
        )
        return evaluate(self.group, topics, self.ms, DetectionSettings())

    @property
    def found(self) -> list[str]:
        """The reasons of the findings about expiring offsets."""
        return [each.reason for each in self.verdict.findings if each.kind is FindingKind.OFFSETS]

    @property
    def due_h(self) -> float | None:
        """When the first offset expires."""
        due_ms = self.verdict.offsets_expire_ms
        return None if due_ms is None else (due_ms - BEGIN) / HOUR


def modern(story: Story, *topics: str) -> Story:
    """A KIP-848 group with one member that subscribes to these topics; none: it leaves."""
    epoch = 1 + (0 if story.group is None else story.group.generation)
    if topics:
        own: Any = member("A", topics)
        story.take(MemberStored("g", GroupKind.CONSUMER, own, story.ms))
    else:
        story.take(MemberRemoved("g", GroupKind.CONSUMER, "A", story.ms))
    return story.take(
        EpochStored("g", GroupKind.CONSUMER, epoch, story.ms),
        TargetEpochStored("g", GroupKind.CONSUMER, epoch, story.ms),
    )


# --- when offsets are due ---------------------------------------------------------------------------------------------


def test_a_those_of_a_classic_group_without_members_are_due_from_when_it_became_empty():
    assert Story().join("t").at(5).commit().at(30).join().due_h == 130
    assert Story().join("t").at(5).commit().at(30).join(state=False).due_h == 105, "the broker wrote no such time"


def test_a_reset_of_the_offsets_of_an_empty_group_does_not_keep_them_longer():
    assert Story().join("t").commit().at(30).join().at(90).commit(20).due_h == 130


def test_b_a_living_group_keeps_those_of_topics_that_it_subscribes_to():
    both = Story().join("t", "u").at(5).commit().commit(topic="u")
    assert both.due_h is None
    assert both.at(40).join("t").due_h == 105, "of u, to which nobody subscribes any more"


def test_b_groups_that_are_no_consumers_keep_theirs_while_they_live():
    assert Story().join("u", protocol_type="other").commit().due_h is None


def test_b_nothing_expires_while_the_group_rebalances():
    story = Story().join("t").commit().at(30).join()
    seen = RebalanceSampled("c", "g", "PreparingRebalance", story.ms + 2_000, story.ms + 2_000)
    assert story.take(seen).due_h is None
    assert story.at(31).due_h == 130, "nobody has said so for an hour"


def test_c_those_of_a_group_without_a_protocol_are_due_from_each_commit():
    alone = Story().commit().at(20).commit(topic="u")
    assert alone.due_h == 100
    assert alone.at(30).commit(11).due_h == 120


def test_d_an_expiry_that_the_client_asked_for_wins():
    assert Story().commit(expires_h=8).due_h == 8
    assert Story().commit(expires_h=800).due_h == 800
    assert Story().commit(expires_h=8).at(1).commit().due_h == 101, "the next commit asked for none"
    assert Story(REFUSED).commit(expires_h=8).due_h == 8, "the brokers' retention does not matter"


def test_e_a_pending_offset_in_a_transaction_keeps_the_one_before():
    alone = Story().commit()
    pending = PendingOffsets((TopicPartitions("t", (0,)),), 0, 7, 1, 0, alone.ms)
    listed = OffsetsListed("c", "g", alone.ms, (), pending=(pending,))
    assert alone.take(listed).due_h is None
    assert alone.commit(topic="u").due_h == 100


def test_those_of_kip_848_groups_are_due_from_their_commits_also_without_members():
    living = modern(Story(), "t").at(5).commit()
    assert living.due_h is None
    assert modern(living.at(300)).due_h == 105, "long ago: they go as soon as the last member leaves"


def test_nothing_is_forecast_where_the_brokers_do_not_return_their_retention():
    for retention in (None, REFUSED):
        assert Story(retention).join("t").commit().at(30).join().due_h is None


# --- before -----------------------------------------------------------------------------------------------------------


def left() -> Story:
    """It committed 10 of 60 records at hour 5, and is without members since hour 30."""
    return Story().join("t").at(5).commit().at(30).join()


def test_it_is_forecast_a_day_before_until_the_broker_had_two_chances():
    told = left()
    assert [told.at(hour).found for hour in (105.9, 106.1, 129.9, 130.9)] == [[], ["expire"], ["expire"], ["expire"]]
    assert told.at(131.2).found == [], "the broker does not delete them, so groupwatch does not know why"


def test_a_shorter_retention_is_forecast_for_its_last_quarter():
    told = left()
    told.retention = OffsetsRetention(20 * HOUR, HOUR // 2)
    assert [told.at(hour).found for hour in (44.9, 45.1)] == [[], ["expire"]]


def test_a_group_without_lag_has_nothing_to_lose_until_records_come():
    told = Story().join("t").at(5).commit(60).at(30).join().at(120)
    assert told.found == []
    assert told.poll(61).found == ["expire"]


def test_of_topics_that_a_living_group_has_left_it_is_information():
    told = Story().join("t", "u").at(5).commit().commit(topic="u").at(40).join("t")
    assert told.at(90).found == ["unsubscribed"]
    assert [each.partitions[0].topic for each in told.verdict.findings if each.kind is FindingKind.OFFSETS] == ["u"]


# --- afterwards -------------------------------------------------------------------------------------------------------


def expired() -> Story:
    """The broker looked for expired offsets at hour 130.4; the group went with its offsets."""
    return left().at(130.4).delete().delete_group()


def test_what_has_expired_stays_when_the_group_is_gone():
    told = expired()
    assert told.group is not None
    assert told.found == ["expired"]
    assert told.verdict.state is Phase.GONE
    (row,) = told.verdict.expired_offsets
    assert (row.topic, row.partition, row.offset, row.lag, row.is_certain) == ("t", 0, 10, 50, True)
    assert (row.committed_ms, row.deleted_ms) == (BEGIN + 5 * HOUR, BEGIN + 130.4 * HOUR)
    (finding,) = told.verdict.findings
    assert finding.since_ms == row.deleted_ms


def test_it_is_told_for_seven_days_and_then_forgotten():
    told = expired()
    assert told.group is not None
    for hour, is_told in ((130.4 + 167.9, True), (130.4 + 168.1, False)):
        told.at(hour)
        assert bool(told.found) is is_told
        assert is_shown(told.group, RETENTION, told.ms) is is_told
        assert is_forgotten(told.group, told.ms) is not is_told


def test_it_ends_with_the_next_commit_of_the_partition():
    assert expired().at(140).commit(60).found == []
    assert expired().at(140).join("t").found == ["expired"], "it lives, and may have begun anywhere"
    assert expired().at(140).commit(60, topic="u").found == ["removed"], "it reads another topic now"


def test_each_partition_ends_by_itself():
    alone = Story().commit().commit(20, topic="u").at(100.2).delete("t").delete("u").delete_group()
    assert [(row.topic, row.lag) for row in alone.verdict.expired_offsets] == [("t", 50), ("u", 40)]
    assert [row.topic for row in alone.at(101).commit(topic="u").verdict.expired_offsets] == ["t"]


def test_a_deletion_before_they_were_due_is_no_expiry_and_the_group_is_not_shown():
    told = left().at(120).delete().delete_group()
    assert told.group is not None
    assert told.found == []
    assert not is_shown(told.group, RETENTION, told.ms)


@pytest.mark.parametrize(("deleted_h", "expected"), [(7.9, []), (8.1, ["expired"])])
def test_an_expiry_that_the_client_asked_for_decides_afterwards_too(deleted_h: float, expected: list[str]):
    assert Story().commit(expires_h=8).at(deleted_h).delete().found == expected


def test_without_the_retention_it_expired_or_was_deleted():
    refused = left().at(120).delete().delete_group()
    refused.retention = REFUSED
    assert refused.group is not None
    assert refused.found == ["removed"]
    assert is_shown(refused.group, REFUSED, refused.ms)
    refused.retention = None
    assert refused.found == [], "an older collector, or a recording of one: nothing is told"
    assert not is_shown(refused.group, None, refused.ms)


@pytest.mark.parametrize("kind", [GroupKind.CONSUMER, GroupKind.STREAMS])
def test_a_group_that_is_gone_has_the_kind_that_it_had(kind: GroupKind):
    """Its offsets go first. A group of that name that comes later is what it is."""
    story = Story().commit()
    story.take(EpochStored("g", kind, 1, story.ms), TargetEpochStored("g", kind, 1, story.ms))
    gone = (
        story.at(100.2).delete().take(TargetEpochStored("g", kind, None, story.ms), GroupDeleted("g", story.ms, kind))
    )
    assert gone.found == ["expired"]
    assert (gone.verdict.state, gone.verdict.kind) == (Phase.GONE, kind)
    later = gone.at(101).commit(20, topic="u")
    assert (later.verdict.state, later.verdict.kind) == (Phase.OFFSETS_ONLY, GroupKind.CLASSIC)


def test_a_deletion_is_judged_by_the_retention_of_its_time():
    """The brokers kept offsets for 100 hours until hour 150, and then for 50; it was empty since hour 30."""
    shorter = OffsetsRetention(50 * HOUR, HOUR // 2, (FormerRetention(100 * HOUR, BEGIN + 150 * HOUR),))
    early = left().at(120).delete().delete_group()
    early.retention = shorter
    assert early.group is not None
    assert early.at(160).found == []
    assert not is_shown(early.group, shorter, early.ms)
    for story in (expired(), left().at(150.2).delete().delete_group()):
        story.retention = shorter
        assert story.at(160).found == ["expired"]


def passed(hour: float, retention: OffsetsRetention | None) -> PassCompleted:
    at_ms = BEGIN + round(hour * HOUR)
    return PassCompleted("c", at_ms, at_ms, 0, offsets_retention=retention)


def test_retentions_that_the_brokers_had_are_known_for_a_week_after_the_last_pass_with_them():
    fold = ClusterFold("c")
    day, week = OffsetsRetention(24 * HOUR), OffsetsRetention(168 * HOUR)
    for hour, retention in ((0, week), (1, week), (2, day), (3, None), (4, REFUSED), (5, day)):
        fold.take_pass(passed(hour, retention))
    retained = fold.catalog().offsets_retention
    assert retained is not None
    until_ms = BEGIN + HOUR - 5 * MINUTE
    assert retained.former[0] == FormerRetention(168 * HOUR, until_ms), "a pass may have settings of five minutes ago"
    assert [retained.at(ms) for ms in (until_ms - 1, until_ms)] == [168 * HOUR, 24 * HOUR]
    fold.take_pass(passed(180, day))
    retained = fold.catalog().offsets_retention
    assert retained is not None
    assert retained.at(BEGIN) == 24 * HOUR


def test_without_lag_nothing_is_told_and_with_the_first_record_it_is():
    told = Story().commit(60).at(100.2).delete().delete_group()
    assert told.found == []
    assert told.poll(61).found == ["expired"]


def test_what_went_with_its_topic_is_no_expiry():
    gone = expired()
    gone.topics = {"u": gone.topics["u"]}
    assert gone.found == []
    assert expired().at(131).poll(3, topic_id="another").found == [], "a topic of that name was made since"


def test_a_member_protects_its_topics_so_what_is_deleted_there_went_with_the_topic():
    living = Story().join("t").commit().at(200).delete()
    assert living.group is not None
    assert [each.kept_since_ms for each in living.group.deleted_offsets] == [None]
    assert living.found == []
    assert living.found == []


def test_a_commit_of_minus_one_deletes_nothing():
    assert Story().commit().at(200).take(OffsetDeleted("g", "t", 0)).group is None


def test_what_the_broker_says_counts_for_the_last_offset():
    """The newest commit, of 20, was in a transaction that was aborted."""
    story = Story().commit().at(1).commit(20)
    assert story.group is not None
    listed = tuple(replace(each, listed=10, listed_ms=story.ms + HOUR) for each in story.group.offsets)
    story.group = replace(story.group, offsets=listed)
    (row,) = story.at(101.2).delete().verdict.expired_offsets
    assert row.offset == 10


def test_a_topic_that_a_living_group_has_turned_away_from_is_information():
    """A deployment for another topic, or an application that assigns its partitions itself and has left one."""
    deployed = Story().join("t").at(5).commit().at(30).join().at(131).delete().at(132).join("u").at(290)
    assert deployed.found == ["removed"]
    left = Story().commit().at(89).commit(topic="u")
    assert left.found == ["unsubscribed"]
    assert left.at(101).delete().found == ["removed"]


def test_what_only_a_subscription_kept_may_have_been_deleted_when_the_last_member_left():
    """KIP-848: it counts from the commit, so it is due as soon as the group is empty."""
    state = Story().join("t").commit().at(150).join().group
    assert state is not None
    kept_ms, emptied_ms = state.offsets[0].committed_ms, state.phase_ms
    deleted = DeletedOffset("t", 0, 10, kept_ms, kept_ms, emptied_ms + 360_000, emptied_ms=emptied_ms)
    assert has_expired(deleted, RETENTION) is None
    assert has_expired(replace(deleted, emptied_ms=kept_ms), RETENTION) is True

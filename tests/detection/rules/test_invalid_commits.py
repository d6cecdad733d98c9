"""Commits of offsets below 0. Times are in hours, as in test_expiry."""

from __future__ import annotations

import pytest

from monitor.detection.catalog_inputs import concerns_of
from monitor.detection.evaluation_input import GroupInputs, only_concerned
from monitor.detection.ownership.assignment_view import view_assignment
from monitor.detection.ownership.catalog_view import Topics
from monitor.history.replay import topics_of
from monitor.model import Catalog, FindingKind, GroupObserved, GroupVerdict, InvalidOffsetCommitted, ObservedOffset
from monitor.model.kinds import GroupKind, Source
from monitor.tracking.topic import catalog_of
from tests.detection.rules.test_expiry import BEGIN, HOUR, Story


def below(story: Story, offset: int = -1, *, topic: str = "t") -> Story:
    return story.take(InvalidOffsetCommitted("g", topic, 0, offset, story.ms))


def invalid(verdict: GroupVerdict) -> list[tuple[str, float]]:
    """The partitions of the finding, with since when it is."""
    return [
        (place.topic, (each.since_ms - BEGIN) / HOUR)
        for each in verdict.findings
        if (each.kind, each.reason) == (FindingKind.OFFSETS, "invalid")
        for place in each.partitions
    ]


@pytest.mark.parametrize("story", [Story(), Story().join("t"), Story().join("t").commit().join()])
def test_the_partition_has_no_committed_offset_and_its_lag_is_unknown(story: Story):
    """With and without members; the log has 60 records."""
    verdict = below(story.commit().at(2)).at(2.5).poll(60).at(3).verdict
    assert [(row.topic, row.committed, row.lag) for row in verdict.partitions] == [("t", None, None)]
    assert (verdict.lag, verdict.status, verdict.uncommitted_partitions) == (None, None, 1)
    assert invalid(verdict) == [("t", 2)]
    assert [each.kind for each in verdict.findings] == [FindingKind.OFFSETS], "nobody is accused beside it"


def test_the_sentence_of_a_group_that_had_read_all_records():
    (found,) = below(Story().commit(60).at(2)).verdict.findings
    assert found.sentence.endswith("The last offset before was 60, with no lag.")


def test_other_partitions_count_as_before():
    verdict = below(Story().commit(20).commit(10, topic="u").at(2)).verdict
    assert (verdict.lag, verdict.lag_at_least) == (None, 50)
    assert [(row.topic, row.lag) for row in verdict.partitions] == [("t", None), ("u", 50)]


def test_it_begins_with_the_first_and_ends_with_the_next_commit():
    story = below(below(Story().commit().at(2)).at(3), -1001)
    assert invalid(story.verdict) == [("t", 2)]
    ended = story.at(4).commit(0).verdict
    assert (invalid(ended), ended.lag) == ([], 60)


def test_it_ends_when_it_is_deleted_and_is_told_as_expired_if_it_was():
    assert below(Story().commit().commit(5, topic="u").at(2)).at(50).delete().found == []
    expired = below(Story().commit().at(2)).at(102.2).delete()
    assert invalid(expired.verdict) == []
    assert expired.found == ["expired"]
    assert [each.offset for each in expired.verdict.expired_offsets] == [10]


def test_a_partition_without_records_is_left_out():
    story = Story().commit(0)
    story.topics = {"t": story._polled("t", 0)}
    assert invalid(below(story.at(1)).verdict) == []


def test_the_last_offset_of_a_topic_that_has_been_recreated_is_not_named():
    story = below(Story().commit().at(2))
    assert "The last offset before was 10" in story.verdict.findings[0].sentence
    (finding,) = story.at(3).poll(30, topic_id="another").verdict.findings
    assert "last offset" not in finding.sentence


def test_a_reading_by_the_admin_api_tells_the_same():
    def read(hour: float, *offsets: int) -> GroupObserved:
        at_ms = BEGIN + round(hour * HOUR)
        seen = [ObservedOffset("t", 0, offset) for offset in offsets]
        return GroupObserved(
            "c",
            "g",
            GroupKind.CLASSIC,
            Source.ADMIN,
            at_ms,
            at_ms,
            offsets=tuple(each for each in seen if each.offset >= 0),
            invalid=tuple(each for each in seen if each.offset < 0),
            protocol_type="",
            state="Empty",
        )

    story = Story().at(3).take(read(1, 10), read(2, -1), read(3, -1))
    assert invalid(story.verdict) == [("t", 2)]
    assert "The last offset before was 10" in story.verdict.findings[0].sentence
    assert story.verdict.lag is None
    assert invalid(story.take(read(4)).verdict) == [], "it was deleted"
    again = story.take(read(5, -1), read(6, 7)).at(6).verdict
    assert (invalid(again), again.lag) == ([], 53)


def test_its_topic_concerns_the_group_also_where_nothing_else_names_it():
    """What a question takes of a cluster, and what makes a verdict be renewed, have the topic."""
    story = below(Story().at(2))
    group, before, grown = story.group, catalog(story), catalog(story.poll(80))
    assert group is not None
    assert list(only_concerned(GroupInputs(group, grown, BEGIN)).catalog.topics) == ["t"]
    assert topics_of(group) == {"t"}
    old, new = (concerns_of(group, view_assignment(group, each), Topics(each)) for each in (before, grown))
    assert old != new


def catalog(story: Story) -> Catalog:
    return catalog_of("c", BEGIN, [state for state in story.topics.values() if state is not None])

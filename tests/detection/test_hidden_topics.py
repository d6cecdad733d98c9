"""Topics that polls no longer see: what was found of their groups stays as it was, and the cluster has the reason."""

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.cluster_findings import cluster_findings
from monitor.detection.group_summary import summary_of
from monitor.model import (
    Catalog,
    EndOffsetAt,
    GroupState,
    PartitionObserved,
    PassCompleted,
    Phase,
    TopicObserved,
    TopicState,
)
from monitor.model.entities import Entity
from monitor.model.findings import Severity
from monitor.tracking.cluster_fold import ClusterFold
from tests.support.builders import catalog, commit, group, member, topic

MINUTE_MS = 60_000
SEEN_MS = 3_000_000
"""When the last poll saw the topic: the group had been empty since 2000 s, and records waited since 1000 s."""

EMPTY = group(offsets=(commit("t", 0, 40, 1_900_000),), phase=Phase.EMPTY, protocol_type="consumer")


def watched(name: str) -> TopicState:
    """A topic that grows, seen every ten minutes or so until 3000 s."""
    (partition,) = topic(name, 1).partitions
    ends = [(1_000_000, 0), (1_950_000, 45), (2_500_000, 70), (SEEN_MS, 100)]
    return replace(topic(name, 1), partitions=(replace(partition, ends=tuple(EndOffsetAt(*each) for each in ends)),))


VISIBLE = catalog(watched("t"))


def hidden_since(known: Catalog) -> Catalog:
    """The catalog ten minutes later, without its topics."""
    hidden = {name: replace(state, hidden=True, observed_ms=SEEN_MS) for name, state in known.topics.items()}
    return replace(known, pass_ms=SEEN_MS + 10 * MINUTE_MS, topics={}, hidden=hidden)


HIDDEN = hidden_since(VISIBLE)
LATER_MS = SEEN_MS + 10 * MINUTE_MS


def found(state: GroupState, known: Catalog, now_ms: int):
    verdict = evaluate(state, known, now_ms, DetectionSettings())
    return [(f"{each.kind}/{each.reason}", each.since_ms) for each in verdict.findings]


def test_what_was_found_stays_with_its_start_and_a_word_on_its_age():
    (before,) = evaluate(EMPTY, VISIBLE, SEEN_MS, DetectionSettings()).findings
    assert before.kind == "unattended"
    verdict = evaluate(EMPTY, HIDDEN, LATER_MS, DetectionSettings())
    (after,) = verdict.findings
    assert replace(after, sentence=before.sentence) == before
    assert after.sentence == (
        f"{before.sentence} No poll has seen t since 1970-01-01 00:50:00 UTC: this is as of then."
    )
    assert verdict.hidden_topics == ("t",)
    assert (verdict.lag, [row.lag for row in verdict.partitions]) == (None, [None])


def test_it_ends_with_the_offsets_of_a_topic_that_was_deleted():
    assert found(replace(EMPTY, offsets=()), HIDDEN, LATER_MS) == []


def test_it_ends_when_the_group_is_not_as_it_was():
    """A member has come, or the partition was committed since."""
    joined = group(member("M", ["t"], {"t": [0]}), offsets=EMPTY.offsets, generation_ms=LATER_MS - 1_000)
    assert found(joined, HIDDEN, LATER_MS) == []
    moved = replace(EMPTY, offsets=(commit("t", 0, 60, SEEN_MS + 1),))
    assert found(moved, HIDDEN, LATER_MS) == []


def test_what_was_not_found_when_it_was_seen_is_not_found_later():
    """Nothing waited there then."""
    assert found(replace(EMPTY, offsets=(commit("t", 0, 100, 1_900_000),)), HIDDEN, LATER_MS) == []


def test_the_lag_of_other_topics_is_a_lower_bound():
    both = hidden_since(catalog(watched("t")))
    both = replace(both, topics={"u": watched("u")})
    verdict = evaluate(
        replace(EMPTY, offsets=(*EMPTY.offsets, commit("u", 0, 93, 1_900_000))), both, LATER_MS, DetectionSettings()
    )
    assert (verdict.lag, verdict.lag_at_least) == (None, 7)


def of_cluster(known: Catalog, *groups: GroupState, now_ms: int = LATER_MS):
    summaries = [summary_of(evaluate(each, known, now_ms, DetectionSettings())) for each in groups]
    return cluster_findings(known, summaries, None, now_ms)


def test_the_cluster_has_one_finding_of_all_groups_that_committed_it():
    other = replace(EMPTY, group="h")
    (finding,) = of_cluster(HIDDEN, EMPTY, other, replace(EMPTY, group="i", offsets=()))
    assert finding.sentence == (
        "Topic t is committed by 2 groups and not visible any more. It was deleted, or groupwatch lacks the permission "
        "DESCRIBE. The committed offsets are still there, which a deletion deletes, too. Findings of these groups are "
        "as of then, and their lag is unknown."
    )
    assert (finding.name, finding.severity) == ("topics/not_visible", Severity.WARNING)
    assert (finding.since_ms, finding.groups) == (SEEN_MS, 2)


def test_brokers_have_a_minute_to_delete_the_offsets_of_a_deleted_topic():
    assert of_cluster(HIDDEN, EMPTY, now_ms=SEEN_MS + MINUTE_MS - 1) == ()
    assert len(of_cluster(HIDDEN, EMPTY, now_ms=SEEN_MS + MINUTE_MS)) == 1


def test_a_deleted_topic_that_no_group_has_committed_is_no_finding():
    assert of_cluster(HIDDEN, replace(EMPTY, offsets=())) == ()


# --- the fold -----------------------------------------------------------------------------------------------------

DAY_MS = 86_400_000


class Passes:
    """Polls of a cluster, folded."""

    def __init__(self) -> None:
        self.fold = ClusterFold("c")

    def take(self, at_ms: int, topic_id: str | None = "T", *, end: int | None = None) -> Catalog:
        """A poll that sees the topic, which ends there, or (None) does not see it."""
        topics = 0
        if end is not None:
            partition = PartitionObserved(0, earliest=0, end=end)
            self.fold.take(Entity.TOPIC, "t", [TopicObserved("c", "t", at_ms, at_ms, (partition,), topic_id)])
            topics = 1
        self.fold.take_pass(PassCompleted("c", at_ms, at_ms + 500, topics))
        return self.fold.catalog()


@pytest.fixture
def passes() -> Passes:
    made = Passes()
    for second in (10, 40, 70):
        assert made.take(second * 1_000, end=second).topics.keys() == {"t"}
    return made


def ends(state: TopicState) -> list[tuple[int, int]]:
    return [(each.at_ms, each.offset) for each in state.partitions[0].ends]


def test_a_topic_that_two_polls_have_missed_is_hidden_for_a_day(passes):
    assert passes.take(80_000).topics.keys() == {"t"}, "one alone may be wrong"
    known = passes.take(90_000)
    assert (known.topics, known.names, known.hidden["t"].observed_ms) == ({}, {}, 70_000)
    assert passes.take(70_000 + DAY_MS - 1).hidden.keys() == {"t"}
    assert passes.take(70_000 + DAY_MS).hidden == {}


def test_a_topic_that_comes_back_goes_on_as_it_was(passes):
    for at_ms in (80_000, 90_000):
        passes.take(at_ms)
    known = passes.take(100_000, end=75)
    assert known.hidden == {}
    assert ends(known.topics["t"]) == [(10_000, 10), (40_000, 40), (70_000, 70), (100_000, 75)]
    assert known.topics["t"].partitions[0].first_seen_ms == 10_000


def test_another_topic_of_that_name_begins_anew(passes):
    for at_ms in (80_000, 90_000):
        passes.take(at_ms)
    known = passes.take(100_000, "U", end=5)
    assert ends(known.topics["t"]) == [(100_000, 5)]
    assert known.topics["t"].partitions[0].former_ms == 70_000


def test_a_topic_without_an_id_is_gone_at_once():
    made = Passes()
    made.take(10_000, None, end=5)
    made.take(20_000)
    assert made.take(30_000).hidden == {}


def test_the_lag_in_a_topic_that_no_poll_has_ever_listed_is_unknown():
    """electric-saw/kafta #40 (2026) and redpanda-data/kminion #40: a user may describe only some topics of a group.

    The sum of the others was shown as the lag of the group, without a word.
    """
    (partition,) = topic("open", 1).partitions
    known = catalog(replace(topic("open", 1), partitions=(replace(partition, end=50),)))
    state = group(offsets=(commit("open", 0, 20), commit("private", 0, 7)), phase=Phase.EMPTY)
    verdict = evaluate(state, known, SEEN_MS, DetectionSettings())
    assert (verdict.lag, verdict.lag_at_least, verdict.hidden_topics) == (None, 30, ("private",))
    whole = evaluate(replace(state, offsets=(commit("open", 0, 20),)), known, SEEN_MS, DetectionSettings())
    assert (whole.lag, whole.lag_at_least, whole.hidden_topics) == (30, None, ())
    internal = replace(state, offsets=(commit("open", 0, 20), commit("__consumer_offsets", 0, 7)))
    assert evaluate(internal, known, SEEN_MS, DetectionSettings()).lag == 30, "polls leave it out"

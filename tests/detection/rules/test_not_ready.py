"""Streams groups whose topology cannot run: when that is a finding, and which topic is named."""

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.model import GroupKind, GroupState, Member, Phase, StreamsGroupState, Subtopology, Topology
from tests.support.builders import NOW, catalog, topic

PART = Subtopology(
    "0",
    source_topics=("orders", "prices"),
    repartition_sources=("g-by-repartition",),
    changelogs=("g-counts-changelog",),
    copartitioned=(("orders", "prices"),),
)
MINUTE = 60_000
INTERNAL = topic("g-by-repartition", 2), topic("g-counts-changelog", 2)


def streams(phase=Phase.NOT_READY, *, since_ms=NOW - 1_000, validated=None):
    return GroupState(
        cluster="c",
        group="g",
        kind=GroupKind.STREAMS,
        phase=phase,
        phase_ms=since_ms,
        generation=3,
        generation_ms=since_ms,
        members=() if phase is Phase.EMPTY else (Member(member_id="m"),),
        streams=StreamsGroupState(topology=Topology(epoch=0, subtopologies=(PART,)), validated_epoch=validated),
    )


def found(group, *topics, pass_ms=NOW):
    known = replace(catalog(*topics), pass_ms=pass_ms)
    findings = evaluate(group, known, NOW, DetectionSettings()).findings
    return [finding.sentence for finding in findings if finding.reason == "not_ready"]


def test_a_missing_source_topic_is_named_at_once_and_alone():
    (sentence,) = found(streams(), topic("orders", 2))
    assert sentence.endswith("The topology needs the topic prices, which does not exist.")


def test_joined_topics_of_different_sizes_are_named_with_their_sizes():
    (sentence,) = found(streams(), topic("orders", 2), topic("prices", 3), *INTERNAL)
    assert sentence.endswith("orders has 2, prices has 3.")


def test_internal_topics_are_missing_for_a_moment_after_a_start():
    there = topic("orders", 2), topic("prices", 2)
    assert found(streams(), *there) == []
    (sentence,) = found(streams(since_ms=NOW - MINUTE - 1), *there)
    assert "the topics g-by-repartition, g-counts-changelog, which do not exist" in sentence


def test_a_cause_that_is_not_known_is_not_made_up():
    everything = topic("orders", 2), topic("prices", 2), *INTERNAL
    assert found(streams(), *everything) == []
    (sentence,) = found(streams(since_ms=NOW - MINUTE - 1), *everything)
    assert "groupwatch does not know the cause" in sentence


def test_of_an_older_pass_no_topic_is_known_to_be_missing():
    assert found(streams(), topic("orders", 2), pass_ms=NOW - 2_000) == []


def test_a_group_without_members_lacks_a_source_topic_or_equal_sizes_or_nothing():
    assert found(streams(Phase.EMPTY), topic("orders", 2), topic("prices", 2)) == []
    (sentence,) = found(streams(Phase.EMPTY), topic("orders", 2), topic("prices", 3))
    assert sentence.endswith("orders has 2, prices has 3. No instance is left.")
    (sentence,) = found(streams(Phase.EMPTY), topic("orders", 2))
    assert "prices, which does not exist. No instance is left." in sentence


@pytest.mark.parametrize("phase", [Phase.EMPTY, Phase.STABLE])
def test_a_validated_topology_is_ready(phase):
    assert found(streams(phase, validated=0), topic("orders", 2)) == []

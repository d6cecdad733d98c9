"""A snapshot gives the verdicts of the states it was made of; one that is damaged, or of another version, says so."""

import json

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.evaluation_input import GroupInputs
from monitor.model import GroupKind, GroupState, GroupVerdict, IdPartitions, Member, Phase, Reconciliation
from monitor.snapshot_file import CHUNK_BYTES, SnapshotFileError, find_inputs, group_lines
from tests.support.builders import ASSIGNED, NOW, catalog, commit, group, range_by_hand, topic
from tests.web.saved import Saved, pieces

TOPIC_ID = "b3JkZXJzb3JkZXJzb3JkZQ"
MEMBERS = range_by_hand({"C0": ["a"], "C1": ["a"]}, {"a": 3})
CLASSIC = replace(
    group(*MEMBERS, offsets=[replace(commit("a", 0, 40), history=b"\x00\xff"), commit("b", 1)]), group="g"
)
MODERN = GroupState(
    cluster="c",
    group="m\n",
    kind=GroupKind.CONSUMER,
    phase=Phase.STABLE,
    generation=7,
    generation_ms=ASSIGNED,
    members=(
        Member(
            member_id="x",
            topics=("m",),
            reconciliation=Reconciliation(epoch=7, target=(IdPartitions(TOPIC_ID, (0, 1)),)),
        ),
    ),
)
CATALOG = catalog(topic("a", 4, grown=1), topic("b", 2), replace(topic("m", 2), topic_id=TOPIC_ID), topic("unused", 9))
STRICT = DetectionSettings(lag_records=5)
CLUSTER = Saved(CATALOG, (CLASSIC, MODERN), NOW, STRICT)


def whole(state: GroupState) -> GroupInputs:
    return GroupInputs(group=state, catalog=CATALOG, now_ms=NOW, settings=STRICT)


def verdict_of(inputs: GroupInputs) -> GroupVerdict:
    return evaluate(inputs.group, inputs.catalog, inputs.now_ms, inputs.settings)


@pytest.mark.parametrize("state", [CLASSIC, MODERN], ids=["classic", "kip-848"])
def test_a_group_that_was_saved_is_judged_as_before(state):
    verdict = verdict_of(whole(state))
    assert verdict.findings  # else this would say little
    of_one = group_lines(whole(state)).splitlines()
    of_all = b"".join(pieces(CLUSTER)).splitlines()
    for lines in (of_one, of_all):
        found = find_inputs(lines, "c", state.group)
        assert found.group == state
        assert verdict_of(found) == verdict


def test_a_snapshot_of_a_group_has_only_the_topics_that_concern_it():
    lines = [json.loads(line) for line in group_lines(whole(CLASSIC)).splitlines()]
    assert [line["line"] for line in lines] == ["header", "cluster", "topic", "topic", "group", "end"]
    assert [line["state"]["topic"] for line in lines[2:4]] == ["a", "b"]
    assert lines[0] == {"line": "header", "groupwatch_snapshot": 1, "state_version": 1}
    assert lines[-1] == {"line": "end", "lines": 5}
    modern = [json.loads(line) for line in group_lines(whole(MODERN)).splitlines()]
    assert [line["state"]["topic"] for line in modern if line["line"] == "topic"] == ["m"]


def test_a_topic_that_only_a_target_names_is_saved_too():
    """The broker has chosen a partition for a member that does not subscribe to its topic any more."""
    turned = replace(MODERN, members=(replace(MODERN.members[0], topics=("b",)),))
    verdict = verdict_of(whole(turned))
    assert verdict.members[0].expected_partitions == 2
    assert verdict_of(find_inputs(group_lines(whole(turned)).splitlines(), "c", turned.group)) == verdict


def test_a_snapshot_of_a_group_knows_since_when_all_topics_are_watched():
    """Collectors began before the topics of this group came: those are new, and not as old as may be."""
    members = (Member(member_id="C0", topics=("a", "b"), assigned=CLASSIC.members[0].assigned),)
    state = replace(CLASSIC, members=members, protocol="ours", offsets=())
    late = catalog(topic("a", 2), topic("b", 1, seen_ms=ASSIGNED + 1), topic("unused", 1))
    inputs = GroupInputs(group=state, catalog=late, now_ms=NOW, settings=STRICT)
    saved = find_inputs(group_lines(inputs).splitlines(), "c", state.group)
    assert saved.catalog.watched_ms == late.watched_ms
    assert verdict_of(saved) == verdict_of(inputs)
    assert {finding.reason for finding in verdict_of(saved).findings} == {"grew"}


def test_many_groups_come_in_pieces():
    crowd = Saved(CATALOG, tuple(replace(CLASSIC, group=f"g{number}") for number in range(2_000)), NOW)
    sizes = [len(piece) for piece in pieces(crowd)]
    assert len(sizes) > 5
    assert max(sizes) < 2 * CHUNK_BYTES
    assert find_inputs(b"".join(pieces(crowd)).splitlines(), "c", "g1999").group.group == "g1999"


def test_groups_of_the_same_name_in_two_clusters_are_told_apart():
    other = Saved(
        replace(CATALOG, cluster="d", topics={}), (replace(CLASSIC, cluster="d", generation=99),), NOW, STRICT
    )
    lines = b"".join(pieces(CLUSTER, other)).splitlines()
    assert find_inputs(lines, "c", "g").group.generation == 3
    assert find_inputs(lines, "d", "g").group.generation == 99
    assert find_inputs(lines, "d", "g").catalog.topics == {}


LINES = b"".join(pieces(CLUSTER, also=("broken",))).splitlines()
HEADER = b'{"line":"header","groupwatch_snapshot":2,"state_version":2}'


@pytest.mark.parametrize(
    ("lines", "cluster", "name", "sentence"),
    [
        pytest.param(
            [HEADER, *LINES[1:]],
            "c",
            "g",
            "The snapshot has version 2 with states of version 2; "
            "this groupwatch reads up to version 1 with states of version 1.",
            id="newer",
        ),
        pytest.param(
            [b'{"line":"header","groupwatch_snapshot":0,"state_version":1}', *LINES[1:]],
            "c",
            "g",
            "This groupwatch cannot read a snapshot of that version.",
            id="never written",
        ),
        pytest.param(
            [b"#!/bin/sh"], "c", "g", "This is not a groupwatch snapshot: its first line is not a header.", id="foreign"
        ),
        pytest.param([], "c", "g", "The snapshot is not complete: its end is missing.", id="empty"),
        pytest.param(LINES[:-1], "c", "g", "The snapshot is not complete: its end is missing.", id="cut"),
        pytest.param(
            [*LINES[:2], *LINES[3:]], "c", "g", "The snapshot is damaged: it has 8 lines of 9.", id="a line is missing"
        ),
        pytest.param(
            [*LINES, LINES[-1]], "c", "g", "The snapshot is damaged: it continues after its end.", id="two in one"
        ),
        pytest.param(LINES, "prod", "g", "The snapshot has no cluster prod; it has c.", id="another cluster"),
        pytest.param(LINES, "c", "no\n", r"The snapshot has no group no\n in cluster c.", id="no such group"),
        pytest.param(
            LINES,
            "c",
            "broken",
            "Group broken could not be read when the snapshot was made "
            "(StateCorruptError: the stored bytes are no GroupState).",
            id="left out",
        ),
    ],
)
def test_what_cannot_be_used_is_told_in_one_sentence(lines, cluster, name, sentence):
    with pytest.raises(SnapshotFileError) as told:
        find_inputs(lines, cluster, name)
    assert str(told.value) == sentence


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", b"[" * 100_000, b'{"line":"group"}', b'{"line":"what"}'])
def test_a_damaged_line_is_named(damage):
    with pytest.raises(SnapshotFileError, match=r"^The snapshot is damaged in line 4: "):
        find_inputs([*LINES[:3], damage, *LINES[4:]], "c", "g")

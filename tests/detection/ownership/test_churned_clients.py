"""Two real groups whose members were restarted and closed all the time (`make test-clients`): what is told of them."""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.model import GroupState, GroupVerdict, PartitionState, TopicPartition
from monitor.protocol.offsets_topic import decode_record
from monitor.tracking.group import fold_group
from tests.support.builders import catalog, topic

RECORDS = Path(__file__).parents[2] / "fixtures" / "client-libraries" / "churned.jsonl.gz"
NEW_LEADER = "kafka-python.cooperative-sticky.unequal"
STATIC, EMPTY_LEADER = "java.cooperative-sticky.static", "platformatic-1.roundrobin.equal"


def events(name: str) -> list[Any]:
    with gzip.open(RECORDS, "rt", encoding="utf-8") as lines:
        records = [line for line in map(json.loads, lines) if line["group"] == name]
    return [
        decode_record(base64.b64decode(each["key"]), base64.b64decode(each["value"]), each["timestamp_ms"])
        for each in records
    ]


def state_after(name: str, count: int) -> GroupState:
    state = fold_group("c", name, None, events(name)[:count])
    assert state is not None
    return state


def judged(state: GroupState) -> GroupVerdict:
    """A minute after the newest record; the topics were there long before the first one."""
    first_ms = events(state.group)[0].stored_ms
    now_ms = max(state.generation_ms, state.phase_ms) + 60_000

    def seen(partition: PartitionState) -> PartitionState:
        ends = tuple(replace(end, at_ms=at_ms) for end, at_ms in zip(partition.ends, (first_ms, now_ms), strict=True))
        return replace(partition, first_seen_ms=first_ms - 60_000, ends=ends)

    topics = [topic("clients.d", 12, end=0), topic("clients.e", 5, end=0), topic("clients.f", 11, end=0)]
    known = [replace(each, pass_ms=now_ms, partitions=tuple(map(seen, each.partitions))) for each in topics]
    shown = catalog(*known, pass_ms=now_ms, watched_ms=first_ms - 60_000)
    return evaluate(state, shown, now_ms, DetectionSettings())


def told(verdict: GroupVerdict) -> dict[str, int]:
    return {f"{finding.kind.value}/{finding.reason}": len(finding.partitions) for finding in verdict.findings}


@pytest.mark.parametrize("count", [4, 5, 6])
def test_static_members_that_come_back_take_over_what_the_assignor_gave(count: int):
    """The last two records are the same generation, with new ids of one static member and then another one.

    The new ones say that they own nothing. From that, cooperative-sticky would have given 12 partitions to others.
    """
    state = state_after(STATIC, count)
    assert state.generation == 3
    verdict = judged(state)
    assert verdict.expectation == "exact"
    assert told(verdict) == {}
    owned = Counter(owner for row in verdict.partitions for owner in row.owners)
    instances = {member.member_id: member.instance_id for member in state.members}
    assert {instances[owner]: count for owner, count in owned.items()} == {
        f"{STATIC}-0": 6,
        f"{STATIC}-1": 6,
        f"{STATIC}-2": 5,
    }
    assert [row.expected for row in verdict.partitions] == [row.owners[0] for row in verdict.partitions]


@pytest.mark.parametrize("newest", [1, 2])
def test_where_only_the_newest_record_is_left_a_static_member_may_have_come_back(newest: int):
    """As after compaction: what its predecessor had is lost, and no drift can be told for certain."""
    state = fold_group("c", STATIC, None, events(STATIC)[-newest:])
    assert state is not None
    verdict = judged(state)
    assert (verdict.expectation, told(verdict)) == ("invariants", {})


def test_a_static_member_keeps_what_its_first_predecessor_joined_with():
    before, after = state_after(STATIC, 4), state_after(STATIC, 6)
    assert [member.owned for member in after.members] == [member.owned for member in before.members]
    assert [member.user_data for member in after.members] == [member.user_data for member in before.members]
    joined_as = [member.joined_as or member.member_id for member in after.members]
    assert joined_as == [member.member_id for member in before.members]
    assert len({member.joined_as for member in after.members}) == 3, "two came back, and one never went"


def test_a_leader_that_subscribes_to_nothing_leaves_out_all_topics():
    """Seen of @platformatic/kafka 1.35 that was closed: its last generation gave nobody anything."""
    verdict = judged(state_after(EMPTY_LEADER, 2))
    assert told(verdict)["orphaned/leader_unsubscribed"] == 17
    assert "orphaned/assignor_gap" not in told(verdict)
    assert TopicPartition("clients.d", 0) in verdict.findings[0].partitions


def test_a_cooperative_leader_that_does_not_know_a_topic_yet_is_explained_by_what_it_knows():
    """kafka-python: the member that leads generation 5 never subscribed to clients.f, and gives nobody any of it.

    It takes one partition of d and two of e from it, which go to others in the next generation.
    """
    state = state_after(NEW_LEADER, 5)
    assert state.generation == 5
    verdict = judged(state)
    assert verdict.expectation == "exact"
    reasons = told(verdict)
    assert reasons.pop("drift/current") > 0
    assert {name: count for name, count in reasons.items() if name.startswith(("orphaned", "drift"))} == {
        "orphaned/grew": 11,
        "orphaned/pending": 3,
    }

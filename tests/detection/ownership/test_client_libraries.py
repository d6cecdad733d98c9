"""52 groups of real consumers of eight libraries, settled for 16 minutes: what is told of each."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.model import (
    Catalog,
    EndOffsetAt,
    GroupState,
    GroupVerdict,
    Library,
    MemberRemark,
    PartitionState,
    TopicPartitions,
    TopicState,
    WireForm,
)
from monitor.protocol.offsets_topic import decode_record
from monitor.tracking.group import fold_group
from tests.support.builders import ASSIGNED, NOW, catalog, group, member, topic

RECORDS = Path(__file__).parents[2] / "fixtures" / "client-libraries" / "records.jsonl.gz"
TOPICS = {"d12": 12, "e5": 5, "d12-1": 2, "f11": 11}
HOUR_MS, LATER_MS = 3_600_000, 16 * 60_000

UNEVEN = {"imbalance/partitions": 0}
"""With different subscriptions most assignors that count by topic are uneven, and that is true."""

LEFT_OUT = {"orphaned/leader_unsubscribed": 16}
"""The leader reads d12 alone: the 5 partitions of e5 and the 11 of f11 have no owner."""

TOLD: dict[str, dict[str, int]] = {
    **dict.fromkeys(
        [f"{name}.diff" for name in ("aiokafka.default", "aiokafka.range", "franz-go.range", "franz-go.roundrobin")]
        + [f"{name}.diff" for name in ("kafka-go.default", "kafka-go.roundrobin", "kafka-go.rack-affinity")]
        + [f"{name}.diff" for name in ("kafka-python.default", "librdkafka.default", "librdkafka.roundrobin")]
        + [f"{name}.diff" for name in ("sarama.range", "sarama-v4.range", "sarama.roundrobin")],
        UNEVEN,
    ),
    **dict.fromkeys(
        [
            f"{name}.diff"
            for name in (
                "kafkajs.default",
                "platformatic-1.35.default",
                "platformatic.default",
                "platformatic.cooperative-sticky",
            )
        ],
        LEFT_OUT,
    ),
}
"""Findings by group, each with its number of partitions; of all others nothing."""

CHECKED = {
    "franz-go.sticky.diff",
    "franz-go.sticky.same",
    "franz-go.cooperative-sticky.diff",
    "franz-go.cooperative-sticky.same",
    "kafka-go.rack-affinity.diff",
    "kafka-go.rack-affinity.same",
    "sarama.sticky.diff",
    "sarama.sticky.same",
    "sarama.cooperative-sticky.diff",
    "sarama.cooperative-sticky.same",
}
"""Groups whose assignor has no one answer; of all others the owners are those that the library's assignor gives."""


@cache
def captured() -> dict[str, dict[str, Any]]:
    with gzip.open(RECORDS, "rt", encoding="utf-8") as lines:
        return {line["group"]: line for line in map(json.loads, lines)}


def state_of(name: str) -> GroupState:
    line = captured()[name]
    event: Any = decode_record(base64.b64decode(line["key"]), base64.b64decode(line["value"]), line["timestamp_ms"])
    state = fold_group("c", name, None, [event])
    assert state is not None
    return state


def topics_seen(seen_ms: int, now_ms: int) -> Catalog:
    """The topics, which collectors first saw when they began to look."""

    def partition(number: int) -> PartitionState:
        ends = (EndOffsetAt(min(seen_ms, now_ms), 0), EndOffsetAt(now_ms, 0))
        return PartitionState(partition=number, first_seen_ms=seen_ms, earliest=0, end=0, ends=ends)

    known = {
        name: TopicState(cluster="c", topic=name, pass_ms=now_ms, partitions=tuple(map(partition, range(count))))
        for name, count in TOPICS.items()
    }
    return Catalog(cluster="c", pass_ms=now_ms, topics=known, watched_ms=seen_ms)


def verdict_on(name: str, *, seen_after_ms: int = -HOUR_MS) -> GroupVerdict:
    stored_ms = captured()[name]["timestamp_ms"]
    now_ms = stored_ms + LATER_MS
    return evaluate(state_of(name), topics_seen(stored_ms + seen_after_ms, now_ms), now_ms, DetectionSettings())


def told(verdict: GroupVerdict) -> dict[str, int]:
    return {f"{finding.kind.value}/{finding.reason}": len(finding.partitions) for finding in verdict.findings}


def test_every_group_of_the_tables_is_captured():
    assert len(captured()) == 52
    libraries = {line["library"] for line in captured().values()}
    assert libraries >= {"aiokafka", "franz-go", "kafka-go", "kafka-python"}
    assert libraries >= {"kafkajs", "librdkafka", "platformatic", "sarama"}
    assert TOLD.keys() | CHECKED <= captured().keys()


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("aiokafka.range.same", Library.AIOKAFKA),
        ("franz-go.range.same", Library.FRANZ_GO),
        ("kafka-go.default.same", Library.KAFKA_GO),
        ("kafkajs.default.same", Library.KAFKAJS),
        ("librdkafka.default.same", Library.LIBRDKAFKA),
        ("platformatic.default.same", Library.PLATFORMATIC),
        ("sarama.range.same", Library.SARAMA),
    ],
)
def test_what_to_do_about_new_partitions_depends_on_the_leaders_library(name: str, library: Library):
    """The topic d12 has just got its last partition, which no member of these groups has."""
    stored_ms = captured()[name]["timestamp_ms"]
    now_ms = stored_ms + LATER_MS
    topics = topics_seen(stored_ms - HOUR_MS, now_ms)
    late = PartitionState(partition=TOPICS["d12"], first_seen_ms=now_ms - 1_000, earliest=0, end=0)
    grown = replace(topics.topics["d12"], partitions=(*topics.topics["d12"].partitions, late))
    catalog_now = replace(topics, topics={**topics.topics, "d12": grown})
    verdict = evaluate(state_of(name), catalog_now, now_ms, DetectionSettings())
    (finding,) = [each for each in verdict.findings if (each.kind, each.reason) == ("orphaned", "grew")]
    assert finding.library is library


@pytest.mark.parametrize(("client_id", "reason"), [("sarama", "grew"), ("kgo", "assignor_gap")])
def test_what_a_leader_could_not_know_depends_on_its_library(client_id: str, reason: str):
    """Partitions were there for eight minutes: Sarama's metadata can be ten minutes old, those of franz-go five."""
    wire = WireForm(subscription_version=1 if client_id == "sarama" else 3)
    members = [
        replace(member(name, ("orders",), {"orders": numbers}), client_id=client_id, wire=wire)
        for name, numbers in (("C0", [0, 3]), ("C1", [1, 2]))
    ]
    topics = catalog(topic("orders", 6, grown=2, grown_ms=ASSIGNED - 8 * 60_000))
    verdict = evaluate(group(*members, protocol="our-own"), topics, NOW, DetectionSettings())
    assert [each.reason for each in verdict.findings if each.kind == "orphaned"] == [reason]


@pytest.mark.parametrize("name", sorted(captured()))
@pytest.mark.parametrize("seen_after_ms", [-HOUR_MS, 60_000], ids=["watched before", "watched since a minute after"])
def test_what_is_told_of_a_group(name: str, seen_after_ms: int):
    assert told(verdict_on(name, seen_after_ms=seen_after_ms)) == TOLD.get(name, {})


@pytest.mark.parametrize("name", sorted(captured()))
def test_every_member_can_be_read(name: str):
    state = state_of(name)
    assert [member.unreadable for member in state.members if member.unreadable] == []
    assert all(member.topics for member in state.members)
    verdict = verdict_on(name)
    assert verdict.expectation == ("checked" if name in CHECKED else "exact")
    replayed = [row.replayed for row in verdict.partitions if row.owners]
    assert name in CHECKED or replayed == [row.owners[0] for row in verdict.partitions if row.owners]


LISTED_BY_HASH = ("kafka-go.default.same", "kafka-go.roundrobin.same", "kafkajs.default.same")


def with_owners_of_d12(name: str, source: Callable[[int], int]) -> GroupVerdict:
    """The verdict on a group in which each partition of d12 has the owner that another of them had."""
    state, stored_ms = state_of(name), captured()[name]["timestamp_ms"]
    had = {
        number: each.member_id for each in state.members for entry in each.assigned if entry.topic == "d12"
        for number in entry.partitions
    }  # fmt: skip
    members = tuple(
        replace(
            each,
            assigned=(
                *(entry for entry in each.assigned if entry.topic != "d12"),
                TopicPartitions("d12", tuple(n for n in range(12) if had[source(n)] == each.member_id)),
            ),
        )
        for each in state.members
    )
    now_ms = stored_ms + LATER_MS
    catalog_now = topics_seen(stored_ms - HOUR_MS, now_ms)
    return evaluate(replace(state, members=members), catalog_now, now_ms, DetectionSettings())


@pytest.mark.parametrize("name", LISTED_BY_HASH)
def test_a_broker_with_zookeeper_may_list_partitions_in_any_order(name: str):
    """These libraries share them out as they are listed, so no other owner of as many was expected for certain."""
    verdict = with_owners_of_d12(name, lambda number: (number * 5 + 3) % 12)
    assert (verdict.expectation, told(verdict)) == ("checked", {})


@pytest.mark.parametrize("name", LISTED_BY_HASH)
def test_no_order_of_partitions_gives_a_member_more_of_them(name: str):
    verdict = with_owners_of_d12(name, lambda number: number % 11)
    assert verdict.expectation == "exact"
    assert "drift/replayed" in told(verdict)


def test_another_order_of_partitions_explains_nothing_of_a_library_that_sorts_them():
    verdict = with_owners_of_d12("sarama.range.same", lambda number: (number * 5 + 3) % 12)
    assert (verdict.expectation, told(verdict)["drift/replayed"] > 0) == ("exact", True)


def test_members_that_abridge_their_subscriptions_are_those_of_kafka_go_and_old_platformatic():
    abridged = {name for name in captured() if any(member.is_abridged for member in state_of(name).members)}
    assert abridged == {name for name in captured() if name.startswith(("kafka-go.", "platformatic-1.35."))}
    remarks = {remark for name in abridged for member in verdict_on(name).members for remark in member.remarks}
    assert remarks == {MemberRemark.ABRIDGED_SUBSCRIPTION}


def test_kafka_pythons_sticky_is_read_with_the_version_before_its_user_data():
    (name, other) = sorted(name for name in captured() if name.startswith("kafka-python.sticky."))
    for each in (name, other):
        state = state_of(each)
        assert any(member.user_data and member.user_data[:2] == b"\x00\x01" for member in state.members)
        remarks = [member.remarks for member in verdict_on(each).members if member.remarks]
        assert remarks, "those that have rejoined"
        assert set(remarks) == {(MemberRemark.VERSIONED_USER_DATA,)}


@pytest.mark.parametrize("name", [name for name, findings in TOLD.items() if findings is LEFT_OUT])
def test_the_reason_names_the_leader_and_what_it_leaves_out(name: str):
    (finding,) = verdict_on(name).findings
    assert {place.topic for place in finding.partitions} == {"e5", "f11"}
    assert "16 partitions of 2 topics (e5 0-4; f11 0-10) have no owner. The group leader, " in finding.sentence
    assert "does not subscribe to the topics. Its assignor " in finding.sentence
    assert "grew" not in finding.sentence


def test_a_group_whose_leader_would_fail_now_is_judged_by_the_generation_that_it_assigned():
    """e was created after the generation: kafka-python's roundrobin has to pass C0 over now, which is its KeyError."""
    own = {"client_id": "kafka-python-3.0.12", "user_data": b"", "wire": WireForm(0, 0)}
    members = member("C0", ["d"], {"d": [0]}, **own), member("C1", ["d", "e"], {"d": [1]}, **own)
    topics = catalog(topic("d", 2), topic("e", 1, seen_ms=ASSIGNED + 5_000))
    verdict = evaluate(group(*members, protocol="roundrobin"), topics, NOW, DetectionSettings())
    assert verdict.expectation == "exact"
    assert told(verdict) == {"orphaned/grew": 1}
    assert [row.expected for row in verdict.partitions if row.topic == "d"] == ["C0", "C1"]


UNSUBSCRIBED_IS_DROPPED = {
    "aiokafka.default.same": False,  # it raises AssertionError, and joins again
    "franz-go.range.same": True,
    "kafka-go.default.same": True,
    "kafka-python.default.same": False,  # it consumes nothing at all
    "kafkajs.default.same": True,
    "librdkafka.default.same": False,  # it consumes and commits
    "platformatic-1.35.default.same": True,
    "platformatic.default.same": True,
    "sarama.range.same": False,  # it consumes and commits
}
"""Whether members drop what they do not subscribe to, as measured with each library (docs/assignors.md)."""


@pytest.mark.parametrize("name", sorted(UNSUBSCRIBED_IS_DROPPED))
def test_partitions_that_a_member_does_not_subscribe_to_are_orphans_if_its_library_drops_them(name: str):
    state = state_of(name)
    stored_ms = captured()[name]["timestamp_ms"]
    catalog = topics_seen(stored_ms - HOUR_MS, stored_ms + LATER_MS)
    holder = next(m for m in state.members if any(entry.topic == "e5" for entry in m.assigned))
    own = sum(len(entry.partitions) for entry in holder.assigned if entry.topic == "e5")
    rest = tuple(topic for topic in holder.topics if topic != "e5")
    members = tuple(replace(m, topics=rest) if m is holder else m for m in state.members)
    verdict = evaluate(replace(state, members=members), catalog, stored_ms + LATER_MS, DetectionSettings())
    assert told(verdict).get("orphaned/owner_unsubscribed", 0) == (own if UNSUBSCRIBED_IS_DROPPED[name] else 0)

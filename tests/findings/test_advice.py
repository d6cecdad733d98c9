"""What a person is told to do can be done with a group of that kind: words of other systems are not in it."""

from __future__ import annotations

import re
from typing import Final

import pytest

from monitor.findings.spec import FindingSpec
from monitor.findings.table import FINDINGS
from monitor.model import CONNECT, GroupKind, Library
from tests.detection.told_examples import Example, examples

KINDS: Final = (*GroupKind, CONNECT)
CLASSIC, CONSUMER, SHARE, STREAMS = GroupKind.CLASSIC, GroupKind.CONSUMER, GroupKind.SHARE, GroupKind.STREAMS
ZOOKEEPER, ROCKETMQ, METAQ, SPARK = GroupKind.ZOOKEEPER, GroupKind.ROCKETMQ, GroupKind.METAQ, GroupKind.SPARK
KAFKA: Final = {CLASSIC, CONSUMER, SHARE, STREAMS, ZOOKEEPER, SPARK, CONNECT}

MEANT_FOR: Final[dict[str, set[str]]] = {
    "ZooKeeper": {ZOOKEEPER, METAQ},
    "partition.assignment.strategy": {ZOOKEEPER},
    "largest skips": {ZOOKEEPER},
    "given up": {ZOOKEEPER},
    "allocateMessageQueueStrategy": {ROCKETMQ},
    "setInstanceName": {ROCKETMQ},
    "fileReservedTime": {ROCKETMQ},
    "mqadmin": {ROCKETMQ},
    "deletePolicy": {METAQ},
    "load balance strategy": {METAQ},
    "startingOffsets": {SPARK},
    "failOnDataLoss": {SPARK},
    "query": {SPARK},
    "kafka-consumer-groups.sh": {CLASSIC, CONSUMER},
    "kafka-share-groups.sh": {SHARE},
    "kafka-streams-groups.sh": {STREAMS},
    "kafka-transactions.sh": KAFKA,
    "share coordinator": {SHARE},
    "share.delivery.count.limit": {SHARE},
    "lock": {SHARE},
    "retention.ms": KAFKA,
    "retention.bytes": KAFKA,
    "latest skips": {CLASSIC, CONSUMER, STREAMS},
    "auto.offset.reset": {CLASSIC, CONSUMER, STREAMS, ZOOKEEPER},
    "max.poll.records": {CLASSIC, CONSUMER, STREAMS},
    "max.poll.interval.ms": {CLASSIC, CONSUMER, STREAMS},
    "must poll": {CLASSIC, CONSUMER, STREAMS},
    "static member": {CLASSIC, CONSUMER},
    "client libraries notice": {CLASSIC},
    "session.timeout.ms": {CLASSIC},
    "leader": {CLASSIC, CONNECT},
    "assignors": {CLASSIC},
    "coordinator": {CLASSIC, CONSUMER, SHARE, STREAMS},
    "topology": {CLASSIC, STREAMS},
    "num.stream.threads": {CLASSIC, STREAMS},
    "Connect": {CONNECT},
    "worker": {CONNECT},
    "config.storage.topic": {CONNECT},
    "watch the group's lag": set(KINDS) - {CONNECT},
    "what-if": set(KINDS) - {SHARE, SPARK, CONNECT},
    "strategies": {ZOOKEEPER, ROCKETMQ, METAQ},
    "KIP-848": set(),
}
"""Words of advice, each with the kinds of groups that have the thing."""

ONLY_OF: Final[dict[tuple[str, str], set[str]]] = {
    ("double_owned", "duplicate_client_id"): {ROCKETMQ},
    ("double_owned", "run_twice"): {CONNECT},
    ("double_owned", "mixed_strategy"): {ZOOKEEPER, ROCKETMQ, METAQ},
    ("orphaned", "mixed_strategy"): {ZOOKEEPER, ROCKETMQ, METAQ},
    ("lag", "stuck_record"): {CLASSIC, CONSUMER},
    ("orphaned", "leader_unsubscribed"): {CLASSIC},
    ("orphaned", "owner_unsubscribed"): {CLASSIC},
    ("orphaned", "no_task"): {CLASSIC},
    ("orphaned", "not_ready"): {STREAMS},
    ("orphaned", "assignor_gap"): {CLASSIC, CONSUMER, STREAMS, ZOOKEEPER, ROCKETMQ, METAQ},
    ("orphaned", "grew"): {CLASSIC, CONSUMER, STREAMS, ZOOKEEPER, ROCKETMQ, METAQ},
    ("orphaned", "pending"): {CLASSIC, CONSUMER, STREAMS, ZOOKEEPER, ROCKETMQ, METAQ},
    ("orphaned", "rebalancing"): {CONSUMER, STREAMS},
    ("orphaned", "config_mismatch"): {CONNECT},
    ("orphaned", "no_workers"): {CONNECT},
    ("orphaned", "not_assigned"): {CONNECT},
    ("orphaned", "revoked"): {CONNECT},
    ("orphaned", "delay"): {CONNECT},
    ("orphaned", "not_initialized"): {SHARE},
    ("poison", "given_up"): {SHARE},
    ("poison", "last_try"): {SHARE},
    ("lag", "stalled"): {SHARE},
    ("dead_member", "no_answer"): {ROCKETMQ},
    ("dead_member", "unnoticed"): {CLASSIC},
    ("rebalance", "long"): {CLASSIC, CONSUMER, STREAMS, SHARE, CONNECT},
    ("config_behind", "config_offset"): {CONNECT},
    ("drift", "pending"): {CONSUMER, STREAMS},
    ("drift", "target"): {CONSUMER, STREAMS},
    ("drift", "replayed"): {CLASSIC, ZOOKEEPER, ROCKETMQ, METAQ},
    ("drift", "current"): {CLASSIC, ZOOKEEPER, ROCKETMQ, METAQ},
    ("imbalance", "partitions"): {CLASSIC, CONSUMER, STREAMS, ZOOKEEPER, ROCKETMQ, METAQ},
    ("imbalance", "tasks"): {CLASSIC, STREAMS},
    ("imbalance", "workers"): {CONNECT},
    ("idle_members", "no_partitions"): {CLASSIC, CONSUMER, STREAMS, ZOOKEEPER, ROCKETMQ, METAQ},
    ("idle_members", "no_tasks"): {CLASSIC, STREAMS},
    ("abandoned", "unsubscribed"): {CLASSIC, CONSUMER, SHARE, STREAMS, ZOOKEEPER, ROCKETMQ, METAQ},
    ("rebalance", "storm"): set(KINDS) - {SPARK},
    ("rebalance", "static_replacements"): {CLASSIC, CONSUMER, STREAMS},
    ("rebalance", "different_subscriptions"): {CLASSIC},
    ("subscription", "mixed_expressions"): {ROCKETMQ},
    ("lag", "unreadable"): {ROCKETMQ},
    ("poison", "dead_letters"): {ROCKETMQ},
    ("poison", "sent_back"): {ROCKETMQ},
    ("subscription", "nothing_to_read"): {CLASSIC, CONSUMER},
    ("subscription", "missing_topics"): {CLASSIC, CONSUMER},
    ("unreadable_members", "assignment"): set(KINDS) - {SPARK},
    ("unreadable_members", "subscription"): set(KINDS) - {SPARK},
    ("lag", "open_transaction"): KAFKA - {CONNECT},
    ("skipped", "retention"): {CLASSIC, CONSUMER, STREAMS},
    ("skipped", "new_partition"): {CLASSIC, CONSUMER, STREAMS},
    ("skipped", "perhaps"): {CLASSIC, CONSUMER, STREAMS},
    ("uncommitted", "unattended"): {CLASSIC, CONSUMER},
    ("uncommitted", "never"): {CLASSIC, CONSUMER},
    ("uncommitted", "at_risk"): {CLASSIC, CONSUMER},
    ("offsets", "expired"): {CLASSIC, CONSUMER, STREAMS},
    ("offsets", "invalid"): {CLASSIC, CONSUMER, STREAMS},
    ("offsets", "expire"): {CLASSIC, CONSUMER, STREAMS},
    ("offsets", "unsubscribed"): {CLASSIC, CONSUMER, STREAMS},
    ("offsets", "removed"): {CLASSIC, CONSUMER, STREAMS},
}
"""The kinds of groups whose rules can find it; all others but Connect clusters, which have no lag, for the rest."""


def kinds_of(spec: FindingSpec) -> set[str]:
    return ONLY_OF.get((spec.kind.value, spec.reason), set(KINDS) - {CONNECT})


def advice(spec: FindingSpec, kind: str) -> str | None:
    return spec.advice_for(GroupKind.CLASSIC if kind == CONNECT else kind, is_connect=kind == CONNECT)


def name(spec: FindingSpec) -> str:
    return f"{spec.kind.value}/{spec.reason}"


@pytest.mark.parametrize("spec", FINDINGS, ids=name)
def test_advice_has_only_what_a_group_of_its_kind_has(spec: FindingSpec):
    for kind in kinds_of(spec):
        text = advice(spec, kind)
        assert text is not None, kind
        assert re.match(r"[A-Z].*\.$", text), kind
        assert len(text) < 220, kind
        foreign = [word for word, kinds in MEANT_FOR.items() if kind not in kinds]
        assert [word for word in foreign if re.search(rf"\b{re.escape(word)}", text)] == [], kind


@pytest.mark.parametrize("example", examples(), ids=lambda example: f"{example.kind.value}/{example.reason}")
def test_a_finding_is_only_found_in_groups_of_the_kinds_above(example: Example):
    kind = CONNECT if example.group.protocol_type == CONNECT else example.group.kind
    (spec,) = [spec for spec in FINDINGS if name(spec) == f"{example.kind.value}/{example.reason}"]
    assert kind in kinds_of(spec)


def test_each_word_is_in_some_advice():
    """Else the word was renamed, and the test above looks for nothing."""
    texts = " ".join(advice(spec, kind) or "" for spec in FINDINGS for kind in kinds_of(spec))
    assert [word for word in MEANT_FOR if word not in texts] == ["KIP-848"]


GREW: Final = next(spec for spec in FINDINGS if name(spec) == "orphaned/grew")


@pytest.mark.parametrize(
    ("library", "told"),
    [
        (Library.JAVA, "within 5 minutes by default (metadata.max.age.ms)"),
        (Library.LIBRDKAFKA, "within 5 minutes by default (topic.metadata.refresh.interval.ms)"),
        (Library.SARAMA, "within 20 minutes by default (Metadata.RefreshFrequency, 10 minutes)"),
        (Library.FRANZ_GO, "within 5 minutes by default (MetadataMaxAge)"),
        (Library.KAFKAJS, "within 5 minutes by default (metadataMaxAge)"),
        (Library.KAFKA_PYTHON, "within 5 minutes by default (metadata_max_age_ms)"),
        (Library.AIOKAFKA, "within 5 minutes by default (metadata_max_age_ms)"),
        (
            Library.KAFKA_GO,
            "Do not wait: kafka-go does not look for new partitions unless WatchPartitionChanges is set.",
        ),
        (Library.PLATFORMATIC, "Do not wait: @platformatic/kafka does not look for new partitions."),
        (None, "Most client libraries notice new partitions within 5 minutes by default."),
    ],
)
def test_new_partitions_are_noticed_as_the_leaders_library_does(library: Library | None, told: str):
    text = GREW.advice_for(CLASSIC, library=library)
    assert text is not None
    assert told in text
    assert text.endswith("restart the leader (a static member must be away longer than its session timeout).")
    assert ("metadata.max.age.ms" in text) is (library is Library.JAVA)


def test_a_zookeeper_consumer_is_named_to_its_own_groups_only():
    (pending,) = [spec for spec in FINDINGS if name(spec) == "orphaned/pending"]
    of_streams, of_zookeeper = pending.advice_for(STREAMS), pending.advice_for(ZOOKEEPER)
    assert of_streams == (
        "Wait: the handover completes by itself. If it does not, check the named member: a member must poll to give up "
        "partitions and to take them."
    )
    assert of_zookeeper == (
        "Wait: the handover completes by itself. If it does not, check the named member. It may have given up (see its "
        "log): then restart it."
    )

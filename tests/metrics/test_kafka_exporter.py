"""The names, labels and meanings of danielqsj/kafka_exporter (kafka_exporter.go of its commit 00498a4)."""

import pytest
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from monitor.metrics.render import render_catalog, render_groups
from monitor.metrics.series_filter import Detail, SeriesRules
from monitor.metrics.specs import KAFKA_EXPORTER
from monitor.model import Catalog, FamilyBlock, GroupKind, PartitionState, PartitionVerdict, Phase, TopicState
from tests.web.examples import HOSTILE_NAMES, offsets_only, orders, unattended

PLAIN = SeriesRules(kafka_exporter=True)

LABELS = {
    "kafka_consumergroup_current_offset": ["consumergroup", "topic", "partition"],
    "kafka_consumergroup_current_offset_sum": ["consumergroup", "topic"],
    "kafka_consumergroup_lag": ["consumergroup", "topic", "partition"],
    "kafka_consumergroup_lag_sum": ["consumergroup", "topic"],
    "kafka_consumergroup_members": ["consumergroup"],
    "kafka_consumergroupzookeeper_lag_zookeeper": ["consumergroup", "topic", "partition"],
    "kafka_topic_partitions": ["topic"],
    "kafka_topic_partition_current_offset": ["topic", "partition"],
    "kafka_topic_partition_oldest_offset": ["topic", "partition"],
}
"""Of its families, those that are given here, with the labels of its prometheus.NewDesc."""


def kafka_lines(blocks: tuple[FamilyBlock, ...]) -> list[str]:
    own = sorted((block for block in blocks if block.family.startswith("kafka_")), key=lambda block: block.family)
    return [line for block in own for line in block.samples.splitlines()]


def catalog() -> Catalog:
    partitions = (
        PartitionState(partition=0, first_seen_ms=1, earliest=4, end=100),
        PartitionState(partition=1, first_seen_ms=1),
    )
    return Catalog("main", 1, topics={"t": TopicState("main", "t", 1, partitions=partitions)})


def test_the_table_has_its_names_and_labels():
    assert {spec.name: list(spec.labels) for spec in KAFKA_EXPORTER} == LABELS


def test_the_samples_of_a_group():
    """Partition 2 has no commit: that exporter says -1, here it is absent. 90 + 50 + 7 are committed, 12 wait."""
    assert kafka_lines(render_groups([orders()], PLAIN)) == [
        'kafka_consumergroup_current_offset{consumergroup="orders",topic="t",partition="0"} 90',
        'kafka_consumergroup_current_offset{consumergroup="orders",topic="t",partition="1"} 50',
        'kafka_consumergroup_current_offset{consumergroup="orders",topic="t",partition="3"} 7',
        'kafka_consumergroup_current_offset_sum{consumergroup="orders",topic="t"} 147',
        'kafka_consumergroup_lag{consumergroup="orders",topic="t",partition="0"} 10',
        'kafka_consumergroup_lag{consumergroup="orders",topic="t",partition="1"} 0',
        'kafka_consumergroup_lag{consumergroup="orders",topic="t",partition="3"} 2',
        'kafka_consumergroup_lag_sum{consumergroup="orders",topic="t"} 12',
        'kafka_consumergroup_members{consumergroup="orders"} 2',
    ]


def test_the_samples_of_a_topic():
    assert kafka_lines(render_catalog(catalog(), PLAIN)) == [
        'kafka_topic_partition_current_offset{topic="t",partition="0"} 100',
        'kafka_topic_partition_oldest_offset{topic="t",partition="0"} 4',
        'kafka_topic_partitions{topic="t"} 2',
    ]


@pytest.mark.parametrize("label", ["cluster", "kafka_cluster"])
def test_several_clusters_are_told_apart_by_a_label(label: str):
    rules = replace(PLAIN, kafka_exporter_cluster=True, cluster_label=label)
    for line in [*kafka_lines(render_groups([orders()], rules)), *kafka_lines(render_catalog(catalog(), rules))]:
        assert f'{{{label}="main",' in line


def test_nothing_is_given_by_these_names_unless_asked_for():
    assert kafka_lines(render_groups([orders()])) == []
    assert kafka_lines(render_catalog(catalog())) == []


def test_a_group_without_members_has_0_and_one_that_only_commits_has_no_number():
    assert 'kafka_consumergroup_members{consumergroup="y"} 0' in kafka_lines(render_groups([unattended("y")], PLAIN))
    assert not [line for line in kafka_lines(render_groups([offsets_only("g")], PLAIN)) if "members" in line]


@pytest.mark.parametrize(
    ("kind", "families"),
    [
        (GroupKind.SHARE, set()),
        (GroupKind.ROCKETMQ, set()),
        (GroupKind.METAQ, set()),
        (GroupKind.SPARK, set()),
        (GroupKind.ZOOKEEPER, {"kafka_consumergroupzookeeper_lag_zookeeper"}),
        (GroupKind.CONSUMER, {name for name in LABELS if name.startswith("kafka_consumergroup_")}),
    ],
)
def test_only_groups_of_kafka_have_such_series(kind: GroupKind, families: set[str]):
    verdict = replace(orders(), kind=kind)
    assert {line.partition("{")[0] for line in kafka_lines(render_groups([verdict], PLAIN))} == families


def test_topics_of_other_systems_have_no_such_series():
    queues = (PartitionState(partition="broker-a-0", first_seen_ms=1, end=100),)
    of_rocketmq = Catalog("r", 1, topics={"t": TopicState("r", "t", 1, partitions=queues)})
    assert kafka_lines(render_catalog(of_rocketmq, PLAIN)) == []


def test_the_detail_counts_for_them_too():
    sums = replace(PLAIN, detail=Detail.TOPIC)
    names = {line.partition("{")[0] for line in kafka_lines(render_groups([orders()], sums))}
    assert names == {
        "kafka_consumergroup_current_offset_sum",
        "kafka_consumergroup_lag_sum",
        "kafka_consumergroup_members",
    }
    assert kafka_lines(render_catalog(catalog(), sums)) == ['kafka_topic_partitions{topic="t"} 2']
    alone = replace(PLAIN, detail=Detail.GROUP)
    assert kafka_lines(render_groups([orders()], alone)) == ['kafka_consumergroup_members{consumergroup="orders"} 2']


def test_a_lag_that_is_not_known_has_no_sum():
    """The end of the partition is not known."""
    verdict = replace(offsets_only("g"), partitions=(PartitionVerdict("t", 0, committed=5),))
    names = {line.partition("{")[0] for line in kafka_lines(render_groups([verdict], PLAIN))}
    assert names == {"kafka_consumergroup_current_offset", "kafka_consumergroup_current_offset_sum"}


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_come_back_as_they_were(name: str):
    blocks = render_groups([replace(offsets_only(name), state=Phase.EMPTY)], PLAIN)
    text = "".join(block.samples for block in blocks if block.family.startswith("kafka_"))
    samples = [sample for metric in text_string_to_metric_families(text) for sample in metric.samples]
    assert {sample.labels["consumergroup"] for sample in samples} == {name}
    assert {sample.labels["topic"] for sample in samples if "topic" in sample.labels} == {name}

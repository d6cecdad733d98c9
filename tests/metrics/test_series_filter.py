"""How far down series go, by the names of groups and topics; nothing else depends on it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.detection.group_summary import summary_of
from monitor.metrics.cluster_samples import render_cluster
from monitor.metrics.render import render_catalog, render_groups
from monitor.metrics.series_filter import Detail, DetailOverride, SeriesRules
from monitor.model import (
    Catalog,
    Finding,
    FindingKind,
    GroupKind,
    GroupVerdict,
    MemberVerdict,
    PartitionState,
    PartitionVerdict,
    Phase,
    TopicLag,
    TopicState,
)
from tests.web.examples import HOSTILE_NAMES, NOW_MS, offsets_only, orders

CLUSTER, GROUP, TOPIC, PARTITION = Detail
RULES = SeriesRules(
    detail=TOPIC,
    overrides=(
        DetailOverride(GROUP, topics="noise-.*"),
        DetailOverride(PARTITION, cluster="test"),
        DetailOverride(PARTITION, groups="payments", topics="orders"),
        DetailOverride(GROUP, groups="payments"),
        DetailOverride(CLUSTER, groups="batch-.*"),
    ),
    allow_groups=(".*a.*", "x"),
    deny_groups=("tmp-a", "console-.*"),
    deny_topics=("__.*",),
)


@pytest.mark.parametrize(
    ("cluster", "group", "expected"),
    [
        ("prod", "late", TOPIC),
        ("prod", "x", TOPIC),
        ("prod", "xx", CLUSTER),  # not allowed: the whole name has to match
        ("prod", "batch-1", CLUSTER),
        ("test", "batch-1", PARTITION),  # the first that matches
        ("prod", "payments", GROUP),  # an override that names topics says nothing of the group
        ("test", "tmp-a", CLUSTER),  # denied goes before everything
        ("prod", "console-a", CLUSTER),
    ],
)
def test_the_detail_of_a_group(cluster: str, group: str, expected: Detail):
    assert RULES.of_group(cluster, group) is expected


@pytest.mark.parametrize(
    ("cluster", "group", "topic", "expected"),
    [
        ("prod", "late", "t", TOPIC),
        ("prod", "late", "noise-1", GROUP),
        ("test", "late", "noise-1", GROUP),
        ("test", "late", "t", PARTITION),
        ("prod", "payments", "orders", PARTITION),
        ("prod", "payments", "others", GROUP),
        ("test", "late", "__offsets", GROUP),
        ("prod", "batch-1", "t", CLUSTER),
        ("prod", "batch-1", "noise-1", CLUSTER),  # a group that is not shown has no topics either
        ("test", None, "t", PARTITION),
        ("prod", None, "orders", TOPIC),  # overrides for some groups are not about the topic itself
        ("prod", None, "noise-1", GROUP),
    ],
)
def test_the_detail_of_a_topic(cluster: str, group: str | None, topic: str, expected: Detail):
    assert RULES.of_topic(cluster, group, topic) is expected


def two_topics(group: str = "g") -> GroupVerdict:
    """Topic "a" with two partitions, "b" with one; 3 + 4 and 5 records wait, the oldest for 1.5 s."""
    return GroupVerdict(
        cluster="c",
        group=group,
        kind="kafka-classic",
        state=Phase.OFFSETS_ONLY,
        evaluated_ms=NOW_MS,
        partitions=(
            PartitionVerdict("a", 0, committed=7, end=10, lag=3),
            PartitionVerdict("a", 1, committed=6, end=10, lag=4, lag_ms=1_500),
            PartitionVerdict("b", 0, committed=5, end=10, lag=5),
        ),
        topics=(TopicLag("a", 7, 1_500, 2), TopicLag("b", 5, None, 1)),
        lag=12,
        lag_ms=1_500,
    )


def lines(verdict: GroupVerdict, rules: SeriesRules) -> list[str]:
    """The samples about partitions and topics."""
    text = "".join(block.samples for block in render_groups([verdict], rules))
    return [line for line in text.splitlines() if "_partition_" in line or "_topic_" in line]


OF_A = [
    'groupwatch_partition_lag{cluster="c",group="g",topic="a",partition="0"} 3',
    'groupwatch_partition_lag{cluster="c",group="g",topic="a",partition="1"} 4',
    'groupwatch_partition_lag_seconds{cluster="c",group="g",topic="a",partition="1"} 1.5',
    'groupwatch_partition_committed_offset{cluster="c",group="g",topic="a",partition="0"} 7',
    'groupwatch_partition_committed_offset{cluster="c",group="g",topic="a",partition="1"} 6',
]


def test_each_topic_is_shown_as_its_rule_says():
    mixed = SeriesRules(detail=TOPIC, overrides=(DetailOverride(PARTITION, topics="a"),))
    assert lines(two_topics(), mixed) == [*OF_A, 'groupwatch_topic_lag{cluster="c",group="g",topic="b"} 5']
    assert lines(two_topics(), SeriesRules(detail=TOPIC)) == [
        'groupwatch_topic_lag{cluster="c",group="g",topic="a"} 7',
        'groupwatch_topic_lag{cluster="c",group="g",topic="b"} 5',
        'groupwatch_topic_lag_seconds{cluster="c",group="g",topic="a"} 1.5',
    ]
    assert lines(two_topics(), SeriesRules(allow_topics=("a",))) == OF_A
    assert lines(two_topics(), SeriesRules(detail=GROUP)) == []


def test_what_metaq_sums_up_is_bytes():
    group = replace(two_topics(), kind=GroupKind.METAQ, lag_ms=None)
    assert {line.partition("{")[0] for line in lines(group, SeriesRules(detail=TOPIC))} == {
        "groupwatch_topic_lag_bytes",
        "groupwatch_topic_lag_seconds",
    }


def test_a_group_without_topics_keeps_its_own_series():
    whole = {block.family: block.samples for block in render_groups([two_topics()])}
    short = {block.family: block.samples for block in render_groups([two_topics()], SeriesRules(detail=GROUP))}
    assert short == {name: text for name, text in whole.items() if name.startswith("groupwatch_group_")}
    assert len(short) > 3


def test_a_group_that_is_not_shown_has_no_series_at_all():
    everything = SeriesRules(detail=CLUSTER, member_info=True, owner_info=True, kafka_exporter=True)
    assert render_groups([orders(), two_topics()], everything) == ()
    assert render_groups([orders()], SeriesRules(deny_groups=("orders",))) == ()


def test_the_ends_of_a_topic_are_shown_where_its_partitions_are():
    partitions = (PartitionState(partition=0, first_seen_ms=1, end=100),)
    topics = {name: TopicState("c", name, 1, partitions=partitions) for name in ("a", "b", "__x")}
    catalog = Catalog(cluster="c", pass_ms=1, topics=topics)
    rules = SeriesRules(
        overrides=(DetailOverride(TOPIC, topics="b"), DetailOverride(GROUP, groups=".*")), deny_topics=("__.*",)
    )
    (block,) = render_catalog(catalog, rules)
    assert block.samples == 'groupwatch_partition_end_offset{cluster="c",topic="a",partition="0"} 100\n'


def test_the_sums_of_a_cluster_are_those_of_all_its_groups():
    """The lag of MetaQ is in bytes and is no part of a sum of records."""
    found = Finding(kind=FindingKind.LAG, reason="behind", since_ms=0, sentence="")
    groups = [
        replace(two_topics(), findings=(found, found)),
        replace(two_topics("h"), findings=(found,), state=Phase.STABLE),
        replace(two_topics("m"), kind=GroupKind.METAQ),
        replace(two_topics("n"), lag=None),
    ]
    text = "".join(block.samples for block in render_cluster("c", [summary_of(group) for group in groups]))
    assert text.splitlines() == [
        'groupwatch_cluster_groups{cluster="c",state="offsets_only"} 3',
        'groupwatch_cluster_groups{cluster="c",state="empty"} 0',
        'groupwatch_cluster_groups{cluster="c",state="not_ready"} 0',
        'groupwatch_cluster_groups{cluster="c",state="assigning"} 0',
        'groupwatch_cluster_groups{cluster="c",state="reconciling"} 0',
        'groupwatch_cluster_groups{cluster="c",state="stable"} 1',
        'groupwatch_cluster_lag{cluster="c"} 24',
        'groupwatch_cluster_findings{cluster="c",kind="lag",reason="behind"} 3',
    ]


def test_a_lag_that_nobody_knows_is_not_summed_up():
    families = {block.family for block in render_cluster("c", [])}
    assert families == {"groupwatch_cluster_groups"}


def test_members_and_owners_are_told_to_those_who_ask():
    group = replace(
        two_topics(),
        state=Phase.STABLE,
        members=(
            MemberVerdict("m1", client_id='a"b', host="/10.0.0.1"),
            MemberVerdict("m2", instance_id="i2", client_id="c2", host="/10.0.0.2"),
        ),
        partitions=(
            PartitionVerdict("a", 0, owners=("m1", "m2")),
            PartitionVerdict("a", 1, owners=("gone",), expected="m2"),
            PartitionVerdict("b", 0),
        ),
    )
    blocks = {block.family: block.samples for block in render_groups([group], SeriesRules(member_info=True))}
    begin = 'groupwatch_member_info{cluster="c",group="g",member_id='
    assert blocks["groupwatch_member_info"].splitlines() == [
        rf'{begin}"m1",client_id="a\"b",host="/10.0.0.1",instance_id=""}} 1',
        f'{begin}"m2",client_id="c2",host="/10.0.0.2",instance_id="i2"}} 1',
    ]
    assert "groupwatch_partition_owner_info" not in blocks
    blocks = {block.family: block.samples for block in render_groups([group], SeriesRules(owner_info=True))}
    begin = 'groupwatch_partition_owner_info{cluster="c",group="g",topic="a",partition='
    assert blocks["groupwatch_partition_owner_info"].splitlines() == [
        rf'{begin}"0",member_id="m1",client_id="a\"b",host="/10.0.0.1"}} 1',
        f'{begin}"0",member_id="m2",client_id="c2",host="/10.0.0.2"}} 1',
        f'{begin}"1",member_id="gone",client_id="",host=""}} 1',
    ]
    assert blocks["groupwatch_partition_expected_owner_info"] == (
        'groupwatch_partition_expected_owner_info{cluster="c",group="g",topic="a",partition="1",'
        'member_id="m2",client_id="c2",host="/10.0.0.2"} 1\n'
    )
    assert "groupwatch_member_info" not in blocks


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, "a\ud800b"])
def test_a_hostile_name_is_matched_as_any_other(name: str):
    rules = SeriesRules(deny_groups=("(?s).*",))
    assert rules.of_group(name, name) is CLUSTER
    assert SeriesRules(overrides=(DetailOverride(GROUP, groups="no.*match"),)).of_group(name, name) is PARTITION


@given(st.lists(st.text(max_size=8), max_size=4), st.sampled_from(Detail))
def test_less_detail_never_adds_a_series(names, detail):
    """But for the sums of topics, which stand for their partitions."""
    verdicts = [offsets_only(name) for name in dict.fromkeys(names)]
    whole = {line for block in render_groups(verdicts) for line in block.samples.split("\n")}
    less = {line for block in render_groups(verdicts, SeriesRules(detail=detail)) for line in block.samples.split("\n")}
    assert {line for line in less if not line.startswith("groupwatch_topic_lag")} <= whole

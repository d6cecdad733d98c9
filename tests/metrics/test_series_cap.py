"""The cap on series: it holds, it takes the finest detail and the largest groups first, and never half a group."""

import gzip
from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from monitor.metrics.render import packed, prepared, render_groups
from monitor.metrics.series_cap import LARGE, Fitted, LeftOut, apart_if_large, fitted, render_left_out
from monitor.metrics.series_filter import Detail, SeriesRules
from monitor.metrics.spec_types import MetricScope
from monitor.metrics.specs import FAMILIES
from monitor.model import ClusterSnapshot, FamilyBlock, GroupVerdict, PackedBlock, PartitionVerdict, TopicLag
from tests.web.examples import offsets_only, orders

LAG, TOPIC_LAG, GROUP_LAG, SUM = (
    "groupwatch_partition_lag",
    "groupwatch_topic_lag",
    "groupwatch_group_lag",
    "groupwatch_cluster_lag",
)


def block(family: str, series: int, bucket: int | None, group: str = "") -> PackedBlock:
    samples = "".join(f'{family}{{n="{number}"}} 1\n' for number in range(series))
    (one,) = packed([FamilyBlock(family=family, samples=samples, group=group)])
    return msgspec.structs.replace(one, bucket=bucket)


def cluster(name: str, *blocks: PackedBlock) -> ClusterSnapshot:
    return ClusterSnapshot(cluster=name, ready=True, blocks=blocks)


ONE = cluster(
    "one",
    block(LAG, 40, 0),
    block(LAG, 60, 1),
    block(LAG, 30, 1, "large"),
    block(LAG, 50, 0, "larger"),
    block(TOPIC_LAG, 7, 0),
    block(TOPIC_LAG, 7, 1),
    block(GROUP_LAG, 5, 0),
    block(GROUP_LAG, 4, 1),
    block(SUM, 1, None),
)


def kept(fit: Fitted) -> list[tuple[str, int | None, str]]:
    return [(each.family, each.bucket, each.group) for each in fit.blocks]


def counts(fit: Fitted) -> list[int]:
    assert [each.detail for each in fit.left_out] == [Detail.PARTITION, Detail.TOPIC, Detail.GROUP]
    return [each.series for each in fit.left_out]


@pytest.mark.parametrize(
    ("room", "left_out", "first_kept"),
    [
        pytest.param(204, [0, 0, 0], 9, id="as many as there are"),
        pytest.param(203, [50, 0, 0], 8, id="one too many: the largest group's partitions"),
        pytest.param(154, [50, 0, 0], 8, id="that is enough"),
        pytest.param(153, [80, 0, 0], 7, id="then the other large group's, though the small ones together have more"),
        pytest.param(123, [140, 0, 0], 6, id="then the fuller bucket's small groups'"),
        pytest.param(63, [180, 0, 0], 5, id="then all partitions"),
        pytest.param(23, [180, 7, 0], 4, id="then topics, of equal buckets the first"),
        pytest.param(16, [180, 14, 0], 3, id="then all topics"),
        pytest.param(9, [180, 14, 5], 2, id="then groups"),
        pytest.param(1, [180, 14, 9], 1, id="the sums of the cluster alone"),
        pytest.param(-5, [180, 14, 9], 1, id="which stay in any case"),
    ],
)
def test_what_is_left_out_first(room: int, left_out: list[int], first_kept: int):
    fit = fitted([ONE], room)
    assert counts(fit) == left_out
    assert len(fit.blocks) == first_kept


def test_a_large_group_loses_its_partitions_and_nothing_else():
    fit = fitted([ONE], 203)
    assert (LAG, 0, "larger") not in kept(fit)
    assert [each for each in kept(fit) if each[0] != LAG] == [
        (each.family, each.bucket, each.group) for each in ONE.blocks if each.family != LAG
    ]


def test_the_ends_of_topics_are_detail_of_partitions():
    ends = cluster("c", block("groupwatch_partition_end_offset", 10, None), block(LAG, 9, 3), block(GROUP_LAG, 1, 3))
    assert kept(fitted([ends], 19)) == [(LAG, 3, ""), (GROUP_LAG, 3, "")]


def test_the_largest_goes_first_whosever_it_is():
    two = [ONE, cluster("two", block(LAG, 45, 0, "large"), block(GROUP_LAG, 2, 0))]
    fit = fitted(two, 250)  # of 251
    assert fit.left_out[0] == LeftOut("one", Detail.PARTITION, 50)
    fit = fitted(two, 200)
    assert {(each.cluster, each.series) for each in fit.left_out if each.series} == {("one", 50), ("two", 45)}


FEW = (LAG, "groupwatch_partition_committed_offset", TOPIC_LAG, GROUP_LAG, "groupwatch_group_info")
sizes = st.integers(0, 12)
clusters = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from(
                [LAG, "groupwatch_partition_committed_offset", TOPIC_LAG, GROUP_LAG, "groupwatch_group_info"]
            ),
            sizes,
            st.integers(0, 2),
            st.sampled_from(["", "g", "h"]),
        ),
        max_size=12,
        unique_by=lambda each: (each[0], each[2], each[3]),
    ),
    max_size=3,
)


def made(given: list[list[tuple[str, int, int, str]]]) -> list[ClusterSnapshot]:
    """Only the partitions of a group are ever apart from those of the others."""
    return [
        cluster(
            f"c{number}",
            *(block(family, size, bucket, own if "partition" in family else "") for family, size, bucket, own in each),
        )
        for number, each in enumerate(given)
    ]


def total(blocks: Iterable[PackedBlock]) -> int:
    return sum(each.samples.lines for each in blocks)


@given(clusters, st.integers(0, 200))
def test_the_cap_holds_and_all_that_is_left_out_is_counted(given_, room):
    shown = made(given_)
    fit = fitted(shown, room)
    before = total(each for one in shown for each in one.blocks)
    assert total(fit.blocks) <= room
    assert total(fit.blocks) + sum(each.series for each in fit.left_out) == before
    if before <= room:
        assert list(fit.blocks) == [each for one in shown for each in one.blocks]


@given(clusters, st.integers(0, 200))
def test_a_group_has_all_of_a_detail_or_nothing_of_it(given_, room):
    shown = made(given_)
    stays = {id(each) for each in fitted(shown, room).blocks}
    for one in shown:
        kept_of: dict[tuple[bool, int | None, str], set[bool]] = {}
        for each in one.blocks:
            if each.family != TOPIC_LAG:
                unit = ("partition" in each.family, each.bucket, each.group)
                kept_of.setdefault(unit, set()).add(id(each) in stays)
        assert all(len(answers) == 1 for answers in kept_of.values())


@given(clusters, st.integers(0, 200))
def test_nothing_coarse_goes_while_something_fine_is_left(given_, room):
    fit = fitted(made(given_), room)
    gone = {each.detail for each in fit.left_out if each.series}
    if gone & {Detail.TOPIC, Detail.GROUP}:
        assert total(each for each in fit.blocks if "partition" in each.family) == 0
    if Detail.GROUP in gone:
        assert total(each for each in fit.blocks if each.family == TOPIC_LAG) == 0


@given(clusters, st.integers(0, 200), st.randoms(use_true_random=False))
def test_the_choice_depends_on_what_there_is_and_not_on_its_order(given_, room, random):
    shown = made(given_)
    mixed = [msgspec.structs.replace(one, blocks=tuple(random.sample(one.blocks, len(one.blocks)))) for one in shown]
    assert set(kept(fitted(shown, room))) == set(kept(fitted(mixed, room)))
    assert fitted(shown, room).left_out == fitted(mixed, room).left_out


@given(clusters, st.integers(0, 199))
def test_more_room_never_leaves_out_more(given_, room):
    shown = made(given_)
    less, more = fitted(shown, room), fitted(shown, room + 1)
    assert total(less.blocks) <= total(more.blocks)


def wide(group: str, partitions: int) -> GroupVerdict:
    """Two series for each partition."""
    rows = tuple(PartitionVerdict("t", number, committed=1, end=3, lag=2) for number in range(partitions))
    topics = (TopicLag("t", 2 * partitions, None, partitions),)
    return msgspec.structs.replace(offsets_only(group), partitions=rows, topics=topics, lag=2 * partitions)


def test_the_partitions_of_a_large_group_are_apart():
    small, large = wide("g", LARGE // 2 - 1), wide("g", LARGE // 2)
    assert {each.group for each in apart_if_large("g", render_groups([small]))} == {""}
    apart = apart_if_large("g", render_groups([large]))
    assert {each.family: each.group for each in apart} == {
        "groupwatch_partition_lag": "g",
        "groupwatch_partition_committed_offset": "g",
        "groupwatch_group_lag": "",
        "groupwatch_group_info": "",
        "groupwatch_group_state": "",
        "groupwatch_group_redelivered_records_total": "",
    }


def text_of(max_series: int | None) -> str:
    """Of two groups, of which "wide" is large."""
    blocks = packed(
        each
        for group in (wide("wide", LARGE), offsets_only("small"), orders())
        for each in apart_if_large(group.group, render_groups([group]))
    )
    shown = ClusterSnapshot(cluster="main", ready=True, blocks=blocks)
    return gzip.decompress(prepared([shown], "1", max_series=max_series).text_gzip).decode()


def test_a_scrape_has_no_more_series_than_there_may_be_and_tells_what_is_missing():
    whole, cut = text_of(None), text_of(2_000)
    assert "series_left_out" not in whole
    samples = [sample for metric in text_string_to_metric_families(cut) for sample in metric.samples]
    assert len(samples) <= 2_000
    left_out = {s.labels["detail"]: s.value for s in samples if s.name == "groupwatch_series_left_out"}
    assert left_out == {"partition": 2 * LARGE, "topic": 0, "group": 0}
    assert {s.labels["group"] for s in samples if s.name == "groupwatch_group_lag"} == {"wide", "orders"}
    assert {s.labels["group"] for s in samples if s.name == "groupwatch_partition_lag"} == {"small", "orders"}


def test_where_nothing_is_left_out_that_is_told_too():
    samples = [s for metric in text_string_to_metric_families(text_of(100_000)) for s in metric.samples]
    assert {s.value for s in samples if s.name == "groupwatch_series_left_out"} == {0}
    assert len(samples) == len([line for line in text_of(None).splitlines() if line[0] != "#"]) + 3


def test_what_is_said_of_clusters_and_of_groupwatch_stays():
    text = text_of(1)
    families = {line.partition("{")[0] for line in text.splitlines() if line[0] != "#"}
    assert {FAMILIES[name].scope for name in families} == {MetricScope.SELF}
    assert "groupwatch_up" in families


def test_members_count_as_detail():
    blocks = apart_if_large("orders", render_groups([orders()], SeriesRules(member_info=True)))
    shown = ClusterSnapshot(cluster="main", ready=True, blocks=packed(blocks))
    fit = fitted([shown], sum(each.samples.lines for each in shown.blocks) - 1)
    assert "groupwatch_member_info" not in {each.family for each in fit.blocks}
    assert counts(fit)[1:] == [0, 0]


def test_a_hostile_name_of_a_cluster_is_escaped():
    (one,) = render_left_out([LeftOut('a"b\n', Detail.TOPIC, 3)])
    assert one.samples == 'groupwatch_series_left_out{cluster="a\\"b\\n",detail="topic"} 3\n'

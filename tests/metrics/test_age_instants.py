"""Ages that are made of instants where they are shown."""

import gzip

import pytest
from msgspec.structs import replace

from monitor.metrics.age_instants import (
    AGE_FAMILIES,
    AgedBlocks,
    deflated_samples,
    with_ages,
    with_instants,
    write_ages,
)
from monitor.metrics.render import join, render_groups
from monitor.metrics.specs import METRICS
from monitor.model import ClusterSnapshot, FamilyBlock, PackedBlock
from tests.support.builders import NOW
from tests.web.examples import orders

FAMILY = "groupwatch_group_lag_seconds"
LINE = FAMILY + '{{cluster="c",group="g"}} {}\n'


def cluster(value: str, *, ready: bool = True) -> ClusterSnapshot:
    blocks = (PackedBlock(FAMILY, deflated_samples(LINE.format(value))),)
    return ClusterSnapshot(cluster="c", ready=ready, evaluated_ms=NOW, blocks=blocks)


def shown(found: ClusterSnapshot) -> str:
    """The value of the only sample."""
    lines = gzip.decompress(join(found.blocks)).decode().splitlines()
    return lines[-1].rpartition(" ")[2]


@pytest.mark.parametrize(
    ("later_ms", "age"),
    [(0, "2.5"), (10_000, "12.5"), (30_000, "32.5"), (3_600_000, "32.5"), (-5_000, "2.5")],
    ids=str,
)
def test_an_age_grows_for_half_a_minute_after_the_evaluation(later_ms, age):
    """Of what happened later nothing is known. A clock that was set back makes no age shorter."""
    assert shown(AgedBlocks().of(cluster(f"@{NOW - 2_500}"), NOW + later_ms)) == age


def test_the_age_of_a_cluster_of_the_run_before_stays():
    assert shown(AgedBlocks().of(cluster(f"@{NOW - 2_500}", ready=False), NOW + 10_000)) == "2.5"


def test_a_text_is_written_again_once_its_ages_are_5_s_old():
    blocks, found = AgedBlocks(), cluster(f"@{NOW - 2_500}")
    first = blocks.of(found, NOW).blocks[0].samples
    blocks.renew(found, NOW + 4_999)
    assert blocks.of(found, NOW + 4_999).blocks[0].samples is first
    assert blocks.of(found, NOW + 5_000).blocks[0].samples is first, "who publishes does not write all texts"
    blocks.renew(found, NOW + 5_000)
    assert shown(blocks.of(found, NOW + 5_000)) == "7.5"
    assert shown(blocks.of(cluster(f"@{NOW - 9_000}"), NOW + 5_001)) == "14.001", "another text is written at once"


def test_after_an_outage_no_age_is_shown_as_it_was_before():
    blocks, found = AgedBlocks(), cluster(f"@{NOW - 2_500}")
    blocks.of(found, NOW)
    assert shown(blocks.of(replace(found, evaluated_ms=NOW + 600_000), NOW + 600_000)) == "602.5"


def test_what_is_published_while_texts_are_written_stays():
    """A thread writes what it found; the texts of a newer evaluation are not lost."""
    blocks, newer = AgedBlocks(), cluster(f"@{NOW - 9_000}")
    blocks.of(cluster(f"@{NOW - 2_500}"), NOW)
    blocks.of(newer, NOW + 1_000)
    blocks.renew(cluster(f"@{NOW - 2_500}"), NOW + 6_000)
    assert shown(blocks.of(newer, NOW + 6_000)) == "15"


def test_a_text_without_instants_is_as_it_came():
    blocks, found = AgedBlocks(), cluster("3")
    assert blocks.of(found, NOW + 20_000).blocks[0].samples is found.blocks[0].samples
    assert not blocks.grow
    blocks.of(cluster(f"@{NOW}"), NOW)
    assert blocks.grow


def test_what_a_label_says_is_not_taken_for_an_age():
    hostile = 'groupwatch_group_lag_seconds{cluster="c",group="} @5"} 2\n'
    (dated,) = with_instants([FamilyBlock(FAMILY, hostile)], NOW)
    assert dated.samples == hostile.replace("} 2\n", f"}} @{NOW - 2_000}\n")
    assert write_ages(dated.samples, NOW) == hostile


def test_all_else_of_a_group_stays_as_it_is():
    blocks = render_groups([orders()])
    dated = with_instants(blocks, orders().evaluated_ms)
    changed = {new.family for new, old in zip(dated, blocks, strict=True) if new != old}
    assert {FAMILY, "groupwatch_partition_lag_seconds"} <= changed <= AGE_FAMILIES
    assert with_ages(dated, orders().evaluated_ms) == blocks


def test_each_family_of_ages_is_in_seconds():
    names = {spec.name for spec in METRICS}
    assert names >= AGE_FAMILIES
    assert all(name.endswith("_seconds") for name in AGE_FAMILIES)


def test_a_cluster_without_an_evaluation_has_no_ages():
    empty = replace(cluster("3"), evaluated_ms=None, blocks=())
    assert AgedBlocks().of(empty, NOW) is empty

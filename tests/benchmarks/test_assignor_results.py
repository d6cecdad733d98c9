"""The benchmark's results are the originals', and stay within the memory that is promised. No test looks at times."""

from __future__ import annotations

import pytest

from tests.benchmarks.assignors import CHECKSUMS, measure_original, measure_ours, measure_ours_apart, rows
from tests.benchmarks.recipe import INPUTS

PROMISED_MB = 1500
"""For 1,000,000 partitions and 2,000 members."""

FAMILIES = list(CHECKSUMS["a", "fresh"])


@pytest.mark.parametrize(("name", "start", "family"), list(rows("ac", ("fresh", "leave"), FAMILIES)))
def test_the_result_is_the_originals(name, start, family):
    assert measure_ours(name, start, family, runs=1)["crc32"] == CHECKSUMS[name, start][family]


@pytest.mark.parametrize(("start", "family"), [("fresh", "kafka.roundrobin"), ("leave", "kafka.sticky")])
def test_a_million_partitions_fit_into_the_promised_memory(start, family):
    measured = measure_ours_apart("b", start, family, runs=1)
    assert measured["crc32"] == CHECKSUMS["b", start][family]
    assert measured["peak_mb"] <= PROMISED_MB


def test_the_original_gives_its_own_checksums():
    assert measure_original("c", "leave", "kafka.sticky", runs=1)["crc32"] == CHECKSUMS["c", "leave"]["kafka.sticky"]


def test_the_table_has_a_checksum_for_every_input_and_start():
    assert {name for name, _ in CHECKSUMS} == set(INPUTS)
    assert len(list(rows("abcd", ("fresh", "leave"), FAMILIES))) == 36

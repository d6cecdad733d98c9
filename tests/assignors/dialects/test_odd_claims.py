"""Groups whose members claim what cannot be true, asked of the published libraries (tests/fixtures/dialects-odd).

Claims of old generations, of several members, of topics that are not subscribed to or do not exist. For librdkafka,
whose 2.15.0 was built from its sources, they are groups with racks. Those that are called corners were found as groups
in which a rare step of an algorithm matters.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from monitor.assignors.dialects import DIALECTS, ReplayedDialect
from tests.assignors.dialects.golden import answer, original, refused_answers

FOLDER = Path(__file__).parents[2] / "fixtures" / "dialects-odd"
FAMILIES = sorted(path.name.removesuffix(".jsonl.gz") for path in FOLDER.glob("*.jsonl.gz"))
OTHER_CHOICES = {"aiokafka.sticky/odd-6", "aiokafka.sticky/odd-32"}
"""Where the first element of a set of strings decides, and was not the smallest one: PYTHONHASHSEED was 1."""


def read(family):
    return [json.loads(line) for line in gzip.decompress((FOLDER / f"{family}.jsonl.gz").read_bytes()).splitlines()]


def test_the_sticky_families_are_here():
    assert {family: sum("/odd-" in vector["id"] for vector in read(family)) for family in FAMILIES} == {
        family: 60 for family in DIALECTS if "sticky" in family or family == "kafka-go.rack-affinity"
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_the_answers_are_accepted(family):
    assert refused_answers(family, read(family)) == []


@pytest.mark.parametrize("family", [name for name in FAMILIES if isinstance(DIALECTS[name].rule, ReplayedDialect)])
def test_the_answers_are_replayed(family):
    rule = DIALECTS[family].rule
    assert isinstance(rule, ReplayedDialect)
    wrong = {vector["id"] for vector in read(family) if not is_right(answer(rule, vector), original(vector))}
    assert wrong == {each for each in OTHER_CHOICES if each.startswith(family)}


def is_right(ours, theirs):
    """Whether the answer is the library's, or both end: which signal a leader gets depends on its memory."""
    return ours == theirs or all(said.get("error", "").startswith("signal") for said in (ours, theirs))

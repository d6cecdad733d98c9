"""docs/tracking.md names every state, kind and cause there is, and no other."""

import re
from pathlib import Path

import pytest

from monitor.model import GroupKind, Phase, RebalanceCause
from monitor.model.commit_history import RECENT, SLOTS
from monitor.tracking.rebalances.history import MAX_REBALANCES
from tests.support.captures import BROKERS, marks

PAGE = (Path(__file__).parent.parent.parent / "docs" / "tracking.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("heading", "words"), [("Kinds of groups", GroupKind), ("States", Phase), ("Rebalances", RebalanceCause)]
)
def test_the_tables_are_whole(heading, words):
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE) == [word.value for word in words]


def test_the_numbers_are_those_of_the_code():
    assert f"keeps the newest {MAX_REBALANCES} rebalances of a group" in PAGE
    assert (RECENT, SLOTS) == (10, 10)
    assert f"{16 * (RECENT + SLOTS)} bytes" in PAGE
    assert f"each of {sum(len(marks(broker)) for broker in BROKERS)} moments" in PAGE

"""What a person is told to do: for every finding there is something."""

import ast
from pathlib import Path

import pytest

from monitor import detection
from monitor.detection.messages.advice import ADVICE
from monitor.detection.messages.notification import told
from monitor.model import DriftKind, Finding, FindingKind, OrphanReason

PLACES = [*Path(detection.__file__).parent.glob("*.py")]


def reasons_in_the_rules():
    """What stands behind ``reason=`` where a rule makes a finding of a kind that is written out."""
    for path in PLACES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding":
                fields = {keyword.arg: keyword.value for keyword in node.keywords}
                if isinstance(fields.get("reason"), ast.Constant):
                    yield FindingKind[fields["kind"].attr], fields["reason"].value


def test_there_is_advice_for_every_finding_that_a_rule_makes():
    found = set(reasons_in_the_rules())
    assert len(found) > 4, "guards the test: it sees the rules"
    found |= {(FindingKind.ORPHANED, reason) for reason in OrphanReason}
    found |= {(FindingKind.DRIFT, kind) for kind in DriftKind}
    assert not {(kind.value, str(reason)) for kind, reason in found - ADVICE.keys()}


@pytest.mark.parametrize("said", ADVICE)
def test_it_is_one_short_paragraph(said):
    assert ADVICE[said].endswith(".")
    assert len(ADVICE[said]) < 220


def test_what_is_not_known_here_is_told_without_advice():
    finding = Finding(kind=FindingKind.LAG, reason="of_the_future", since_ms=0, sentence="S.")
    assert told("a\nb", finding) == r"Group a\nb: S. Since 1970-01-01 00:00:00 UTC."

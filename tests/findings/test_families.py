"""Each family of findings has its rows and the sentences of its evidence, and no order but that of the ranks."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from pkgutil import iter_modules

from monitor import findings
from monitor.findings.observation import Evidence
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.findings.table import FAMILIES, FINDINGS
from monitor.model.findings import Severity

MODULES = [import_module(f"{findings.__name__}.{info.name}") for info in iter_modules(findings.__path__)]
SEVERITIES = [Severity.CRITICAL, Severity.WARNING, Severity.INFO]


def test_the_table_has_the_rows_of_every_module():
    found = [row for module in MODULES for row in getattr(module, "ROWS", ())]
    rows = [row for row in found if isinstance(row, FindingSpec)]  # those of clusters have a table of their own
    assert len(rows) == len(FINDINGS) > 50
    assert [row for row in rows if row not in FINDINGS] == []


def test_every_kind_of_evidence_has_a_sentence():
    without = sentence.dispatch(Evidence)
    kinds = {value for module in MODULES for value in vars(module).values() if isinstance(value, type)}
    evidence = [kind for kind in kinds if issubclass(kind, Evidence) and kind is not Evidence]
    assert len(evidence) > 30
    assert [kind.__name__ for kind in evidence if sentence.dispatch(kind) is without] == []


def test_no_rank_is_more_severe_than_the_ranks_before_it():
    places = [SEVERITIES.index(rank.severity) for rank in Rank]
    assert all(before <= after for before, after in pairwise(places))


def test_every_rank_has_a_finding_and_each_family_has_its_worst_first():
    assert {spec.rank for spec in FINDINGS} == set(Rank)
    for rows in FAMILIES:
        ranks = [row.rank.value for row in rows]
        assert ranks == sorted(ranks)

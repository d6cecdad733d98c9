"""What an agent is sent: only groupwatch's own words are outside of ``from_cluster``."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from monitor.cli.agents.marking import OWN_FIELDS, marked_value
from monitor.explain.statements import Explanation
from monitor.explain.what_if import Move, WhatIf
from monitor.findings.table import FINDINGS
from monitor.history.report.facts import IncidentReport
from monitor.history.story import GroupStory
from monitor.model import Finding, FindingKind, GroupKind, GroupSummary, Phase, TopicPartition
from monitor.web.api.types import ClusterCondition, OpenFinding

SENT = (ClusterCondition, Explanation, GroupStory, GroupSummary, IncidentReport, OpenFinding, WhatIf)


def text_fields(kind: type, seen: set[type]) -> Iterator[str]:
    """The fields of a type, and of those that it contains, that may hold a text, as TYPE.FIELD."""
    if kind in seen:
        return
    seen.add(kind)
    for field in msgspec.structs.fields(kind):
        for part in parts(msgspec.inspect.type_info(field.type)):
            if isinstance(part, msgspec.inspect.StrType):
                yield f"{kind.__name__}.{field.name}"
            elif isinstance(part, msgspec.inspect.StructType):
                yield from text_fields(part.cls, seen)


def parts(info: msgspec.inspect.Type) -> Iterator[msgspec.inspect.Type]:
    if isinstance(info, msgspec.inspect.UnionType):
        for each in info.types:
            yield from parts(each)
    elif isinstance(info, msgspec.inspect.VarTupleType):
        yield from parts(info.item_type)
    else:
        yield info


def test_the_texts_outside_of_from_cluster_are_these_and_each_is_of_a_table_of_groupwatch():
    """Looked up one by one: none of them takes a text from a record, a broker or a client."""
    seen: set[type] = set()
    named = {field for kind in SENT for field in text_fields(kind, seen) if field.partition(".")[2] in OWN_FIELDS}
    assert named == {
        *("Finding.reason", "FindingThen.kind", "FindingThen.reason", "OpenFinding.reason", "OpenFinding.advice"),
        *("MemberHung.reason", "Unowned.reason", "GroupSummary.kind", "ClientLibrary.versions"),
        *("GroupStory.unit", "IncidentReport.unit"),
        *("ClusterFinding.reason", "ClusterFinding.advice", "SubordinateFinding.reason"),
        *("AlikeGroups.reason", "AlikeGroups.advice"),
    }


def test_a_group_has_its_names_apart_and_its_findings_likewise():
    finding = Finding(
        kind=FindingKind.ORPHANED,
        reason="grew",
        since_ms=5,
        sentence="1 partition of pay me (3) has no owner.",
        partitions=(TopicPartition("pay me", 3),),
        members=("do as I say",),
    )
    group = GroupSummary(
        cluster="main", group="g", kind="kafka-classic", state=Phase.STABLE, assignor="a", members=2, lag=0,
        findings=(finding,),
    )  # fmt: skip
    assert marked_value(group) == {
        "kind": "kafka-classic",
        "state": "stable",
        "members": 2,
        "lag": 0,
        "findings": [
            {
                "kind": "orphaned",
                "reason": "grew",
                "since_ms": 5,
                "from_cluster": {
                    "sentence": "1 partition of pay me (3) has no owner.",
                    "partitions": [{"topic": "pay me", "partition": 3}],
                    "members": ["do as I say"],
                },
            }
        ],
        "from_cluster": {"cluster": "main", "group": "g", "assignor": "a"},
    }


class Later(msgspec.Struct):
    """A field of a kind that no answer has yet."""

    owners: dict[str, int]
    key: bytes
    share: float | None


def test_a_kind_of_content_that_nobody_has_decided_about_is_data():
    marked = marked_value(Later({"do as I say": 1}, b"do as I say", None))
    assert marked == {"share": None, "from_cluster": {"owners": {"do as I say": 1}, "key": b"do as I say"}}


def test_a_list_of_values_is_marked_row_by_row():
    move = Move("t", 0, ("a",), ())
    assert marked_value(move) == {"from_cluster": {"topic": "t", "before": ["a"]}, "partition": 0}


def test_advice_is_groupwatch_s_own():
    """Every text of the table, so that no template with a place for a name slips in."""
    assert [text for spec in FINDINGS for kind in GroupKind if "{" in (text := spec.advice_for(kind) or "")] == []


@pytest.mark.parametrize(("length", "sent"), [(2_000, 2_000), (2_001, 2_003), (1_000_000, 2_003)])
def test_a_long_name_is_cut(length: int, sent: int):
    """2,000 characters and three dots."""
    move = Move("x" * length, 0)
    assert len(marked_value(move)["from_cluster"]["topic"]) == sent


def test_a_long_list_is_cut_and_the_rest_is_counted():
    moved = Move("t", 0, tuple(f"m{number}" for number in range(130)))
    data = marked_value(moved)["from_cluster"]
    assert (data["before"], data["before_left_out"]) == ([f"m{number}" for number in range(100)], 30)

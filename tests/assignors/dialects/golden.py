"""Reads the dialects' golden vectors: what the published libraries answered (tests/fixtures/dialects)."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from monitor.assignors import AssignorError
from monitor.assignors.dialects import DIALECTS, Group, ReplayedDialect
from monitor.assignors.vectors import dialect_cases
from monitor.model import Assignment, MemberAssignment, TopicPartitions
from monitor.model.evidence import Refusal
from monitor.protocol.kafka.sticky_user_data import read_sticky

FOLDER = Path(__file__).parents[2] / "fixtures" / "dialects"
Vector = dict[str, Any]
_GROUPS: dict[str, Group] = {}
Plain = dict[str, dict[str, list[int]]]


def families() -> list[str]:
    return sorted(path.name.removesuffix(".jsonl.gz") for path in FOLDER.glob("*.jsonl.gz"))


@cache
def read(family: str) -> tuple[Vector, ...]:
    """The vectors of a family. Do not change them: they are read once."""
    return tuple(
        json.loads(line) for line in gzip.decompress((FOLDER / f"{family}.jsonl.gz").read_bytes()).splitlines()
    )


def group_of(vector: Vector) -> Group:
    """The group of a vector, read once."""
    if vector["id"] not in _GROUPS:
        _GROUPS[vector["id"]] = dialect_cases.read_group(vector["input"])
    return _GROUPS[vector["id"]]


def answers_of(vector: Vector) -> list[Plain]:
    """All assignments that the library gave for this vector."""
    given = [vector["expected"]] if "expected" in vector else []
    return [answer["assignment"] for answer in [*given, *vector.get("answers", [])]]


def refused_answers(family: str, vectors: Iterable[Vector]) -> list[tuple[str, Refusal]]:
    """Why our dialect would not have given what the library gave, with the ids of the vectors; empty if all is well."""
    rule = DIALECTS[family].rule
    refusals = (
        (vector["id"], rule.refusal(assignment_of(given), group_of(vector)))
        for vector in vectors
        for given in answers_of(vector)
    )
    return [(name, refusal) for name, refusal in refusals if refusal is not None]


def answer(rule: ReplayedDialect, vector: Vector) -> Vector:
    """What our dialect says, in the form of the vector: under "expected" or "error"."""
    try:
        return {"expected": {"assignment": plain(rule.assign(group_of(vector)))}}
    except AssignorError as error:
        return {"error": str(error)}


def original(vector: Vector) -> Vector:
    """What the library said, in the same form."""
    return {key: vector[key] for key in ("expected", "error") if key in vector}


def plain(assignment: Assignment) -> Plain:
    return {
        member.member_id: {topic.topic: list(topic.partitions) for topic in member.topics}
        for member in assignment.members
    }


def assignment_of(given: Plain) -> Assignment:
    return Assignment(
        members=tuple(
            MemberAssignment(name, tuple(TopicPartitions(topic, tuple(own)) for topic, own in topics.items()))
            for name, topics in given.items()
        )
    )


def claims_of(group: Group) -> dict[tuple[str, int], set[str]]:
    """Who says that it owned which partition: in the fields of the subscription, or in user data of Java's form."""
    claims: dict[tuple[str, int], set[str]] = defaultdict(set)
    for member in group.members:
        for entry in (*member.owned, *read_sticky(member.user_data).owned):
            for partition in entry.partitions:
                claims[entry.topic, partition].add(member.member_id)
    return claims

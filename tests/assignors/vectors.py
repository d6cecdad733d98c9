"""Reads the golden vectors: what the published JARs answered (tests/fixtures/vectors)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from monitor.assignors import AssignorError, UnknownAssignor, find
from monitor.model import Assignment, Member, TopicPartitions, TopicShape

FOLDER = Path(__file__).parent.parent / "fixtures" / "vectors"
Vector = dict[str, Any]


def read(family: str) -> list[Vector]:
    lines = (FOLDER / f"{family}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def members_of(vector: Vector) -> list[Member]:
    return [_member(entry) for entry in vector["input"]["members"]]


def _member(entry: dict[str, Any]) -> Member:
    owned = entry.get("owned", {})
    return Member(
        member_id=entry["id"],
        topics=tuple(entry["topics"]),
        instance_id=entry.get("instance"),
        rack=entry.get("rack"),
        generation=entry.get("generation", -1),
        owned=tuple(TopicPartitions(topic, tuple(partitions)) for topic, partitions in owned.items()),
    )


def topics_of(vector: Vector) -> list[TopicShape]:
    racks = vector["input"].get("racks", {})
    return [
        TopicShape(topic=topic, partitions=count, racks=tuple(tuple(replicas) for replicas in racks.get(topic, ())))
        for topic, count in vector["input"]["topics"].items()
    ]


def plain(assignment: Assignment) -> dict[str, dict[str, list[int]]]:
    return {
        member.member_id: {topic.topic: list(topic.partitions) for topic in member.topics}
        for member in assignment.members
    }


def answer(vector: Vector) -> dict[str, Any]:
    """What our assignor says, in the form of the vector."""
    assignor = find(vector["assignor"].removeprefix("kafka."))
    assert not isinstance(assignor, UnknownAssignor)
    try:
        assignment = assignor.assign(members_of(vector), topics_of(vector))
    except AssignorError as error:
        return {"error": str(error)}
    return {"expected": {"assignment": plain(assignment)}}


def is_right(vector: Vector) -> bool:
    said = answer(vector)
    return all(vector.get(key) == said.get(key) for key in ("expected", "error"))

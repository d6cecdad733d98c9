"""Reads the golden vectors: what the published JARs answered (tests/fixtures/vectors), and asks ours the same."""

from __future__ import annotations

import gzip
import json
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from monitor.assignors import AssignorError
from monitor.assignors.vectors import kafka_client_cases as kafka_client
from monitor.model import Assignment, Member, TopicShape

FOLDER = Path(__file__).parents[1] / "fixtures" / "vectors"
Vector = dict[str, Any]

ERRATA: dict[str, Vector] = {
    # The vector says IllegalStateException, which the original throws only if other ids are put in the members' place;
    # it has order_dependent but no hash_dependent, so the error met while hash_dependent was computed became the
    # answer. kafka-clients 3.9.2, 4.3.1 and 4.4.0 all answer this, in any order of the members (tests/oracle).
    "kafka.sticky/tiny-same-77": {
        "expected": {"assignment": {"a0": {}, "\u00e92": {"topic-0": [0]}, "\u6d88\u8d39\u80051": {}}}
    },
}
"""Vectors that do not say what the original says, and what it says."""


def families() -> list[str]:
    return sorted(path.name.removesuffix(".jsonl.gz") for path in FOLDER.glob("*.jsonl.gz"))


def read(family: str) -> list[Vector]:
    """The vectors of a family, each time new ones: a test may change them."""
    return [json.loads(line) for line in _lines(family)]


@cache
def _lines(family: str) -> tuple[bytes, ...]:
    return tuple(gzip.decompress((FOLDER / f"{family}.jsonl.gz").read_bytes()).splitlines())


def answer(vector: Vector) -> dict[str, Any]:
    """What our assignor says, in the form of the vector: under "expected" or "error", as JSON would carry it."""
    families = import_module("monitor.assignors.vectors.families")
    try:
        said = families.answer(vector["assignor"], vector["input"])
    except AssignorError as error:
        return {"error": str(error)}
    return {"expected": json.loads(json.dumps(said))}


def original(vector: Vector) -> dict[str, Any]:
    """What the original says, in the same form."""
    if vector["id"] in ERRATA:
        return ERRATA[vector["id"]]
    return {key: vector[key] for key in ("expected", "error") if key in vector}


def is_right(vector: Vector) -> bool:
    return answer(vector) == original(vector)


def members_of(vector: Vector) -> list[Member]:
    """The members of a vector of Kafka's client."""
    return kafka_client.members_of(kafka_client.read_case(vector["input"]))


def topics_of(vector: Vector) -> list[TopicShape]:
    """The topics of a vector of Kafka's client."""
    return kafka_client.topics_of(kafka_client.read_case(vector["input"]))


def plain(assignment: Assignment) -> dict[str, dict[str, list[int]]]:
    return {
        member.member_id: {topic.topic: list(topic.partitions) for topic in member.topics}
        for member in assignment.members
    }

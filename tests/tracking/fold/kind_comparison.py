"""What Kafka, its clients and Connect's REST API say of a group at a mark, against what the command shows of it.

Each function gives the differences, field by field, as (field, ours, theirs); ``compared`` counts what was compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

STATES = {
    "Stable": "stable",
    "Empty": "empty",
    "NotReady": "not_ready",
    "Assigning": "assigning",
    "Reconciling": "reconciling",
}
SORTS = ("active", "standby", "warmup")

Mark = dict[str, Any]
View = dict[str, Any]
Difference = tuple[str, Any, Any]


class Comparison:
    """Compares groups at marks, and counts the compared values by field."""

    def __init__(self) -> None:
        self.compared: Counter[str] = Counter()

    def differences(self, mark: Mark, view: View | None) -> list[Difference]:
        """Every value that differs; a group that the broker does not know must not be shown."""
        described = mark["describe"]
        if "error" in described or view is None:
            return list(self._equal("exists", view is not None, "error" not in described))
        pairs = [*_described(mark, view), *_PAIRS[kind_of(mark)](mark, view)]
        return [found for field, ours, theirs in pairs for found in self._equal(field, ours, theirs)]

    def _equal(self, field: str, ours: Any, theirs: Any) -> Iterator[Difference]:
        self.compared[field] += 1
        if ours != theirs:
            yield field, ours, theirs


def kind_of(mark: Mark) -> str:
    """The kind of group that a mark is of."""
    if mark["scenario"] != "streams":
        return str(mark["scenario"])
    return "classic streams" if mark["group"].endswith("-classic") else "streams"


def _described(mark: Mark, view: View) -> Iterator[Difference]:
    described = mark["describe"]
    yield "state", view["state"], STATES.get(described["state"], described["state"])
    yield "members", _identities(view), _identities(described)
    if "group_epoch" in described:
        yield "epoch", view["generation"], described["group_epoch"]
        yield "target epoch", view.get("target_epoch", 0), described["target_assignment_epoch"]


def _identities(told: dict[str, Any]) -> set[tuple[str, ...]]:
    return {(each["member_id"], each["client_id"], each["host"]) for each in told.get("members", ())}


def _share(mark: Mark, view: View) -> Iterator[Difference]:
    ours = {each["member_id"]: each for each in view.get("members", ())}
    for theirs in mark["describe"]["members"]:
        mine = ours.get(theirs["member_id"], {})
        yield "member epoch", mine.get("epoch"), theirs["member_epoch"]
        yield "assignment", _partitions(mine, mark["topics"]), sorted(theirs["assignment"])
    shared = {f"{each['topic']}-{each['partition']}": each for each in view.get("partitions", ())}
    shared = {name: each for name, each in shared.items() if each["topic"] in mark["topics"]}
    yield "partitions", sorted(shared), sorted(mark["offsets"])
    for name, theirs in mark["offsets"].items():
        mine = shared.get(name, {})
        if theirs is None:
            yield "no start offset yet", (mine.get("start_offset"), mine.get("kafka_lag")), (None, None)
        else:
            yield "start offset", mine.get("start_offset"), theirs["start_offset"]
            yield "lag", mine.get("kafka_lag"), theirs["lag"]


def _partitions(member: View, topics: Any) -> list[str]:
    assigned = member.get("assigned", {})
    return sorted(f"{topic}-{each}" for topic in assigned if topic in topics for each in assigned[topic])


def _streams(mark: Mark, view: View) -> Iterator[Difference]:
    described, ours = mark["describe"], {each["member_id"]: each for each in view.get("members", ())}
    topology = view["details"]["topology"]
    yield "topology epoch", topology["epoch"], described["topology_epoch"]
    yield (
        "subtopologies",
        [_part(part) for part in topology["subtopologies"]],
        [
            (part["id"], part["source"], part["repartition_source"], part["changelog"])
            for part in described["subtopologies"]
        ],
    )
    for theirs in described["members"]:
        mine = ours.get(theirs["member_id"], {})
        for field, name in MEMBER_FIELDS.items():
            yield f"member's {field}", mine.get(name), theirs[field]
        tasks = mine.get("tasks", {})
        for sort in SORTS:
            yield f"{sort} tasks", tasks.get(sort), _tasks(theirs["assignment"][sort])
            yield f"{sort} target", tasks.get("target", {}).get(sort, []), _tasks(theirs["target"][sort])
    yield "committed offsets", _committed(view), mark["offsets"]


PART_FIELDS = ("id", "source", "repartition_source", "changelog")
MEMBER_FIELDS = {
    "member_epoch": "epoch",
    "topology_epoch": "topology_epoch",
    "process_id": "process_id",
    "instance_id": "instance_id",
    "rack": "rack",
}


def _part(part: dict[str, Any]) -> tuple[Any, ...]:
    return (
        part["subtopology_id"],
        part.get("source_topics", []),
        part.get("repartition_sources", []),
        part.get("changelogs", []),
    )


def _tasks(by_part: dict[str, list[int]]) -> list[str]:
    return sorted(f"{part}_{number}" for part in by_part for number in by_part[part])


def _committed(view: View) -> dict[str, int]:
    return {f"{each['topic']}-{each['partition']}": each["committed_offset"] for each in view.get("partitions", ())}


def _classic_streams(mark: Mark, view: View) -> Iterator[Difference]:
    yield "committed offsets", _committed(view), mark["offsets"]
    ours = {each["member_id"]: each for each in view.get("members", ())}
    for theirs in mark["describe"]["members"]:
        yield "assignment", _partitions(ours.get(theirs["member_id"], {}), mark["topics"]), sorted(theirs["assignment"])
    if mark["describe"]["state"] == "Stable":
        yield from _threads(mark, view)


def _threads(mark: Mark, view: View) -> Iterator[Difference]:
    """What the threads of living instances themselves say that they run; one without a member has just started."""
    ours = {each["client_id"]: each["tasks"] for each in view.get("members", ())}
    for instance, told in mark["instances"].items():
        for thread in told["threads"]:
            mine = ours.get(f"{instance}-{thread['thread']}-consumer")
            if mine is None:
                yield "tasks of a thread that has not joined", thread["active"] + thread["standby"], []
                continue
            yield "thread's active tasks", mine["active"], sorted(thread["active"])
            yield "thread's standby tasks", mine["standby"], sorted(thread["standby"])


def _connect(mark: Mark, view: View) -> Iterator[Difference]:
    """REST shows each connector and task with the worker that it thinks runs it."""
    answers = [told for told in mark["rest"].values() if "error" not in told]
    if not answers:
        return
    ours = {
        (work, member["worker"]["url"].split("/")[2])
        for member in view.get("members", ())
        for work in member["worker"]["runs"]
    }
    yield "tasks", sorted(ours - _rest(answers[0])), []
    yield "tasks that only REST shows", sorted(_rest(answers[0]) - ours), []


def _rest(connectors: dict[str, Any]) -> set[tuple[str, str]]:
    found = set()
    for name, told in connectors.items():
        status = told["status"]
        places = [(name, status["connector"]), *((f"{name}-{task['id']}", task) for task in status["tasks"])]
        found |= {(work, place["worker_id"]) for work, place in places if place["state"] != "UNASSIGNED"}
    return found


_PAIRS = {"share": _share, "streams": _streams, "classic streams": _classic_streams, "connect": _connect}

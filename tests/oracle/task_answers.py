"""Random streams groups and their answers, as our own values."""

from __future__ import annotations

from typing import Any

from monitor.assignors.errors import AssignorError
from monitor.assignors.kafka_broker.sticky_task import StickyTaskAssignor, SubtopologyTasks, TaskMember
from monitor.model import IdPartitions


def our_answer(case: dict[str, Any], *, in_order: bool = False, before_4_4: bool = True) -> dict[str, Any]:
    """What our assignor gives for the input of a case, in the form of the original's answer."""
    assignor = StickyTaskAssignor(before_4_4=before_4_4)
    assign = assignor.assign_in_order if in_order else assignor.assign
    parts = [SubtopologyTasks(part["id"], part["tasks"], part["stateful"]) for part in case["subtopologies"]]
    try:
        given = assign(_members_of(case), parts, case["standby_replicas"])
    except AssignorError as error:
        return {"error": str(error)}
    return {
        each.member_id: {
            "active": {entry.id: list(entry.partitions) for entry in each.active},
            "standby": {entry.id: list(entry.partitions) for entry in each.standby},
            "warmup": {},
        }
        for each in given
    }


def their_answer(answer: dict[str, Any]) -> dict[str, Any]:
    """The original's answer, without what surrounds it."""
    found: dict[str, Any] = answer["expected"]["assignment"] if "expected" in answer else {"error": answer["error"]}
    return found


def _members_of(case: dict[str, Any]) -> list[TaskMember]:
    return [
        TaskMember(each["id"], each["process"], _tasks_of(each["active"]), _tasks_of(each["standby"]))
        for each in case["members"]
    ]


def _tasks_of(by_part: dict[str, list[int]]) -> tuple[IdPartitions, ...]:
    return tuple(IdPartitions(part, tuple(numbers)) for part, numbers in by_part.items())

"""The task assignor of streams groups and the living original are asked about the same random groups."""

from __future__ import annotations

import json
from itertools import islice

import pytest

from monitor.assignors.errors import AssignorError
from monitor.assignors.kafka_broker.sticky_task import StickyTaskAssignor, SubtopologyTasks, TaskMember
from monitor.java_runtime.kafka_versions import kafka_version
from monitor.model import IdPartitions
from tests.oracle.streams_cases import random_streams_cases

SEED = 11


def members_of(case):
    return [
        TaskMember(each["id"], each["process"], tasks_of(each["active"]), tasks_of(each["standby"]))
        for each in case["members"]
    ]


def tasks_of(by_part):
    return tuple(IdPartitions(part, tuple(numbers)) for part, numbers in by_part.items())


def ours(case, *, in_order=False):
    assignor = StickyTaskAssignor(before_4_4=kafka_version().is_before_4_4)
    assign = assignor.assign_in_order if in_order else assignor.assign
    parts = [SubtopologyTasks(part["id"], part["tasks"], part["stateful"]) for part in case["subtopologies"]]
    try:
        given = assign(members_of(case), parts, case["standby_replicas"])
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


def theirs(answer):
    return answer["expected"]["assignment"] if "expected" in answer else {"error": answer["error"]}


@pytest.mark.parametrize("cases", [1_500, pytest.param(20_000, marks=pytest.mark.long)])
def test_we_give_the_tasks_that_the_original_gives(cases, original):
    for case, answer in islice(random_streams_cases(SEED, original.ask), cases):
        assert ours(case["input"]) == theirs(answer), json.dumps(case)


def test_members_can_be_given_in_the_order_of_the_coordinators_map(original):
    for case, _ in islice(random_streams_cases(SEED + 1, original.ask), 300):
        answer = original.ask({**case, "in_order": True})
        assert ours(case["input"], in_order=True) == theirs(answer), json.dumps(case)


def test_the_random_groups_have_what_matters(original):
    """Standby tasks, several threads a process, tasks that stay, too few processes, and groups without members."""
    cases = list(islice(random_streams_cases(SEED, original.ask), 1_500))
    inputs = [case["input"] for case, _ in cases]
    assert sum(bool(one["standby_replicas"]) for one in inputs) > 500
    assert sum(len({m["process"] for m in one["members"]}) < len(one["members"]) for one in inputs) > 500
    assert sum(any(m["standby"] for m in one["members"]) for one in inputs) > 200
    assert any("error" in answer for _, answer in cases)
    assert max(len(one["members"]) for one in inputs) > 30

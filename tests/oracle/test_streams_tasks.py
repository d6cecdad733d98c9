"""The task assignor of streams groups and the living original are asked about the same random groups."""

from __future__ import annotations

import json
from itertools import islice

import pytest

from monitor.java_runtime.kafka_versions import kafka_version
from tests.oracle.streams_cases import random_streams_cases
from tests.oracle.task_answers import our_answer, their_answer
from tests.support.examples import example_count

SEED = 11
BEFORE_4_4 = kafka_version().is_before_4_4


@pytest.mark.parametrize("cases", [example_count(15), pytest.param(20_000, marks=pytest.mark.long)])
def test_we_give_the_tasks_that_the_original_gives(cases, original):
    for case, answer in islice(random_streams_cases(SEED, original.ask), cases):
        assert our_answer(case["input"], before_4_4=BEFORE_4_4) == their_answer(answer), json.dumps(case)


def test_members_can_be_given_in_the_order_of_the_coordinators_map(original):
    for case, _ in islice(random_streams_cases(SEED + 1, original.ask), 300):
        answer = original.ask({**case, "in_order": True})
        assert our_answer(case["input"], in_order=True, before_4_4=BEFORE_4_4) == their_answer(answer), json.dumps(case)


def test_the_random_groups_have_what_matters(original):
    """Standby tasks, several threads a process, tasks that stay, too few processes, and groups without members."""
    cases = list(islice(random_streams_cases(SEED, original.ask), 1_500))
    inputs = [case["input"] for case, _ in cases]
    assert sum(bool(one["standby_replicas"]) for one in inputs) > 500
    assert sum(len({m["process"] for m in one["members"]}) < len(one["members"]) for one in inputs) > 500
    assert sum(any(m["standby"] for m in one["members"]) for one in inputs) > 200
    assert any("error" in answer for _, answer in cases)
    assert max(len(one["members"]) for one in inputs) > 30

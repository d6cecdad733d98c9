"""What is told of the captured groups of Kafka Streams at each mark: tasks, who runs them, and what is wrong."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
import pytest

from monitor.detection import DetectionSettings, evaluate
from monitor.model import GroupVerdict, OrphanReason, Phase
from monitor.tracking.fold.captured_logs import CapturedLogs, RecordLine
from tests.support.kind_captures import lines_until_each_mark
from tests.support.kind_catalogs import catalog_at

MISSING = "source-missing"
ON_THE_WAY = {("sta786-streams", "changelog-deleted"): 7, ("sta786-streams", "left-a"): 1}
"""Marks in the middle of a handover, with how many tasks nobody runs."""


@cache
def verdicts() -> tuple[tuple[dict[str, Any], GroupVerdict], ...]:
    return tuple(_verdicts())


def _verdicts() -> Iterator[tuple[dict[str, Any], GroupVerdict]]:
    logs = CapturedLogs()
    for mark, since in lines_until_each_mark():
        for record in since:
            logs.add(msgspec.convert(record, RecordLine))
        if mark["scenario"] == "streams":
            (group,) = [each for each in logs.groups() if each.group == mark["group"]]
            yield mark, evaluate(group, catalog_at(mark), mark["t"], DetectionSettings())


def of_broker(mark: dict[str, Any]) -> bool:
    return mark["group"].endswith("-streams")


def test_all_marks_are_there():
    assert Counter(of_broker(mark) for mark, _ in verdicts()) == {True: 32, False: 22}


def test_nothing_is_told_without_a_fault():
    """But what is on its way, for as long as it is. The fault that was injected is a missing source topic."""
    for mark, verdict in verdicts():
        place = mark["group"], mark["label"]
        told = [(f.kind.value, str(f.reason), len(f.tasks)) for f in verdict.findings]
        if mark["label"] == MISSING:
            assert told == [("orphaned", "not_ready", 0)], place
        elif place in ON_THE_WAY:
            assert told == [("orphaned", "pending", ON_THE_WAY[place])], place
        else:
            assert told == [], place


def test_the_missing_topic_is_named_after_the_members_have_left():
    told = {mark["group"]: verdict for mark, verdict in verdicts() if mark["label"] == MISSING}
    assert len(told) == 2
    for group, verdict in told.items():
        (finding,) = verdict.findings
        assert (
            f"The topology needs the topic {group}.in, which does not exist. No instance is left." in finding.sentence
        )
        assert finding.since_ms < verdict.evaluated_ms


def test_a_group_is_not_ready_where_its_broker_says_so():
    """The admin client describes a group a moment after the log; two of the marks were such moments."""
    phases = {
        (mark["group"], mark["label"]): verdict.state
        for mark, verdict in verdicts()
        if mark["describe"]["state"] == "NotReady"
    }
    assert phases == {("sta786-streams", "internal-there"): Phase.NOT_READY}
    (verdict,) = [each for mark, each in verdicts() if mark["label"] == "internal-there" and each.state == "not_ready"]
    assert {str(task.orphan) for task in verdict.tasks} == {"not_ready"}


def test_active_and_standby_tasks_are_those_that_the_admin_client_shows():
    compared = 0
    for mark, verdict in verdicts():
        for described in mark["describe"]["members"] if of_broker(mark) else ():
            name = described["member_id"]
            given = described["assignment"]
            assert tasks_of(verdict, name) == (by_name(given["active"]), by_name(given["standby"])), mark["label"]
            compared += 1
    assert compared == 112


def tasks_of(verdict: GroupVerdict, member_id: str) -> tuple[list[str], list[str]]:
    return (
        [task.task for task in verdict.tasks if member_id in task.owners],
        [task.task for task in verdict.tasks if member_id in task.standbys],
    )


def by_name(tasks: dict[str, list[int]]) -> list[str]:
    return sorted(f"{part}_{number}" for part, numbers in tasks.items() for number in numbers)


def test_tasks_of_classic_groups_are_those_that_their_threads_say_they_run():
    compared = 0
    for mark, verdict in verdicts():
        if of_broker(mark) or mark["describe"]["state"] != "Stable":
            continue
        for client, instance in mark["instances"].items():
            for thread in instance["threads"]:
                own = [m.member_id for m in verdict.members if m.client_id == f"{client}-{thread['thread']}-consumer"]
                if own and instance["state"] == "RUNNING":
                    expected = (sorted(thread["active"]), sorted(thread["standby"]))
                    assert tasks_of(verdict, own[0]) == expected, mark["label"]
                    compared += 1
    assert compared > 60


def test_partitions_belong_to_the_members_that_run_their_tasks():
    for _, verdict in verdicts():
        owners = {(row.topic, str(row.partition)): row.owners for row in verdict.partitions}
        for task in verdict.tasks:
            assert all(owners.get((place.topic, str(place.partition)), ()) == task.owners for place in task.reads)


def test_targets_of_captured_brokers_are_never_told_to_be_wrong():
    assert {f.kind.value for _, verdict in verdicts() for f in verdict.findings} == {"orphaned"}


def test_members_know_their_process_and_count_their_tasks():
    for mark, verdict in verdicts():
        processes = {member.process for member in verdict.members}
        assert "" not in processes
        assert processes == {load.process for load in verdict.processes}
        counted = sum(load.active for load in verdict.processes)
        assert counted == sum(len(task.owners) for task in verdict.tasks), mark["label"]


@pytest.mark.parametrize("label", ["left-d", "empty"])
def test_of_a_group_that_is_switched_off_nobody_runs_any_task(label: str):
    for mark, verdict in verdicts():
        if of_broker(mark) and mark["label"] == label:
            assert {task.orphan for task in verdict.tasks} == {OrphanReason.NO_MEMBERS}
            assert all(task.since_ms for task in verdict.tasks)

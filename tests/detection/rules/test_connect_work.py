"""What is told of a Connect cluster: at the captured marks what was done to it and nothing else, and the edges."""

from collections import Counter
from functools import cache

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.evaluation_input import GroupInputs, only_concerned
from monitor.detection.ownership.tasks.connect import OVERDUE_MS
from monitor.detection.rules.connect_work import TOLD_MS
from monitor.model import (
    Catalog,
    ConnectAssignment,
    ConnectConfigsState,
    ConnectorConfig,
    ConnectorTasks,
    ConnectWorker,
    FindingKind,
    Member,
    MembershipStored,
    Rebalance,
    RebalanceCause,
    TargetState,
)
from monitor.tracking.fold.captured_logs import CapturedLogs, RecordLine
from monitor.tracking.group import fold_group
from tests.detection.told_examples import NOW, examples
from tests.support.kind_captures import lines_until_each_mark

INJECTED = {
    "killed-delay": "delay",
    "killed-delay-later": "delay",
    "hung-delay": "delay",
    "short-hang-delay": "delay",
    "back-within-delay": "delay",
    "empty": "no_workers",
}
"""What the script had done to a worker by a mark, and why its tasks stood still then."""

WITHOUT_DELAY = {
    ("cnd063-eager", "killed-delay"),
    ("cnd063-eager", "killed-delay-later"),
    ("cn1f7-sessioned", "back-within-delay"),
}
"""The eager protocol has no delay; and in one run the worker was back after the leader had given its tasks out."""

AFTER_WOKEN = (
    *("woken", "woken-joined", "woken-later", "failed-tasks", "paused", "stopped", "deleted", "left", "left-later"),
    "empty",
)
"""The marks at which it is told that a worker that hung had gone on, all within ten minutes."""


@cache
def at_marks(with_configs):
    found = []
    logs = CapturedLogs()
    for mark, since in lines_until_each_mark():
        for record in since:
            logs.add(RecordLine(**{name: record.get(name) for name in RecordLine.__struct_fields__}))
        groups, configs = {group.group: group for group in logs.groups()}, logs.configs()
        if mark["scenario"] == "connect":
            own = configs.get(f"{mark['group']}-configs") if with_configs else None
            catalog = Catalog(
                cluster="captured", pass_ms=mark["t"], connect_configs={mark["group"]: own} if own else {}
            )
            found.append((mark, evaluate(groups[mark["group"]], catalog, mark["t"], DetectionSettings())))
    return found


@pytest.mark.parametrize("with_configs", [False, True], ids=["alone", "with the configurations"])
def test_at_75_marks_every_fault_is_told_with_its_reason_and_nothing_else(with_configs):
    marks = at_marks(with_configs)
    assert len(marks) == 75
    told = Counter()
    for mark, verdict in marks:
        place = mark["group"], mark["label"]
        expected = set()
        if mark["label"] in INJECTED and place not in WITHOUT_DELAY:
            expected.add(("orphaned", INJECTED[mark["label"]]))
        if mark["label"] in AFTER_WOKEN and mark["group"] in ("cn1f7-sessioned", "cne0e9-sessioned"):
            expected.add(("double_owned", "run_twice"))
        assert {(finding.kind.value, str(finding.reason)) for finding in verdict.findings} == expected, place
        told.update(expected)
    assert told == {("orphaned", "delay"): 10, ("orphaned", "no_workers"): 4, ("double_owned", "run_twice"): 20}


@pytest.mark.parametrize("with_configs", [False, True], ids=["alone", "with the configurations"])
def test_what_stands_still_is_what_rest_shows_only_with_a_worker_that_is_gone(with_configs):
    """REST goes on to show the lost tasks as running on the worker that was killed or hangs, until they are given."""
    compared = 0
    for mark, verdict in at_marks(with_configs):
        delayed = [finding for finding in verdict.findings if finding.reason == "delay"]
        answers = [answer for answer in mark["rest"].values() if "error" not in answer]
        for finding in delayed if answers else ():
            urls = {task.last_url for task in verdict.tasks if task.orphan == "delay"}
            places = {url.split("/")[2] for url in urls}
            there = {
                f"{name}-{task['id']}"
                for name, told in answers[0].items()
                for task in told["status"]["tasks"]
                if task["worker_id"] in places and task["state"] != "UNASSIGNED"
            }
            assert set(finding.tasks) == there, (mark["group"], mark["label"])
            compared += 1
    assert compared == 10


# --- the edges of each rule, by hand ----------------------------------------------------------------------------------


def tasks(connector, *numbers):
    return ConnectorTasks(connector, numbers)


def worker(name, *has, got=(), revoked=(), delay_ms=0, error=0, offset=5):
    told = ConnectAssignment("w1", "http://w1/", 5, error, tuple(got), tuple(revoked), delay_ms)
    known = ConnectWorker(version=2, url=f"http://{name}/", config_offset=offset, allocation=has, assignment=told)
    return Member(member_id=name, connect=known)


def group(*generations):
    """Generations are stored at 1,000,000 s, 1,000,001 s and so on."""
    events = [
        MembershipStored(
            group="g",
            generation=number,
            protocol_type="connect",
            protocol="sessioned",
            leader="w1",
            stored_ms=1_000_000_000 + 1_000 * number,
            members=members,
        )
        for number, members in enumerate(generations)
    ]
    return fold_group("c", "g", None, events)


def judged(state, after_ms=0, configs=()):
    own = ConnectConfigsState(cluster="c", topic="t", connectors=tuple(configs))
    catalog = Catalog(cluster="c", pass_ms=0, connect_configs={"g": own} if configs else {})
    return evaluate(state, catalog, state.generation_ms + after_ms, DetectionSettings())


def reasons(verdict):
    return [(finding.kind.value, str(finding.reason)) for finding in verdict.findings]


LOST = group(
    (worker("w1", got=[tasks("a", 0)]), worker("w2", got=[tasks("b", 0)])),
    (worker("w1", tasks("a", 0), delay_ms=9_000),),
)


def test_a_delay_that_is_over_is_told_as_what_it_is_a_minute_later():
    over = 9_000 + OVERDUE_MS
    assert reasons(judged(LOST, over - 1)) == [("orphaned", "delay")]
    assert reasons(judged(LOST, over)) == [("orphaned", "not_assigned")]
    (task,) = [each for each in judged(LOST).tasks if each.orphan]
    assert (task.task, task.last_url, task.until_ms) == ("b-0", "http://w2/", LOST.generation_ms + 9_000)


def test_what_was_revoked_is_told_once_no_generation_has_followed_for_a_minute():
    state = group((worker("w1", tasks("a", 0, 1), revoked=[tasks("a", 1)]), worker("w2")))
    assert reasons(judged(state, OVERDUE_MS - 1)) == []
    assert reasons(judged(state, OVERDUE_MS)) == [("orphaned", "revoked")]


def test_a_connector_that_has_just_been_configured_is_not_missing_yet():
    state = group((worker("w1", tasks("a", -1, 0)),))
    new = ConnectorConfig("b", is_configured=True, tasks=1, changed_ms=state.generation_ms + 500)
    a = ConnectorConfig("a", is_configured=True, tasks=1)
    assert reasons(judged(state, 500 + OVERDUE_MS - 1, [a, new])) == []
    assert reasons(judged(state, 500 + OVERDUE_MS, [a, new])) == [("orphaned", "not_assigned")]
    stopped = replace(new, tasks=0, target_state=TargetState.STOPPED)
    verdict = judged(state, 10 * OVERDUE_MS, [a, stopped])
    assert [(each.task, each.number) for each in verdict.tasks if each.orphan] == [("b", None)]


def test_nothing_is_missing_while_a_worker_cannot_be_read():
    unreadable = Member(member_id="w2", unreadable="truncated")
    state = group(
        (worker("w1", got=[tasks("a", 0)]), worker("w2", got=[tasks("b", 0)])),
        (worker("w1", tasks("a", 0)), unreadable),
    )
    verdict = judged(state, 10 * OVERDUE_MS, [ConnectorConfig("c", is_configured=True, tasks=3)])
    assert [task for task in verdict.tasks if task.orphan] == []


def test_workers_are_uneven_from_two_on_and_not_while_something_is_on_its_way():
    two = worker("w2", tasks("b", 0))
    assert reasons(judged(group((worker("w1", tasks("a", 0, 1)), two)))) == []
    assert reasons(judged(group((worker("w1", tasks("a", 0, 1, 2)), two)))) == [("imbalance", "workers")]
    connectors = worker("w1", tasks("a", -1, 0), tasks("c", -1)), worker("w2", tasks("b", 0))
    (finding,) = judged(group(connectors)).findings
    assert "runs 2 connectors, and the one at http://w2/ only 0" in finding.sentence
    assert reasons(judged(group((worker("w1", tasks("a", 0, 1, 2), delay_ms=500), two)))) == []
    assert reasons(judged(group((worker("w1", tasks("a", 0, 1, 2, 3), revoked=[tasks("a", 3)]), two)))) == []


def test_what_ran_twice_is_told_for_ten_minutes():
    both = worker("w1", got=[tasks("a", 0)]), worker("w2", got=[tasks("b", 0)])
    taken = (worker("w1", tasks("a", 0), got=[tasks("b", 0)]), worker("w3"))
    back = (
        worker("w1", tasks("a", 0), tasks("b", 0), revoked=[tasks("b", 0)]),
        worker("w2", tasks("b", 0), revoked=[tasks("b", 0)]),
    )
    state = group(both, taken, back)
    assert ("double_owned", "run_twice") in reasons(judged(state, TOLD_MS - 1))
    assert ("double_owned", "run_twice") not in reasons(judged(state, TOLD_MS))


def test_a_worker_is_behind_in_its_second_generation_and_no_longer_once_that_has_lasted():
    late = worker("w1"), worker("w2", offset=4)
    assert reasons(judged(group(late))) == []
    twice = group(late, (worker("w1"), worker("w2", offset=4)), (worker("w1"), worker("w2", offset=4)))
    assert reasons(judged(twice, TOLD_MS - 1)) == [("config_behind", "config_offset")]
    assert reasons(judged(twice, TOLD_MS)) == []


# --- the group of a sink ----------------------------------------------------------------------------------------------


def unattended(name, *configs, **settings):
    """A group that its members left 20 minutes ago; records have come since."""
    (found,) = [each for each in examples() if each.title == UNATTENDED]
    known = ConnectConfigsState(cluster="prod", topic="connect-configs", connectors=configs)
    catalog = replace(found.catalog, connect_configs={"live": known})
    inputs = only_concerned(GroupInputs(group=replace(found.group, group=name), catalog=catalog, now_ms=NOW))
    return evaluate(inputs.group, inputs.catalog, NOW, replace(inputs.settings, **settings))


UNATTENDED = next(each.title for each in examples() if each.reason == "no_members")


def test_the_finding_on_a_sinks_group_names_its_connector():
    s3 = ConnectorConfig("s3", is_configured=True, tasks=0)
    (finding,) = unattended("connect-s3", s3).findings
    assert finding.sentence.endswith("By its name, this is the group of the connector s3 of Kafka Connect.")
    own = replace(s3, group_id="own-group", target_state=TargetState.STARTED)
    (finding,) = unattended("own-group", own).findings
    assert finding.sentence.endswith("this is the group of the connector s3 of Kafka Connect.")
    (finding,) = unattended("connect-s3", own).findings
    assert "Connect" not in finding.sentence, "its group is another one"


@pytest.mark.parametrize("state", [TargetState.PAUSED, TargetState.STOPPED])
def test_a_sink_that_is_paused_or_stopped_has_lag_on_purpose(state):
    s3 = ConnectorConfig("s3", is_configured=True, tasks=0, target_state=state)
    verdict = unattended("connect-s3", s3)
    assert verdict.findings == ()
    assert (verdict.sink.connector, verdict.sink.state) == ("s3", state)
    (named,) = unattended("connect-s3", s3, lag_records=1).findings
    assert named.kind is FindingKind.LAG
    assert named.sentence.endswith(f"That connector is {state.lower()}.")


@pytest.mark.parametrize(("ago_ms", "since_ms"), [(30_000, None), (90_000, NOW - 90_000), (7_200_000, NOW - 900_000)])
def test_a_sink_that_is_resumed_has_the_usual_time_to_go_on(ago_ms, since_ms):
    """Records wait since 15 minutes ago; 60 s are the usual time."""
    s3 = ConnectorConfig("s3", is_configured=True, target_state=TargetState.STARTED, changed_ms=NOW - ago_ms)
    found = [finding.since_ms for finding in unattended("connect-s3", s3).findings]
    assert found == ([since_ms] if since_ms else [])


def test_a_sink_that_was_changed_in_the_future_is_judged_as_usual():
    s3 = ConnectorConfig("s3", is_configured=True, changed_ms=NOW + 1)
    assert len(unattended("connect-s3", s3).findings) == 1


def test_a_storm_takes_twice_as_many_generations_and_speaks_of_workers():
    """Twenty within ten minutes are a storm of another group."""

    def storm(count):
        state = group((worker("w1"),))
        ends = [state.generation_ms - 10_000 * number for number in reversed(range(count))]
        rounds = tuple(
            Rebalance(generation=1, started_ms=end, ended_ms=end, causes=(RebalanceCause.JOIN,)) for end in ends
        )
        return judged(replace(state, history=rounds))

    assert reasons(storm(39)) == []
    (finding,) = storm(40).findings
    assert (finding.kind.value, finding.reason) == ("rebalance", "storm")
    assert "workers joined" in finding.sentence
    assert "max.poll" not in finding.sentence

"""Connect clusters: what runs where, what nobody runs, why and until when."""

import pytest

from monitor.kinds.connect import (
    IdleWork,
    IdleWorkReason,
    Work,
    configured_work,
    delay_until_ms,
    idle_work,
    running_work,
    sink_group,
)
from monitor.model import (
    ConnectAssignment,
    ConnectConfigsState,
    ConnectGroupState,
    ConnectorConfig,
    ConnectorTasks,
    ConnectWorker,
    GroupState,
    LostWork,
    Member,
    TargetState,
)


def worker(name, has, *, got=(), revoked=(), delay_ms=0, error=0):
    return Member(
        member_id=name,
        connect=ConnectWorker(
            version=2,
            url=f"http://{name}/",
            config_offset=5,
            allocation=tuple(has),
            assignment=ConnectAssignment(
                leader="w1",
                leader_url="http://w1/",
                config_offset=5,
                error=error,
                assigned=tuple(got),
                revoked=tuple(revoked),
                delay_ms=delay_ms,
            ),
        ),
    )


JDBC, S3 = ConnectorTasks("jdbc", (-1, 0)), ConnectorTasks("s3", (0, 1))
CONFIGS = ConnectConfigsState(
    cluster="c",
    topic="connect-configs",
    connectors=(
        ConnectorConfig("deleted", tasks=3),
        ConnectorConfig("jdbc", is_configured=True, tasks=1),
        ConnectorConfig("new", is_configured=True),
        ConnectorConfig("s3", is_configured=True, tasks=2, target_state=TargetState.PAUSED),
        ConnectorConfig("stopped", is_configured=True, tasks=0, target_state=TargetState.STOPPED),
    ),
)


def group(*members, lost=()):
    return GroupState(
        cluster="c",
        group="g",
        protocol_type="connect",
        generation_ms=1_000,
        members=members,
        connect=ConnectGroupState(lost=tuple(lost)),
    )


def test_a_difference_leaves_what_a_worker_has():
    told = group(worker("w1", [JDBC], got=[S3]), worker("w2", [S3], revoked=[ConnectorTasks("s3", (1,))]))
    assert running_work(told) == {
        Work("jdbc", -1): ("w1",),
        Work("jdbc", 0): ("w1",),
        Work("s3", 0): ("w1", "w2"),
        Work("s3", 1): ("w1",),
    }


def test_what_is_configured_runs_unless_it_is_stopped():
    """A connector without tasks yet, or that is stopped, is assigned itself."""
    assert {str(work) for work in configured_work(CONFIGS)} == {
        *("jdbc", "jdbc-0", "new", "s3", "s3-0", "s3-1", "stopped"),
    }


LOST = LostWork("http://w3/", 900, (S3,))


@pytest.mark.parametrize(
    ("state", "reason", "until_ms"),
    [
        (group(worker("w1", [JDBC], delay_ms=300_000), lost=[LOST]), IdleWorkReason.DELAY, 301_000),
        (group(worker("w1", [JDBC]), lost=[LOST]), IdleWorkReason.UNASSIGNED, None),
        (group(worker("w1", [JDBC], error=1), lost=[LOST]), IdleWorkReason.CONFIG_MISMATCH, None),
        (group(lost=[LOST]), IdleWorkReason.NO_WORKERS, None),
    ],
    ids=["the leader waits", "the leader does not wait", "the leader cannot read the configurations", "no workers"],
)
def test_why_nobody_runs_what_a_worker_had_that_is_gone(state, reason, until_ms):
    assert idle_work(state) == tuple(
        IdleWork(Work("s3", number), reason, url="http://w3/", since_ms=900, until_ms=until_ms) for number in (0, 1)
    )


def test_what_was_revoked_is_given_to_another_worker_in_the_next_generation():
    """A delay without anything lost is the time between two rounds of revocation."""
    told = group(worker("w1", [JDBC, S3], revoked=[S3], delay_ms=2_000), worker("w2", []))
    assert {(str(each.work), each.reason) for each in idle_work(told)} == {
        ("s3-0", IdleWorkReason.REVOKED),
        ("s3-1", IdleWorkReason.REVOKED),
    }
    assert delay_until_ms(told) == 3_000


def test_the_configurations_tell_of_tasks_that_never_ran_and_of_those_that_are_deleted():
    told = group(worker("w1", [JDBC, S3]), lost=[LostWork("http://w3/", 900, (ConnectorTasks("deleted", (0,)),))])
    assert [(str(each.work), each.reason) for each in idle_work(told, CONFIGS)] == [
        ("new", IdleWorkReason.UNASSIGNED),
        ("s3", IdleWorkReason.UNASSIGNED),
        ("stopped", IdleWorkReason.UNASSIGNED),
    ]


def test_the_group_of_a_sink_with_a_group_of_its_own():
    assert sink_group(ConnectorConfig("s3", group_id="own")) == "own"

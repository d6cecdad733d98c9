"""What is remembered of a Connect cluster's work from generation to generation, and of its configurations."""

from itertools import pairwise

from msgspec.structs import replace

from monitor.kinds.connect import Work, idle_work, works
from monitor.model import (
    ConnectAssignment,
    ConnectConfigsState,
    ConnectGroupState,
    ConnectorConfig,
    ConnectorConfigured,
    ConnectorTargetSet,
    ConnectorTasks,
    ConnectorTasksSet,
    ConnectWorker,
    DoubleWork,
    LostWork,
    Member,
    MembershipStored,
    TargetState,
    WorkerBehind,
    WorkerHoldings,
    WorkSince,
)
from monitor.protocol.offsets_topic import decode_record
from monitor.tracking.connect import MAX_DOUBLES, fold_connect_configs
from monitor.tracking.group import fold_group
from monitor.tracking.serialization import decode_group_state, encode_state
from tests.support.kind_captures import key_of, records, value_of


def tasks(connector, *numbers):
    return ConnectorTasks(connector, numbers)


def worker(name, *has, got=(), revoked=(), delay_ms=0, error=0, offset=5, url=None):
    return Member(
        member_id=name,
        connect=ConnectWorker(
            version=2,
            url=url or f"http://{name}/",
            config_offset=offset,
            allocation=has,
            assignment=ConnectAssignment("w1", "http://w1/", 5, error, tuple(got), tuple(revoked), delay_ms),
        ),
    )


def generation(number, *members):
    return MembershipStored(
        group="g",
        generation=number,
        protocol_type="connect",
        protocol="sessioned" if members else None,
        leader="w1",
        stored_ms=1_000 * number,
        members=members,
    )


def since(seconds, *work):
    return WorkSince(1_000 * seconds, work)


def folded(*events, state=None):
    return fold_group("c", "g", state, events)


BOTH = generation(1, worker("w1", got=[tasks("a", -1, 0)]), worker("w2", got=[tasks("b", 0, 1)]))
GONE = generation(2, worker("w1", tasks("a", -1, 0), delay_ms=9_000))


def test_workers_have_what_they_got_since_then():
    state = folded(
        BOTH, generation(2, worker("w1", tasks("a", -1, 0), got=[tasks("c", 0)]), worker("w2", tasks("b", 0, 1)))
    )
    assert state.connect == ConnectGroupState(
        workers=(
            WorkerHoldings(
                "w1", "http://w1/", (WorkSince(1_000, (tasks("a", -1, 0),)), WorkSince(2_000, (tasks("c", 0),)))
            ),
            WorkerHoldings("w2", "http://w2/", (WorkSince(1_000, (tasks("b", 0, 1),)),)),
        )
    )
    assert decode_group_state(encode_state(state)) == state


def test_what_a_worker_had_that_is_gone_is_lost_until_somebody_has_it():
    lost = folded(BOTH, GONE)
    assert lost.connect.lost == (LostWork("http://w2/", 2_000, (tasks("b", 0, 1),)),)
    given_out = generation(3, worker("w1", tasks("a", -1, 0), got=[tasks("b", 0, 1)]))
    assert folded(given_out, state=lost).connect.lost == ()


def test_a_rebalance_within_the_delay_leaves_it_lost_since_then():
    lost = folded(BOTH, GONE, generation(3, worker("w1", tasks("a", -1, 0), got=[tasks("b", 1)], delay_ms=3_000)))
    assert lost.connect.lost == (LostWork("http://w2/", 2_000, (tasks("b", 0),)),)


def test_a_worker_that_comes_back_with_its_work_ends_the_loss():
    """One that only hung: it has a new id, and its tasks in its allocation."""
    back = generation(3, worker("w1", tasks("a", -1, 0)), worker("w2b", tasks("b", 0, 1), url="http://w2/"))
    assert folded(BOTH, GONE, back).connect.lost == ()


def test_what_a_leader_gives_to_nobody_although_it_keeps_nothing_back_is_not_configured_any_more():
    state = folded(BOTH, GONE)
    assert folded(generation(3, worker("w1", tasks("a", -1, 0))), state=state).connect.lost == ()
    mismatch = folded(generation(3, worker("w1", tasks("a", -1, 0), error=1)), state=state)
    assert mismatch.connect.lost == state.connect.lost


def test_without_workers_everything_is_lost():
    state = folded(BOTH, generation(2))
    assert state.connect.workers == ()
    assert {work for each in state.connect.lost for work in works(each.work)} == {
        *(Work("a", -1), Work("a", 0), Work("b", 0), Work("b", 1)),
    }


def test_an_eager_group_loses_nothing_as_everything_is_given_out():
    def eager(name, *got):
        told = worker(name, got=got)
        return replace(told, connect=replace(told.connect, allocation=None))

    state = folded(
        generation(1, eager("w1", tasks("a", 0)), eager("w2", tasks("b", 0))),
        generation(2, eager("w1", tasks("a", 0), tasks("b", 0))),
    )
    assert state.connect.lost == ()
    assert state.connect.workers[0].held == (since(1, tasks("a", 0)), since(2, tasks("b", 0)))


def test_what_two_workers_say_that_they_ran_they_both_ran():
    """One hung beyond its session, and the other one had got its tasks at 3 s."""
    state = folded(
        BOTH,
        GONE,
        generation(3, worker("w1", tasks("a", -1, 0), got=[tasks("b", 0, 1)])),
        generation(
            5,
            worker("w1", tasks("a", -1, 0), tasks("b", 0, 1), revoked=[tasks("b", 0, 1)]),
            worker("w2b", tasks("b", 0, 1), revoked=[tasks("b", 0, 1)], url="http://w2/"),
        ),
    )
    assert state.connect.doubles == (DoubleWork(("http://w1/", "http://w2/"), 3_000, 5_000, (tasks("b", 0, 1),)),)


def test_only_the_newest_doubles_are_remembered():
    state = None
    for number in range(1, MAX_DOUBLES + 6):
        pair = generation(number, worker("w1", tasks("a", number)), worker("w2", tasks("a", number)))
        state = folded(pair, state=state)
    assert [each.until_ms for each in state.connect.doubles] == [1_000 * number for number in range(6, MAX_DOUBLES + 6)]


def test_a_worker_that_has_read_less_of_the_configurations():
    state = folded(
        generation(1, worker("w1"), worker("w2", offset=4)), generation(2, worker("w1"), worker("w2", offset=3))
    )
    assert state.connect.behind == (WorkerBehind("w2", 1_000, 2),)
    assert folded(generation(3, worker("w1", offset=7), worker("w2")), state=state).connect.behind == ()


def test_a_worker_whose_bytes_cannot_be_read_has_what_it_had():
    state = folded(BOTH, generation(2, worker("w1", tasks("a", -1, 0)), Member(member_id="w2")))
    assert (state.connect.lost, state.connect.workers[1].url) == ((), "http://w2/")
    assert state.connect.workers[1].held == (since(1, tasks("b", 0, 1)),)


def test_a_generation_that_is_written_again_changes_nothing():
    state = folded(BOTH)
    assert folded(replace(BOTH, stored_ms=9_000), state=state).connect == state.connect


def test_a_group_of_another_protocol_type_remembers_no_work():
    state = folded(BOTH, generation(2))
    others = folded(replace(generation(3, Member(member_id="m")), protocol_type="consumer"), state=state)
    assert others.connect is None


# --- configurations ---------------------------------------------------------------------------------------------------


def configs(*events, state=None):
    return fold_connect_configs("c", "connect-configs", state, events)


def test_configurations_are_kept_by_connector():
    state = configs(
        ConnectorTargetSet("s3", TargetState.PAUSED),
        ConnectorConfigured("s3", group_id="own"),
        ConnectorTasksSet("s3", 2),
        ConnectorConfigured("jdbc"),
    )
    assert state.connectors == (
        ConnectorConfig("jdbc", is_configured=True),
        ConnectorConfig("s3", is_configured=True, tasks=2, target_state=TargetState.PAUSED, group_id="own"),
    )
    assert configs(ConnectorConfigured("jdbc"), state=state) is state


def test_a_deleted_connector_takes_its_tasks_along():
    made = (ConnectorConfigured("s3"), ConnectorTasksSet("s3", 2), ConnectorTargetSet("s3", TargetState.STOPPED))
    half = configs(*made, ConnectorConfigured("s3", is_configured=False))
    assert half.connectors == (ConnectorConfig("s3", target_state=TargetState.STOPPED),)
    assert configs(ConnectorTargetSet("s3", None), state=half) == ConnectConfigsState("c", "connect-configs")


# --- the captures -----------------------------------------------------------------------------------------------------


def states_of(group):
    """The state of a captured cluster after each of its generations."""
    state = None
    for record in records():
        if record["topic"] == "__consumer_offsets" and record.get("decoded", {}).get("key") == {"group": group}:
            state = fold_group("c", group, state, [decode_record(key_of(record), value_of(record), record["ts"])])
            if state is not None and state.connect is not None:
                yield state


def test_a_captured_worker_that_was_behind_was_so_for_one_generation():
    """26 and 27, 28 and 29 of the configurations, as two connectors were deleted."""
    behind = [
        (worker.config_offset, worker.assignment.config_offset)
        for group in ("cn1f7-sessioned", "cne0e9-sessioned")
        for state in states_of(group)
        for each in state.connect.behind
        if each.generations == 1
        for worker in (next(member.connect for member in state.members if member.member_id == each.member_id),)
    ]
    assert {(26, 27), (28, 29)} <= set(behind)
    assert all(each.generations == 1 for state in states_of("cn1f7-sessioned") for each in state.connect.behind)


def test_the_next_captured_generation_comes_when_the_delay_is_over():
    """Where no other worker came before: 14.005 to 14.2 s after a delay of 14 s."""
    waited = []
    for group in ("cn1f7-sessioned", "cne0e9-sessioned", "cnd063-compatible"):
        states = list(states_of(group))
        for before, after in pairwise(states):
            until = {idle.until_ms for idle in idle_work(before)} - {None}
            if until and {m.member_id for m in before.members} == {m.member_id for m in after.members}:
                waited.append(after.generation_ms - until.pop())
    assert len(waited) > 5
    assert all(0 <= late_ms < 300 for late_ms in waited), waited

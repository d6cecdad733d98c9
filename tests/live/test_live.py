"""A real broker and real Java consumers for a minute: the tracker's groups are those of the admin client.

Three seeds act at the same time on one broker, with the classic protocol and that of KIP-848: members join, leave,
restart, fall asleep, are killed, rewind, subscribe to other topics; topics grow and new ones come; groups are deleted,
and one changes its protocol and back.
"""

from __future__ import annotations

import pytest

from monitor.model import RebalanceCause
from monitor.tracking.group import fold_group
from tests.live.minute import SEEDS, Log, Minute, minute_of
from tests.support.beside import Beside
from tests.support.crowd import Event
from tests.tracking.comparison import differences

pytestmark = [pytest.mark.broker, pytest.mark.timeout(600)]

KINDS_OF_GROUPS = {"range", "cooperative", "uniform", "regex", "upgraded"}


@pytest.fixture(scope="module")
def live_minute(beside: Beside) -> Minute:
    """Three seeds' minute, over; the broker is gone as well."""
    return minute_of(beside.report("live_minute"))


def disagreements(marks: list[Event], log: Log) -> list[str]:
    """Where the log up to a mark does not give what the mark says; the name of a group begins with its seed."""
    found = []
    for mark in marks:
        events = [event for offset, event in log[mark["group"]] if offset < mark["log_end"]]
        different = differences(mark, fold_group("c", mark["group"], None, events))
        if different:
            place = f"{mark['group']} at {mark['partition']}:{mark['log_end']}"
            found.append(f"{place}: {different}\n  described: {mark['describe']}\n  last records: {events[-5:]}")
    return found


def test_at_the_end_the_groups_are_those_of_the_admin_client(live_minute):
    assert len(live_minute.final) == len(SEEDS) * len(KINDS_OF_GROUPS)
    found = disagreements(list(live_minute.final.values()), live_minute.log)
    assert not found, "\n".join(found)


def test_so_they_were_whenever_the_admin_client_was_asked(live_minute):
    found = disagreements(live_minute.marks(), live_minute.log)
    assert not found, "\n".join(found)


def test_no_consumer_failed_but_those_that_were_killed(live_minute):
    assert live_minute.failures == []


def test_every_action_was_done(live_minute):
    of_members = {"join", "leave", "restart", "sleep", "killed", "subscribe", "rewind"}
    assert (+live_minute.done).keys() == of_members | {"delete", "grow", "produce", "mark"}, live_minute.done


def test_every_kind_of_group_was_compared_with_members(live_minute):
    """Guards the comparison: what it compares occurs, and more than once."""
    marks = live_minute.marks()
    assert len(marks) > 30
    with_members = [mark for mark in marks if mark["describe"].get("members")]
    assert {mark["group"].split("-")[1] for mark in with_members} == KINDS_OF_GROUPS
    upgraded = {mark["describe"]["type"] for mark in with_members if mark["group"].endswith("-upgraded")}
    assert upgraded == {"Classic", "Consumer"}
    members = [member for mark in with_members for member in mark["describe"]["members"]]
    for what in ("instance_id", "rack", "assignment", "target_assignment", "upgraded"):
        assert sum(bool(member[what]) for member in members) >= 3, what
    assert sum(bool(mark["describe"].get("members")) for mark in live_minute.final.values()) >= 2
    assert len({offset["offset"] for mark in marks for offset in mark["offsets"].values()}) > 1


def test_groups_were_compared_at_the_epoch_that_no_record_tells(live_minute):
    """A group of 4.3 begins at epoch 1; one whose expression fits no topic stays there."""
    described = [mark["describe"] for mark in live_minute.marks() if mark["group"].endswith("-regex")]
    with_members = [found for found in described if found.get("members")]
    assert ("Stable", 1, 1) in {(f["state"], f["group_epoch"], f["target_assignment_epoch"]) for f in with_members}


def test_committed_offsets_fell_and_groups_were_deleted(live_minute):
    histories = [list(live_minute.states(group)) for group in live_minute.final]
    offsets = [offset for history in histories for state in history if state is not None for offset in state.offsets]
    assert max(offset.rewinds for offset in offsets) > 0
    assert any(state is None for history in histories for state in history)


def test_the_groups_rebalanced_for_every_reason(live_minute):
    rebalances = {group: live_minute.rebalances(group) for group in live_minute.final}
    assert all(rebalances.values())
    causes = {cause for found in rebalances.values() for rebalance in found for cause in rebalance.causes}
    assert causes >= {
        RebalanceCause.JOIN,
        RebalanceCause.LEAVE,
        RebalanceCause.TIMEOUT,
        RebalanceCause.TOPICS,
        RebalanceCause.SUBSCRIPTION,
        RebalanceCause.STATIC_RESTART,
        RebalanceCause.HANDOVER,
        RebalanceCause.UPGRADE,
        RebalanceCause.DOWNGRADE,
    }

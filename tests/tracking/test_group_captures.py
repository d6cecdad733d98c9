"""Folding a captured log up to a mark gives what the broker itself said at that mark."""

from collections import defaultdict

import pytest

from monitor.model import Phase
from monitor.protocol.offsets_topic import Foreign, decode_record
from monitor.tracking.group import fold_group
from tests.protocol.captures import BROKERS, marks, records

TRANSACTIONAL = {
    "4.3.1": {"heron-mango20-group", "nectar-grove37-group"},
    "3.9.2": {"ember-grove56-group", "birch-fjord80-group"},
    "3.9.2-old-coordinator": {"xenon-tulip76-group", "fjord-quartz86-group"},
}
"""Groups with transactional commits: a reader of uncommitted records sees those before, and even without, their
commit, so the offsets differ from the broker's answer."""


def states_at_marks(broker):
    """Every mark of a classic group with the state that its records give, folded piece by piece from mark to mark."""
    by_group = defaultdict(list)
    for record in records(broker):
        event = decode_record(record.key, record.value, record.timestamp_ms)
        if not isinstance(event, Foreign):
            by_group[record.group].append((record.offset, event))
    states, folded = {}, defaultdict(int)
    for mark in sorted(marks(broker), key=lambda mark: mark["log_end"]):
        group, end = mark["group"], mark["log_end"]
        piece = [event for offset, event in by_group[group] if folded[group] <= offset < end]
        states[group] = fold_group("c", group, states.get(group), piece)
        folded[group] = end
        yield mark, states[group]


def is_missing(mark):
    return mark["describe"].get("error") == "GroupIdNotFoundException" or mark["describe"].get("state") == "Dead"


def is_classic(mark):
    return mark["describe"].get("type") == "Classic" and not is_missing(mark)


def offsets_of(state):
    return {
        f"{committed.topic}-{committed.partition}": (committed.offset, committed.leader_epoch)
        for committed in (state.offsets if state else ())
    }


def assignments_of(state, existing):
    return {
        member.member_id: {f"{t.topic}-{p}" for t in member.assigned if t.topic in existing for p in t.partitions}
        for member in state.members
    }


@pytest.mark.parametrize("broker", BROKERS)
def test_the_list_of_transactional_groups_is_what_the_log_says(broker):
    assert {record.group for record in records(broker) if record.transactional} == TRANSACTIONAL[broker]


@pytest.mark.parametrize("broker", BROKERS)
def test_a_group_that_the_broker_no_longer_knows_leaves_no_state(broker):
    missing = [(mark["label"], state) for mark, state in states_at_marks(broker) if is_missing(mark)]
    assert len(missing) >= 14
    assert [state for _, state in missing] == [None] * len(missing)


@pytest.mark.parametrize("broker", BROKERS)
def test_the_phase_is_the_state_that_the_broker_describes(broker):
    """A group with commits only is "simple" to the broker; hand-made marks (python-raw) do not say it."""
    for mark, state in filter(lambda found: is_classic(found[0]), states_at_marks(broker)):
        described = mark["describe"]
        simple = described.get("simple", state.phase is Phase.OFFSETS_ONLY)
        empty = Phase.OFFSETS_ONLY if simple else Phase.EMPTY
        assert state.phase is {"Stable": Phase.STABLE, "Empty": empty}[described["state"]], mark["label"]
        assert (state.protocol or "") == described.get("assignor", described.get("protocol_data"))


@pytest.mark.parametrize("broker", BROKERS)
def test_the_members_are_those_that_the_broker_describes(broker):
    compared = 0
    for mark, state in filter(lambda found: is_classic(found[0]), states_at_marks(broker)):
        ours = {(m.member_id, m.client_id, m.host, m.instance_id) for m in state.members}
        described = mark["describe"]["members"]
        assert ours == {(m["member_id"], m["client_id"], m["host"], m["instance_id"]) for m in described}
        compared += len(ours)
    assert compared > 100


@pytest.mark.parametrize("broker", BROKERS)
def test_the_assignments_are_those_that_the_broker_describes(broker):
    """Its answer leaves out topics that no longer exist; hand-made marks (python-raw) have no assignments."""
    compared = 0
    for mark, state in filter(lambda found: is_classic(found[0]), states_at_marks(broker)):
        described = mark["describe"]["members"]
        if all("assignment" in member for member in described):
            existing = {topic for topic, found in mark["topics"].items() if "error" not in found}
            expected = {member["member_id"]: set(member["assignment"]) for member in described}
            assert assignments_of(state, existing) == expected, mark["label"]
            compared += sum(map(len, expected.values()))
    assert compared > 500


@pytest.mark.parametrize("broker", BROKERS)
def test_the_offsets_are_those_that_the_broker_lists(broker):
    compared = 0
    for mark, state in filter(lambda found: is_classic(found[0]), states_at_marks(broker)):
        if mark["group"] not in TRANSACTIONAL[broker]:
            expected = {
                place: (listed["offset"], -1 if listed["leader_epoch"] is None else listed["leader_epoch"])
                for place, listed in mark["offsets"].items()
            }
            assert offsets_of(state) == expected, mark["label"]
            compared += len(expected)
    assert compared > 500

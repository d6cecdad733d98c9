"""Folding a captured log up to a mark gives what the broker itself said at that mark."""

from collections import defaultdict
from functools import cache

import msgspec
import pytest

from monitor.model import GroupKind, Phase, RebalanceCause
from monitor.protocol.offsets_topic import Foreign, decode_record
from monitor.tracking.group import fold_group
from tests.support.captures import BROKERS, lines, marks, records
from tests.tracking.comparison import differences

TRANSACTIONAL = {
    "4.3.1": {"heron-mango20-group", "nectar-grove37-group"},
    "3.9.2": {"ember-grove56-group", "birch-fjord80-group"},
    "3.9.2-old-coordinator": {"xenon-tulip76-group", "fjord-quartz86-group"},
}
"""Groups with transactional commits: a reader of uncommitted records sees those before, and even without, their
commit, so the offsets differ from the broker's answer."""


@cache
def events(broker):
    """The events of each group with their offsets in the log, and the keys of their records."""
    by_group = defaultdict(list)
    for record in records(broker):
        event = decode_record(record.key, record.value, record.timestamp_ms)
        if not isinstance(event, Foreign):
            by_group[record.group].append((record.offset, record.key, event))
    return by_group


def states_at_marks(broker):
    """Every mark with the state that its group's records give, folded piece by piece from mark to mark."""
    states, folded = {}, defaultdict(int)
    for mark in sorted(marks(broker), key=lambda mark: mark["log_end"]):
        group, end = mark["group"], mark["log_end"]
        piece = [event for offset, _, event in events(broker)[group] if folded[group] <= offset < end]
        states[group] = fold_group("c", group, states.get(group), piece)
        folded[group] = end
        yield mark, states[group]


@pytest.mark.parametrize("broker", BROKERS)
def test_the_list_of_transactional_groups_is_what_the_log_says(broker):
    assert {record.group for record in records(broker) if record.transactional} == TRANSACTIONAL[broker]


@pytest.mark.parametrize("broker", BROKERS)
def test_the_state_at_every_mark_is_what_the_broker_describes(broker):
    """Its kind, state, epochs, members, assignments and targets, and its committed offsets."""
    compared = 0
    for mark, state in states_at_marks(broker):
        found = differences(mark, state, offsets=mark["group"] not in TRANSACTIONAL[broker])
        assert found == [], (mark["scenario"], mark["label"])
        compared += 1
    assert compared == len(marks(broker)) > 130


def test_the_comparison_is_not_an_empty_one():
    """How much there is to compare: members, partitions, offsets, and each kind of group."""
    described = [mark["describe"] for broker in BROKERS for mark in marks(broker)]
    members = [member for found in described for member in found.get("members", ())]
    assert {found.get("type") for found in described} >= {"Classic", "Consumer", "Share", "Streams"}
    assert {found.get("state") for found in described} >= {"Stable", "Empty", "Assigning", "Reconciling"}
    assert sum(len(member.get("assignment", ())) for member in members) > 2000
    assert sum(len(member.get("target_assignment") or ()) for member in members) > 500
    assert sum(len(mark["offsets"]) for broker in BROKERS for mark in marks(broker)) > 2500


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", GroupKind.SHARE),
        ("phase", None),
        ("generation", -7),
        ("target_epoch", -7),
        ("members", ()),
        ("offsets", ()),
    ],
)
def test_the_comparison_finds_what_is_wrong(field, value):
    mark, state = next(
        (mark, state)
        for mark, state in states_at_marks("4.3.1")
        if mark["describe"].get("type") == "Consumer" and state.members and state.offsets
    )
    broken = msgspec.structs.replace(state, **{field: state.phase.EMPTY if field == "phase" else value})
    assert differences(mark, broken)


# --- the log as compaction leaves it ----------------------------------------------------------------------------------


def compacted(log, *, tombstones):
    """The last event of each key, where it stood; ``tombstones``: whether those are still there."""
    last = {key: offset for offset, key, _ in log}
    deleted = {record_key(broker_record) for broker_record in log if is_tombstone(broker_record)}
    return [event for offset, key, event in log if last[key] == offset and (tombstones or (key, offset) not in deleted)]


def record_key(logged):
    offset, key, _ = logged
    return key, offset


@cache
def tombstones_of(broker):
    return {(record.key, record.offset) for record in records(broker) if record.value is None}


def is_tombstone(logged):
    return any(record_key(logged) in tombstones_of(broker) for broker in BROKERS)


def what_lasts(state):
    """The parts of a state that do not depend on what came before: no history, no counts, no times of changes."""
    if state is None or state.phase is Phase.UNSEEN:  # of which only deleted offsets remain: compaction removes them
        return None
    passed = ("history", "under_way", "pending", "rebalances", "phase_ms", "generation_ms", "offsets")
    counts = ("moved_partitions", "avoidable_moves", "rebalance_ms", "redelivered_records", "released", "fastest")
    # the last ones are of topics and owners before
    counts += (
        "pause_ms",
        "burst_records",
        "committed_topics",
        "taken",
        "left_topics",
        "departures",
        "deleted_offsets",
        "static_ids",
    )  # these tell of topics and owners before
    passed += ("assignor_input",)
    lasting = {name: getattr(state, name) for name in state.__struct_fields__ if name not in (*passed, *counts)}
    offsets = [(o.topic, o.partition, o.offset, o.committed_ms, o.leader_epoch) for o in state.offsets]
    return lasting | {"offsets": offsets, "members": sorted(map(as_stored, state.members), key=lambda m: m.member_id)}


def as_stored(member):
    """Of a static member, without what it joined with: once it has come back, the log lacks that."""
    if member.instance_id is None:
        return member
    return msgspec.structs.replace(member, joined_as=None, owned=(), generation=-1, user_data=None, returned_ms=0)


@pytest.mark.parametrize("broker", BROKERS)
@pytest.mark.parametrize("tombstones", [True, False])
def test_a_compacted_log_gives_the_same_end_state(broker, tombstones):
    """Compacted as it was at each mark, with its tombstones and after their time (delete.retention.ms)."""
    compared = 0
    for mark, state in states_at_marks(broker):
        log = [logged for logged in events(broker)[mark["group"]] if logged[0] < mark["log_end"]]
        short = fold_group("c", mark["group"], None, compacted(log, tombstones=tombstones))
        assert what_lasts(short) == what_lasts(state), (mark["scenario"], mark["label"])
        compared += len(log)
    assert compared > 5000


# --- transactions -----------------------------------------------------------------------------------------------------


def of_committed_transactions(broker):
    """The events by group, those of transactions that were aborted or are still open at the end left out."""
    fate, open_records = {}, defaultdict(list)
    for line in lines(broker):
        place = line["p"], line["o"]
        if "control" in line:
            for waiting in open_records.pop((line["p"], line["pid"]), []):
                fate[waiting] = line["control"] == "COMMIT"
        elif line["txn"]:
            open_records[line["p"], line["pid"]].append(place)
    by_group = defaultdict(list)
    for record in records(broker):
        place = record.partition, record.offset
        if not record.transactional or fate.get(place):
            by_group[record.group].append(decode_record(record.key, record.value, record.timestamp_ms))
    return by_group


@pytest.mark.parametrize("broker", BROKERS)
def test_with_the_fate_of_transactions_known_their_offsets_are_the_brokers(broker):
    """What a reader of committed records sees at the end: commits count by their own place, not by their marker's."""
    final = {mark["group"]: mark for mark in sorted(marks(broker), key=lambda mark: mark["log_end"])}
    by_group = of_committed_transactions(broker)
    for group in TRANSACTIONAL[broker]:
        state = fold_group("c", group, None, by_group[group])
        # the broker knows a group whose only transaction is open, and lists no offset
        if state is None or state.phase is Phase.UNSEEN:
            assert final[group]["offsets"] == {}
        else:
            assert differences(final[group], state) == []


# --- rebalances -------------------------------------------------------------------------------------------------------


def history_of(scenario, broker):
    """The rebalances of a scenario's group up to its end, or up to the deletion of the group."""
    group = next(mark["group"] for mark in marks(broker) if mark["scenario"] == scenario)
    state, longest = None, ()
    for _, _, event in events(broker)[group]:
        state = fold_group("c", group, state, [event])
        if state and len(state.history) > len(longest):
            longest = state.history
    return longest


def causes(scenario, broker):
    return [[cause.value for cause in rebalance.causes] for rebalance in history_of(scenario, broker)]


@pytest.mark.parametrize("broker", BROKERS)
def test_causes_of_classic_rebalances(broker):
    """What the scripts of the captures did, as their clients.jsonl tells."""
    assert ["topics"] in causes("classic-growth", broker)
    assert ["handover"] in causes("classic-cooperative", broker)
    assert ["subscription"] in causes("classic-subscriptions", broker)
    assert {"static_restart", "timeout"} <= {c for found in causes("classic-static", broker) for c in found}
    assert "assignor" in {c for found in causes("classic-two-assignors", broker) for c in found}
    assert causes("classic-range", broker)[0] == ["join"]
    assert causes("classic-range", broker)[-1] == ["leave"]


@pytest.mark.parametrize("broker", ["4.3.1", "3.9.2"])
def test_causes_of_consumer_rebalances(broker):
    assert ["topics"] in causes("consumer-growth", broker)
    assert ["subscription"] in causes("consumer-subscriptions", broker)
    assert ["static_restart"] in causes("consumer-static", broker)
    upgrades = [c for found in causes("consumer-upgrade", broker) for c in found]
    assert "upgrade" in upgrades
    assert "downgrade" in upgrades


@pytest.mark.parametrize("broker", BROKERS)
def test_every_rebalance_has_a_cause_and_lasts_no_negative_time(broker):
    for scenario in {mark["scenario"] for mark in marks(broker)} - {"share"}:  # that assigned again by itself
        for rebalance in history_of(scenario, broker):
            assert RebalanceCause.UNKNOWN not in rebalance.causes, (scenario, rebalance)
            assert 0 <= rebalance.ended_ms - rebalance.started_ms < 60_000

"""Groups of Kafka that are read by the admin API, folded: what a broker does not tell at a time is not lost by it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.model import (
    ConnectAssignment,
    ConnectorTasks,
    ConnectWorker,
    GroupKind,
    GroupObserved,
    GroupsListed,
    GroupState,
    IdPartitions,
    ListedOffset,
    LostWork,
    Member,
    MembershipStored,
    MemberState,
    ObservedOffset,
    OffsetCommitted,
    OffsetsListed,
    Phase,
    RebalanceCause,
    RebalanceSampled,
    Reconciliation,
    ResolvedRegex,
    Source,
    SpareTasks,
    StreamsClient,
    StreamsGroupState,
    Subtopology,
    TopicPartitions,
    Topology,
)
from monitor.tracking.group import fold_group
from monitor.tracking.polled.group import is_deleted

A = Member(member_id="a", topics=("t",), assigned=(TopicPartitions("t", (0, 1)),))
B = Member(member_id="b", topics=("t",), assigned=(TopicPartitions("t", (2,)),))
ALL_OF_IT = Member(member_id="a", topics=("t",), assigned=(TopicPartitions("t", (0, 1, 2)),))
ID = "AAAAAAAAAAEAAAAAAAAAAA"
TOPOLOGY = Topology(epoch=1, subtopologies=(Subtopology("0", source_topics=("t",), changelogs=("c",)),))


def classic(at_ms: int, *members: Member, state: str = "Stable", **more: object) -> GroupObserved:
    fields = {"protocol": "range" if state == "Stable" else None} | more
    return GroupObserved(
        cluster="c",
        group="g",
        kind=GroupKind.CLASSIC,
        source=Source.ADMIN,
        pass_ms=at_ms,
        observed_ms=at_ms,
        members=members,
        state=state,
        **fields,
    )


def modern(at_ms: int, epoch: int, target_epoch: int, state: str, *members: Member, **more: object) -> GroupObserved:
    told = classic(at_ms, *members, state=state, protocol="uniform", **more)
    return replace(told, kind=GroupKind.CONSUMER, generation=epoch, target_epoch=target_epoch)


def standing(name: str, epoch: int, assigned: tuple[int, ...], target: tuple[int, ...], state: MemberState) -> Member:
    revoking = tuple(each for each in assigned if each not in target)
    kept = tuple(each for each in assigned if each in target)
    return Member(
        member_id=name,
        topics=("t",),
        reconciliation=Reconciliation(
            epoch=epoch,
            previous_epoch=epoch,
            state=state,
            assigned=(IdPartitions(ID, kept),) if kept else (),
            revoking=(IdPartitions(ID, revoking),) if revoking else (),
            target=(IdPartitions(ID, target),) if target else (),
        ),
    )


def folded(*events: object, state: GroupState | None = None) -> GroupState | None:
    return fold_group("c", "g", state, events)


def bare(name: str) -> Member:
    """A member as a broker tells it while its group rebalances."""
    return Member(member_id=name)


def test_of_a_group_that_is_first_seen_nobody_says_that_its_members_have_just_joined():
    (first,) = folded(classic(1000, A, B)).history
    assert (first.causes, first.joined, first.ended_ms) == ((RebalanceCause.UNKNOWN,), 0, 1000)
    joined = folded(classic(1000, state="Empty"), classic(2000, A, B)).history[-1]
    assert (joined.causes, joined.joined) == ((RebalanceCause.JOIN,), 2)


def test_a_classic_group_that_rebalances_keeps_its_members_with_all_that_they_have():
    before = folded(classic(1000, A, B))
    during = folded(classic(2000, bare("a"), bare("b"), bare("c"), state="PreparingRebalance"), state=before)
    assert during == replace(before, observed_ms=2000)
    during = folded(classic(3000, bare("a"), bare("b"), bare("c"), state="CompletingRebalance"), state=during)
    assert during.members == (A, B)
    after = folded(classic(4000, ALL_OF_IT), state=during)
    assert (after.generation, after.generation_ms, after.rebalances) == (2, 4000, 2)
    assert after.history[-1].causes == (RebalanceCause.LEAVE,)
    assert after.moved_partitions == 1


def test_a_group_that_is_first_seen_while_it_rebalances_is_known_by_its_offsets_alone():
    during = classic(1000, bare("a"), state="PreparingRebalance", offsets=(ObservedOffset("t", 0, 7),))
    assert folded(replace(during, offsets=())) is None
    state = folded(during)
    assert (state.phase, state.members, state.offsets[0].offset) == (Phase.OFFSETS_ONLY, (), 7)
    assert folded(classic(2000, A, B), state=state).phase is Phase.STABLE


def test_a_group_without_members_is_empty_and_one_that_never_had_any_is_offsets_only():
    empty = classic(1000, state="Empty", offsets=(ObservedOffset("t", 0, 7),))
    assert folded(empty).phase is Phase.EMPTY
    simple = replace(empty, protocol_type="")
    assert folded(simple).phase is Phase.OFFSETS_ONLY
    assert folded(simple).generation_ms == 0
    recreated = folded(replace(simple, observed_ms=9000), state=folded(classic(1000, A, B)))
    assert (recreated.phase, recreated.members) == (Phase.OFFSETS_ONLY, ())
    assert folded(replace(empty, observed_ms=9000), state=folded(simple)).phase is Phase.EMPTY


def test_a_handover_of_a_kip_848_group_is_one_rebalance_with_what_it_moved():
    alone = standing("a", 2, (0, 1), (0, 1), MemberState.STABLE)
    before = folded(modern(1000, 2, 2, "Stable", alone))
    assert (before.phase, before.under_way, before.generation) == (Phase.STABLE, None, 2)
    gives = standing("a", 2, (0, 1), (0,), MemberState.UNREVOKED_PARTITIONS)
    waits = standing("b", 3, (), (1,), MemberState.UNRELEASED_PARTITIONS)
    during = folded(modern(2000, 3, 3, "Reconciling", gives, waits), state=before)
    assert (during.phase, during.phase_ms, during.under_way.causes) == (
        Phase.RECONCILING,
        2000,
        (RebalanceCause.JOIN,),
    )
    later = folded(modern(3000, 3, 3, "Reconciling", gives, waits), state=during)
    assert later == replace(during, observed_ms=3000), "nothing happened in between"
    has = standing("a", 3, (0,), (0,), MemberState.STABLE)
    got = standing("b", 3, (1,), (1,), MemberState.STABLE)
    after = folded(modern(4000, 3, 3, "Stable", has, got), state=later)
    assert (after.phase, after.under_way, after.moved_partitions) == (Phase.STABLE, None, 1)
    assert (after.history[-1].started_ms, after.history[-1].ended_ms) == (2000, 4000)
    assert after.members[0].reconciliation.since_ms == 4000


@pytest.mark.parametrize(("giver", "taker"), [("a", "b"), ("b", "a")])
def test_what_changes_hands_between_two_readings_has_moved_whoever_is_told_first(giver: str, taker: str):
    stable = MemberState.STABLE
    before = modern(1000, 1, 1, "Stable", standing(giver, 1, (0, 1, 2, 3), (0, 1, 2, 3), stable))
    both = [standing(giver, 2, (0, 1), (0, 1), stable), standing(taker, 2, (2, 3), (2, 3), stable)]
    both.sort(key=lambda member: member.member_id)
    assert folded(before, modern(3000, 2, 2, "Stable", *both)).moved_partitions == 2


def test_a_group_whose_targets_are_not_chosen_is_assigning_and_its_expressions_stay():
    member = replace(standing("a", 2, (0, 1), (0, 1), MemberState.STABLE), topics=(), regex="t.*")
    found = (ResolvedRegex(regex="t.*", topics=("t",)),)
    before = folded(modern(1000, 2, 2, "Stable", member, regexes=found))
    during = folded(modern(2000, 3, 2, "Assigning", member), state=before)
    assert (during.phase, during.regexes, during.generation, during.target_epoch) == (Phase.ASSIGNING, found, 3, 2)


def test_a_group_that_is_converted_goes_on_with_its_offsets_and_counts():
    offset = (ObservedOffset("t", 0, 7),)
    classic_one = folded(classic(1000, A, B, offsets=offset))
    member = standing("a", 5, (0, 1, 2), (0, 1, 2), MemberState.STABLE)
    upgraded = folded(modern(2000, 5, 5, "Stable", member, offsets=offset), state=classic_one)
    assert (upgraded.kind, upgraded.generation, upgraded.phase) == (GroupKind.CONSUMER, 5, Phase.STABLE)
    assert upgraded.offsets == classic_one.offsets
    back = folded(classic(3000, A, offsets=offset), state=upgraded)
    assert (back.kind, back.phase, back.members) == (GroupKind.CLASSIC, Phase.STABLE, (A,))
    assert back.offsets == classic_one.offsets
    assert back.rebalances == upgraded.rebalances + 1 == classic_one.rebalances + 2


def streams(at_ms: int, epoch: int, state: str, *members: Member) -> GroupObserved:
    seen = modern(at_ms, epoch, epoch, state, *members, topology=TOPOLOGY)
    return replace(seen, kind=GroupKind.STREAMS)


def runner(name: str, epoch: int, standby: tuple[int, ...] = ()) -> Member:
    spare = SpareTasks(standby=(IdPartitions("0", standby),)) if standby else None
    return Member(
        member_id=name,
        reconciliation=Reconciliation(epoch=epoch, target=(), spare=spare, spare_target=spare),
        streams_client=StreamsClient(process_id=f"process of {name}", topology_epoch=1),
    )


def test_a_streams_group_has_its_topology_and_the_tasks_of_its_members():
    state = folded(streams(10, 1, "Stable", runner("a", 1, (0,))), streams(20, 2, "Stable", runner("a", 2, (1,))))
    assert (state.phase, state.generation) == (Phase.STABLE, 2)
    assert state.streams == StreamsGroupState(topology=TOPOLOGY, validated_epoch=1)
    (member,) = state.members
    assert member.reconciliation.spare == member.reconciliation.spare_target == SpareTasks((IdPartitions("0", (1,)),))
    assert member.streams_client == StreamsClient(process_id="process of a", topology_epoch=1)


def test_a_streams_group_whose_topics_are_missing_is_not_ready_until_they_are_there():
    state = folded(streams(10, 1, "NotReady", runner("a", 1)))
    assert (state.phase, state.streams.validated_epoch) == (Phase.NOT_READY, None)
    state = folded(streams(20, 2, "Stable", runner("a", 2)), state=state)
    assert (state.phase, state.streams.validated_epoch) == (Phase.STABLE, 1)


def test_a_streams_group_without_members_is_as_ready_as_it_was_before():
    """Its broker says only that it is empty."""
    states = ("Stable", "NotReady")
    before = {state: folded(streams(10, 1, state, runner("a", 1))) for state in states}
    empty = {state: folded(streams(20, 2, "Empty"), state=before[state]) for state in states}
    assert [empty[state].phase for state in states] == [Phase.EMPTY, Phase.EMPTY]
    assert [empty[state].streams.validated_epoch for state in states] == [1, None]
    again = folded(streams(30, 2, "Empty"), state=empty["NotReady"])
    assert again.streams.validated_epoch is None
    renewed = replace(streams(40, 3, "Empty"), topology=replace(TOPOLOGY, epoch=2))
    assert folded(renewed, state=again).streams.validated_epoch == 2, "of another topology nothing is known"
    assert folded(streams(20, 2, "Empty")).streams.validated_epoch == 1


def worker(name: str, given: tuple[int, ...], config_offset: int = 1) -> Member:
    told = ConnectAssignment("a", "http://a", config_offset, assigned=(ConnectorTasks("orders", given),))
    return Member(
        member_id=name,
        connect=ConnectWorker(version=0, url=f"http://{name}", config_offset=config_offset, assignment=told),
    )


def test_work_of_connect_that_moves_is_a_rebalance_and_what_a_lost_worker_had_is_known():
    """Workers have no partitions: only their assignments differ."""
    connect = {"protocol_type": "connect", "protocol": "default"}
    first = folded(classic(10, worker("a", (0,)), worker("b", (1,)), **connect))
    same = folded(classic(20, worker("a", (0,)), worker("b", (1,)), **connect), state=first)
    moved = folded(classic(30, worker("a", (1,)), worker("b", (0,)), **connect), state=same)
    assert [state.rebalances - first.rebalances for state in (first, same, moved)] == [0, 0, 1]
    lost = folded(classic(40, worker("a", (1,)), **connect), state=moved)
    assert lost.connect.lost == (LostWork("http://b", 40, (ConnectorTasks("orders", (0,)),)),)


def test_the_log_is_preferred_where_both_tell_of_a_group():
    by_log = folded(OffsetCommitted(group="g", topic="t", partition=0, offset=5, committed_ms=900))
    assert folded(classic(1000, A, B, offsets=(ObservedOffset("t", 0, 7),)), state=by_log) == by_log
    by_admin = folded(classic(1000, A, B, offsets=(ObservedOffset("t", 0, 7),)))
    stored = MembershipStored(
        group="g", generation=9, protocol_type="consumer", protocol="range", leader="a", stored_ms=2000, members=(A,)
    )
    taken_over = folded(stored, state=by_admin)
    assert (taken_over.source, taken_over.generation, taken_over.offsets) == (Source.LOG, 9, ())
    listing = GroupsListed(cluster="c", source=Source.ADMIN, pass_ms=9000, completed_ms=9001)
    assert not is_deleted(taken_over, listing, frozenset()), "what a collector lists is about what it reads"
    assert is_deleted(by_admin, listing, frozenset())


def test_what_another_collector_tells_of_a_group_is_no_log():
    by_admin = folded(classic(1000, A, B, offsets=(ObservedOffset("t", 0, 7),)))
    sample = RebalanceSampled(cluster="c", group="g", state="PreparingRebalance", since_ms=5000, sampled_ms=5000)
    sampled = folded(sample, state=by_admin)
    assert (sampled.source, sampled.members, sampled.sampled.first_ms) == (Source.ADMIN, (A, B), 5000)
    listed = OffsetsListed(
        cluster="c", group="g", asked_ms=6000, offsets=(ListedOffset(topic="t", partition=0, offset=3),)
    )
    assert folded(listed, state=by_admin) == by_admin


NUMBERS = st.lists(st.integers(0, 3), unique=True, max_size=3).map(lambda some: tuple(sorted(some)))
OFFSETS = st.dictionaries(st.integers(0, 2), st.integers(0, 50), max_size=3)


@st.composite
def readings(draw: st.DrawFn) -> list[GroupObserved]:
    """Any groups one after the other, as unlike as no group of one name would be; no member is ahead of the targets."""
    found: list[GroupObserved] = []
    for number in range(draw(st.integers(1, 8))):
        names = draw(st.lists(st.sampled_from("abc"), unique=True, max_size=3).map(sorted))
        offsets = tuple(ObservedOffset("t", each, at) for each, at in sorted(draw(OFFSETS).items()))
        at_ms = 1000 * (number + 1)
        if draw(st.booleans()):
            owned = {name: draw(NUMBERS) for name in names}
            members = [
                Member(member_id=name, topics=("t",), assigned=(TopicPartitions("t", owned[name]),)) for name in names
            ]
            state = draw(st.sampled_from(["Stable", "PreparingRebalance"])) if names else "Empty"
            found.append(classic(at_ms, *members, state=state, offsets=offsets))
        else:
            epoch, behind = draw(st.integers(1, 5)), draw(st.booleans())
            members = [
                standing(name, draw(st.integers(0, epoch - behind)), draw(NUMBERS), draw(NUMBERS), MemberState.STABLE)
                for name in names
            ]
            state = "Empty" if not names else "Assigning" if behind else "Reconciling"
            found.append(modern(at_ms, epoch, epoch - behind, state, *members, offsets=offsets))
    return found


@given(readings())
def test_the_newest_reading_is_what_is_known_and_pieces_come_to_the_same_as_the_whole(events):
    state = None
    for event in events:
        state = folded(event, state=state)
    assert state == folded(*events)
    newest = events[-1]
    if state is None:
        assert newest.state == "PreparingRebalance", "a group that nobody has seen otherwise, without offsets"
        return
    assert {each.partition: each.offset for each in state.offsets} == {
        each.partition: each.offset for each in newest.offsets
    }
    if newest.state == "PreparingRebalance":
        return
    assert state.kind is newest.kind
    assert [bare_of(member) for member in state.members] == [bare_of(member) for member in newest.members]
    if newest.kind is GroupKind.CONSUMER:
        assert state.phase is {"Empty": Phase.EMPTY, "Assigning": Phase.ASSIGNING}.get(newest.state, Phase.RECONCILING)
        assert (state.generation, state.target_epoch) == (newest.generation, newest.target_epoch)


def bare_of(member: Member) -> Member:
    """A member without the time since when it stands so, which no reading tells."""
    known = member.reconciliation
    return (
        member
        if known is None
        else replace(member, reconciliation=replace(known, since_ms=0, target=known.target or ()))
    )

"""A group in sentences: what it is, who owns what and how that came, and what is wrong, each with its evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.ownership.streams_groups import is_streams
from monitor.explain.self_assigned import sharing_told
from monitor.explain.statements import About, Explanation, Judged, Statement, findings_told, judged, metadata_told
from monitor.messages.findings import CAUSES
from monitor.messages.formatting import age, lasted
from monitor.messages.names import counted, era, ranges, shown
from monitor.messages.units import unit_of
from monitor.model import (
    KINDS,
    GroupState,
    MemberVerdict,
    PartitionId,
    Phase,
    Rebalance,
    RebalanceCause,
    Source,
    TopicPartition,
)


def cost_of(rebalance: Rebalance) -> str:
    """What one rebalance cost, as far as the log tells.

    >>> cost_of(Rebalance(5, 0, 9, moved=3, avoidable=1, paused_partitions=4, pause_ms=12_000, burst_records=70))
    'It moved 3 partitions, 1 of which need not have moved; 4 partitions were paused for 12 s in all, and 70 records \
had gathered by then.'
    >>> cost_of(Rebalance(5, 0, 9))
    'It moved no partition, and no pause was seen.'
    """
    moved = f"It moved {counted(rebalance.moved, 'partition') if rebalance.moved else 'no partition'}"
    if rebalance.avoidable:
        moved += f", {rebalance.avoidable} of which need not have moved"
    if not rebalance.paused_partitions:
        return f"{moved}{', and' if not rebalance.avoidable else ';'} no pause was seen."
    were = "was" if rebalance.paused_partitions == 1 else "were"
    paused = (
        f"{counted(rebalance.paused_partitions, 'partition')} {were} paused for {lasted(rebalance.pause_ms)} in all"
    )
    return f"{moved}; {paused}, and {counted(rebalance.burst_records, 'record')} had gathered by then."


def costs_so_far(group: GroupState) -> Iterator[str]:
    """What all rebalances cost since the group was first seen."""
    took, paused = lasted(group.rebalance_ms), lasted(group.pause_ms)
    yield f"{counted(group.rebalances, 'rebalance')} since the group was first seen, {took} in all"
    yield f"{counted(group.moved_partitions, 'partition')} moved, {group.avoidable_moves} of them for nothing"
    yield f"{paused} of pauses, summed over partitions, and {counted(group.burst_records, 'record')} after"
    yield f"{counted(group.redelivered_records, 'record')} delivered again, as commits went back"


MOST_MEMBERS: Final = 50
"""So many members are told of one by one."""


def explain_group(inputs: GroupInputs) -> Explanation:
    """What the group is, who owns what and how that came, and everything that is wrong with what to do about it."""
    known = judged(inputs)
    return Explanation(
        cluster=inputs.group.cluster,
        group=inputs.group.group,
        evaluated_ms=inputs.now_ms,
        statements=(
            _state(known),
            *_assignor(known),
            *_members(known),
            *_rebalances(known),
            _lag(known),
            *findings_told(known.verdict.findings, "Nothing is found wrong with the group."),
        ),
    )


def _state(known: Judged) -> Statement:
    group, since_ms = known.group, _phase_since_ms(known.group)
    told = (
        f"{shown(group.group)} of cluster {shown(group.cluster)} is a group of kind {group.kind.value}, {_phase(group)}"
    )
    if since_ms is not None:
        told += f", for {known.age_of(since_ms)}"
    if group.generation_ms:
        verb = "was first read" if KINDS[group.kind].is_self_assigned else "was stored"
        told += f"; {era(group)} {verb} {known.age_of(group.generation_ms)} ago"
    if group.source is not Source.LOG:
        told += f"; it is known from {_SOURCES[group.source]}"
    return Statement(about=About.GROUP, sentence=f"{told}.", since_ms=since_ms)


def _phase_since_ms(group: GroupState) -> int | None:
    """When the phase began (ms since the epoch); of a stable group, when its newest generation was stored, if later.

    A log tells only of rebalances that are over: to a reader of it a group goes from stable to stable, and its phase is
    as old as the first of them. It has been stable since the last.
    """
    if not group.phase_ms:
        return None
    return max(group.phase_ms, group.generation_ms) if group.phase is Phase.STABLE else group.phase_ms


_SOURCES: Final = {
    Source.ADMIN: "the brokers' answers, as their log of groups is not read",
    Source.SYSTEM: "what a collector reads of its system",
    Source.CHECKPOINT: "the query's checkpoint",
}


def _phase(group: GroupState) -> str:
    return "known by its offsets only" if group.phase is Phase.OFFSETS_ONLY else group.phase.value


def _assignor(known: Judged) -> Iterator[Statement]:
    sentence = _assignor_sentence(known)
    if sentence is None:
        return
    yield Statement(about=About.ASSIGNOR, sentence=sentence, evidence=tuple(metadata_told(known)))


def _assignor_sentence(known: Judged) -> str | None:
    if KINDS[known.group.kind].is_self_assigned:
        return sharing_told(known)
    name = shown(known.group.protocol or "none")
    match known.standing.expectation.kind:
        case "exact":
            return f"Its assignor is {name} (the log says so), which is replayed here exactly."
        case "target":
            if any(member.server_assignor is not None for member in known.group.members):
                return f"The broker assigns, with {name}: most members that ask for an assignor ask for it."
            return (
                f"The broker assigns; no member asks for an assignor, so it is the broker's first, {name} by default."
            )
        case "invariants":
            by_tasks = is_streams(known.group)
            why = "assigns tasks and balances them over processes" if by_tasks else "cannot be replayed here"
            what = "owners and orphans" if by_tasks else "owners, orphans and balance"
            return f"Its assignor {name} {why}, so only {what} are judged."
        case _:
            return None if not known.group.members else "Who should own what cannot be judged for this group."


def _members(known: Judged) -> Iterator[Statement]:
    members = known.verdict.members
    if not members:
        yield Statement(about=About.MEMBERS, sentence="It has no members.")
        return
    owned = known.standing.ownership.owners
    held: dict[str, list[TopicPartition]] = defaultdict(list)
    for place, owners in owned.items():
        for member_id in owners:
            held[member_id].append(place)
    lines = [f"{_member_line(m, held[m.member_id])}{_oddities(m)}" for m in members[:MOST_MEMBERS]]
    if len(members) > MOST_MEMBERS:
        lines.append(f"and {counted(len(members) - MOST_MEMBERS, 'more member')}")
    verb = "owns" if len(members) == 1 else "own"
    yield Statement(
        about=About.MEMBERS,
        sentence=f"{counted(len(members), 'member')} {verb} {counted(len(owned), 'partition')}.",
        evidence=tuple(lines),
    )


def _member_line(member: MemberVerdict, held: Sequence[TopicPartition]) -> str:
    by_topic: dict[str, list[PartitionId]] = defaultdict(list)
    for place in sorted(held):
        by_topic[place.topic].append(place.partition)
    told = [f"{shown(topic)} {ranges(numbers)}" for topic, numbers in list(by_topic.items())[:MOST_MEMBERS]]
    names = [("instance", member.instance_id), ("client", member.client_id or None), ("host", member.host or None)]
    who = ", ".join(f"{word} {shown(name)}" for word, name in names if name is not None)
    line = f"{shown(member.member_id)}{f' ({who})' if who else ''}: {'; '.join(told) or 'nothing'}"
    if member.expected_partitions is not None and member.expected_partitions != member.partitions:
        line += f"; it is to have {counted(member.expected_partitions, 'partition')}"
    return line


def _oddities(member: MemberVerdict) -> str:
    told = "" if member.answers else "; it does not answer, so this is what it is presumed to have"
    if member.unreadable is not None:
        told = f"; not all of what it sent can be decoded ({shown(member.unreadable)})"
    return f"{told}; {member.connections} connections have its id" if member.connections > 1 else told


def _rebalances(known: Judged) -> Iterator[Statement]:
    if known.group.under_way is not None:
        since = known.group.under_way.started_ms
        sentence = f"A rebalance is under way for {known.age_of(since)}, {_because(known.group.under_way)}."
        yield Statement(about=About.REBALANCE, sentence=sentence, since_ms=since)
    if not known.group.history:
        yield Statement(about=About.REBALANCE, sentence="No rebalance has been seen from its beginning to its end.")
        return
    last = known.group.history[-1]
    if KINDS[known.group.kind].is_self_assigned:
        yield from _changes_seen(known, last)
        return
    word = KINDS[known.group.kind].era
    took = f" and took {_took(last.ended_ms - last.started_ms)}" if last.ended_ms is not None else ""
    ago = known.age_of(last.ended_ms or last.started_ms)
    yield Statement(
        about=About.REBALANCE,
        sentence=f"The last rebalance led to {word} {last.generation} {ago} ago{took}, {_because(last)}.",
        since_ms=last.ended_ms or last.started_ms,
        evidence=tuple(_earlier(known, word)),
    )
    yield Statement(about=About.REBALANCE, sentence=cost_of(last), evidence=tuple(costs_so_far(known.group)))


def _changes_seen(known: Judged, last: Rebalance) -> Iterator[Statement]:
    """Rebalances as readings show them: that something was other than before, not how long it took."""
    ago = known.age_of(last.ended_ms or last.started_ms)
    moved = f"{counted(last.moved, 'partition') if last.moved else 'no partition'} had moved"
    why = "" if last.causes in ((), (RebalanceCause.UNKNOWN,)) else f", {_because(last)}"
    yield Statement(
        about=About.REBALANCE,
        sentence=f"Its assignment was last seen to change {ago} ago{why}; {moved}.",
        since_ms=last.ended_ms or last.started_ms,
        evidence=tuple(_earlier(known, "change")),
    )


def _took(duration_ms: int) -> str:
    return lasted(max(1, duration_ms))  # a rebalance takes time, also where the log's clock shows none


def _because(rebalance: Rebalance) -> str:
    causes = rebalance.causes or (RebalanceCause.UNKNOWN,)
    counts = f" ({rebalance.joined} joined, {rebalance.left} left)" if rebalance.joined or rebalance.left else ""
    told = " and ".join(CAUSES[cause] for cause in causes)
    return f"{told}{counts}" if causes == (RebalanceCause.UNKNOWN,) else f"because {told}{counts}"


def _earlier(known: Judged, word: str) -> Iterator[str]:
    earlier = known.group.history[:-1]
    for rebalance in reversed(earlier):
        ago = known.age_of(rebalance.ended_ms or rebalance.started_ms)
        yield f"{word} {rebalance.generation}, {ago} ago: {_because(rebalance)}"


def _lag(known: Judged) -> Statement:
    waiting = [row for row in known.verdict.partitions if row.lag]
    unknown = sum(row.committed is not None and row.lag is None for row in known.verdict.partitions)
    uncommitted = sum(row.committed is None for row in known.verdict.partitions)
    if known.verdict.lag is None:
        return Statement(about=About.LAG, sentence="Its lag is not known: it has no committed offset that counts.")
    if not waiting:
        sentence = "Nothing waits for it" if unit_of(known.group.kind) == "byte" else "No record waits for it"
    else:
        lag, where = counted(known.verdict.lag, unit_of(known.group.kind)), counted(len(waiting), "partition")
        sentence = f"{lag} {'waits' if known.verdict.lag == 1 else 'wait'} for it in {where}"
        if known.verdict.lag_ms:
            sentence += f", the oldest for {age(known.verdict.lag_ms)}"
    if unknown:
        sentence += f"; of {counted(unknown, 'partition')} it is not known"
    if uncommitted:
        sentence += f"; in {counted(uncommitted, 'partition')} it has committed no offset"
    return Statement(about=About.LAG, sentence=f"{sentence}.")

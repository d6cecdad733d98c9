"""A group in sentences: its state, findings, owners, last rebalances and lag, each with its evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from monitor.assignors.dialects import DialectRow, Exactness
from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.group_summary import summary_of
from monitor.detection.ownership.context import Judgement
from monitor.explain.client_libraries import client_statements, count_java_moves
from monitor.explain.connect import connect_statements, sink_statements
from monitor.explain.dialects import dialect_rule
from monitor.explain.expired_offsets import expired_statements, invalid_statements
from monitor.explain.self_assigned import sharing_told
from monitor.explain.skips import skip_statements
from monitor.explain.statements import (
    About,
    Explanation,
    Judged,
    Statement,
    cluster_statements,
    ended_statements,
    findings_told,
    judged,
    metadata_told,
    subordinate_statements,
)
from monitor.explain.tasks import task_assignor_sentence, tasks_told, unchecked_reasons
from monitor.explain.unjudged import explain_unjudged
from monitor.messages.client_libraries import REMARKS, library_name, project_name
from monitor.messages.formatting import NO_OWN_LAG, age, counted, grouped, lasted
from monitor.messages.names import era, people, ranges, shown, shown_group
from monitor.messages.rebalances import cause_words, delay_sentence, moved_words, took_ms
from monitor.messages.units import unit_of
from monitor.messages.unknown_versions import group_sentence
from monitor.model import (
    KINDS,
    Catalog,
    Certainty,
    ClientLibrary,
    GroupState,
    GroupVerdict,
    MemberVerdict,
    PartitionId,
    Phase,
    Rebalance,
    RebalanceCause,
    Source,
    TopicPartition,
    traits_of,
)
from monitor.tracking.rebalances.history import stopped_members


def costs_so_far(group: GroupState) -> Iterator[str]:
    """What all rebalances cost since the group was first seen; what did not happen has no line."""
    took, paused = lasted(group.rebalance_ms), lasted(group.pause_ms)
    yield f"{counted(group.rebalances, 'rebalance')} since the group was first seen, {took} in total"
    if group.moved_partitions:
        avoidable = f", {grouped(group.avoidable_moves)} of them avoidable" if group.avoidable_moves else ""
        yield f"{counted(group.moved_partitions, 'partition')} moved{avoidable}"
    if group.pause_ms or group.burst_records:
        burst = counted(group.burst_records, "record")
        yield f"{paused} of pauses, summed over partitions; {burst} accumulated meanwhile"
    if group.redelivered_records:
        yield f"{counted(group.redelivered_records, 'record')} redelivered because committed offsets moved back"


MOST_MEMBERS: Final = 50
"""More members than that are only counted."""


def explain_group(inputs: GroupInputs) -> Explanation:
    """The group's state, every finding with its advice, and then its owners, last rebalances and lag."""
    if inputs.unjudged is not None:
        return explain_unjudged(inputs, inputs.unjudged)
    known = judged(inputs)
    return Explanation(
        cluster=inputs.group.cluster,
        group=inputs.group.group,
        evaluated_ms=inputs.now_ms,
        statements=(
            _state(known),
            *_unknown(known),
            *_findings(known, inputs.catalog),
            *ended_statements(inputs.ended, inputs.now_ms),
            *subordinate_statements(known.verdict.subordinate),
            *_assignment(known),
            *client_statements(known),
            *_rebalances(known),
            _lag(known),
            *expired_statements(known),
            *invalid_statements(known),
            *skip_statements(known),
        ),
    )


def _unknown(known: Judged) -> Iterator[Statement]:
    """What the brokers write of the group in versions that are not known."""
    versions = known.verdict.unknown_versions
    if versions:
        since_ms = min(each.since_ms for each in versions)
        yield Statement(about=About.GROUP, sentence=group_sentence(versions), since_ms=since_ms)


def _findings(known: Judged, catalog: Catalog) -> Iterator[Statement]:
    """What is wrong with the group, after what is wrong with the cluster and concerns it."""
    above = tuple(cluster_statements(catalog, summary_of(known.verdict), known.verdict.evaluated_ms))
    yield from above
    none = "The group has no findings of its own." if above else "The group has no findings."
    yield from findings_told(known.verdict, known.verdict.findings, none)


def _assignment(known: Judged) -> Iterator[Statement]:
    """Who assigns, and who has what: partitions, or the work of Connect."""
    if known.verdict.connect is not None:
        yield from connect_statements(known, known.verdict.connect)
        return
    yield from _assignor(known)
    yield from _members(known)
    yield from tasks_told(known)
    yield from sink_statements(known)


def _state(known: Judged) -> Statement:
    group, kind, since_ms = known.group, known.verdict.kind, _phase_since_ms(known.group)
    text = f"{shown_group(group.group)} of cluster {shown(group.cluster)} is a {kind} group, {_phase(group)}"
    if since_ms is not None:
        text += f" for {known.age_of(since_ms)}"
    if group.generation_ms:
        verb = "was first read" if KINDS[group.kind].is_self_assigned else "was stored"
        text += f"; {era(group)} {verb} {known.age_of(group.generation_ms)} ago"
    if group.source is not Source.LOG:
        text += f"; it is known from {_SOURCES[group.source]}"
    return Statement(about=About.GROUP, sentence=f"{text}.", since_ms=since_ms)


def _phase_since_ms(group: GroupState) -> int | None:
    """When the phase began (ms since the epoch); of a stable group, when its newest generation was stored, if later.

    A log tells only of rebalances that are over: to a reader of it a group goes from stable to stable, and its phase is
    as old as the first of them. It has been stable since the last.
    """
    if not group.phase_ms:
        return None
    return max(group.phase_ms, group.generation_ms) if group.phase is Phase.STABLE else group.phase_ms


_SOURCES: Final = {
    Source.ADMIN: "the brokers' responses, because their offsets topic is not read",
    Source.SYSTEM: "a collector that polls its system",
    Source.CHECKPOINT: "the query's checkpoint",
}


def _phase(group: GroupState) -> str:
    return "known only by its offsets" if group.phase is Phase.OFFSETS_ONLY else group.phase.value


def _assignor(known: Judged) -> Iterator[Statement]:
    dialect = known.view.expectation.dialect
    sentence = _assignor_sentence(known) if dialect is None else _dialect_sentence(dialect, known.view.expectation.kind)
    if sentence is None:
        return
    evidence = (*_dialect_evidence(known), *unchecked_reasons(known), *metadata_told(known))
    yield Statement(about=About.ASSIGNOR, sentence=sentence, evidence=evidence)


def _dialect_evidence(known: Judged) -> Iterator[str]:
    """What the assignor of another client library does, and how far Kafka's own would differ."""
    dialect = known.view.expectation.dialect
    if dialect is None:
        return
    yield dialect_rule(dialect)
    moved = count_java_moves(known)
    if moved:
        partitions = counted(moved, "partition")
        yield f"The {dialect.protocol} of Kafka's Java client would give {partitions} to another member."


def _assignor_sentence(known: Judged) -> str | None:
    if KINDS[known.group.kind].is_self_assigned:
        return sharing_told(known)
    name, traits = shown(known.group.protocol or "none"), traits_of(known.group)
    if traits.acknowledges_records:
        return None if not known.group.members else "Its members consume partitions together, so none has one owner."
    match known.view.expectation.kind:
        case "exact":
            return f"Its assignor is {name} (from the log); groupwatch replays it exactly."
        case "target":
            return (
                task_assignor_sentence(known)
                if traits.broker_assigns_tasks
                else _coordinators_assignor(known.group, name)
            )
        case "invariants":
            if traits.leader_assigns_tasks:
                head, scope = (
                    "assigns tasks and balances them over processes",
                    "owners, orphaned partitions, and the balance of processes",
                )
            else:
                head, scope = "cannot be replayed", "owners, orphaned partitions, and balance"
            return f"Its assignor {name} {head}, so groupwatch evaluates only {scope}."
        case _:
            return None if not known.group.members else "The expected owners of this group cannot be determined."


def _coordinators_assignor(group: GroupState, name: str) -> str:
    if any(member.server_assignor is not None for member in group.members):
        return f"The coordinator assigns with {name}: most members that request an assignor request it."
    return f"The coordinator assigns. No member requests an assignor, so it uses the broker's first, {name} by default."


def _dialect_sentence(dialect: DialectRow, judged: Judgement) -> str:
    library = project_name(dialect.library)
    head = f"Its assignor is {dialect.protocol} (from the log), as {library} implements it"
    if dialect.exactness is Exactness.CHECKED:
        return (
            f"{head}. Its result depends on what only the leader knows, so groupwatch checks that {library} "
            f"{dialect.version} can have computed it."
        )
    if judged == "checked":
        return (
            f"{head}. {library} takes partitions in the order in which a broker lists them, which the log does not "
            "have. So groupwatch checks only how many partitions of each topic a member has."
        )
    return f"{head}; groupwatch replays the rule of {library} {dialect.version}."


def _members(known: Judged) -> Iterator[Statement]:
    members = known.verdict.members
    if known.group.unread is not None:
        return
    if not members:
        yield Statement(about=About.MEMBERS, sentence="The group has no members.")
        return
    owned = known.view.ownership.owners
    held: dict[str, list[TopicPartition]] = defaultdict(list)
    for place, owners in owned.items():
        for member_id in owners:
            held[member_id].append(place)
    lines = [f"{_member_line(m, held[m.member_id])}{_oddities(m)}" for m in members[:MOST_MEMBERS]]
    if len(members) > MOST_MEMBERS:
        lines.append(f"and {counted(len(members) - MOST_MEMBERS, 'more member')}")
    verb = "consume" if traits_of(known.group).acknowledges_records else "own"
    verb = f"{verb}s" if len(members) == 1 else verb
    yield Statement(
        about=About.MEMBERS,
        sentence=f"{counted(len(members), 'member')} {verb} {counted(len(owned), 'partition')}.{_leader(known)}",
        evidence=tuple(lines),
    )


def _leader(known: Judged) -> str:
    """Who assigns in a classic group, as a sentence; "" if it is not known, or if no member does."""
    leaders = [member.member_id for member in known.verdict.members if member.leads]
    return f" The group leader is {people(leaders, known.group)}." if leaders else ""


def _member_line(member: MemberVerdict, held: Sequence[TopicPartition]) -> str:
    by_topic: dict[str, list[PartitionId]] = defaultdict(list)
    for place in sorted(held):
        by_topic[place.topic].append(place.partition)
    owned = [f"{shown(topic)} {ranges(numbers)}" for topic, numbers in list(by_topic.items())[:MOST_MEMBERS]]
    names = [("instance", member.instance_id), ("client", member.client_id or None), ("host", member.host or None)]
    known = [f"{word} {shown(name)}" for word, name in names if name is not None]
    who = ", ".join([*known, *_library(member.library)])
    line = f"{shown(member.member_id)}{f' ({who})' if who else ''}: {'; '.join(owned) or 'no partitions'}"
    if member.expected_partitions is not None and member.expected_partitions != member.partitions:
        line += f"; expected: {counted(member.expected_partitions, 'partition')}"
    return line


def _library(library: ClientLibrary) -> Iterator[str]:
    """The client library in words; nothing if it is unknown."""
    if library.certainty is not Certainty.UNKNOWN:
        yield f"{'probably ' if library.certainty is Certainty.LIKELY else ''}{library_name(library)}"


def _oddities(member: MemberVerdict) -> str:
    text = "" if member.answers else "; it does not respond, so these partitions are presumed"
    if member.unreadable is not None:
        text = f"; groupwatch cannot decode all of its data ({shown(member.unreadable)})"
    text += "".join(f"; {REMARKS[remark]}" for remark in member.remarks)
    return f"{text}; {member.connections} connections share its id" if member.connections > 1 else text


def _rebalances(known: Judged) -> Iterator[Statement]:
    if known.group.under_way is not None:
        since = known.group.under_way.started_ms
        sentence = f"A rebalance has been in progress for {known.age_of(since)}: {_why(known.group.under_way)}."
        yield Statement(about=About.REBALANCE, sentence=sentence, since_ms=since)
    if not known.group.history:
        yield Statement(about=About.REBALANCE, sentence="groupwatch has not observed a complete rebalance.")
        return
    if KINDS[known.group.kind].is_self_assigned:
        yield from _changes_seen(known, known.group.history[-1])
        return
    rebalances = [each for each in known.group.history if stopped_members(each)]
    restarts = tuple(takewhile(lambda each: not stopped_members(each), reversed(known.group.history)))
    if restarts:
        yield _static_restarts(known, restarts)
    if rebalances:
        yield from _last_of(known, rebalances)


def _last_of(known: Judged, rebalances: Sequence[Rebalance]) -> Iterator[Statement]:
    *earlier, last = rebalances
    word = KINDS[known.group.kind].era
    duration_ms = took_ms(last, known.group.kind)
    took = "" if duration_ms is None else f" and took {lasted(duration_ms)}"
    ago = known.age_of(last.ended_ms or last.started_ms)
    yield Statement(
        about=About.REBALANCE,
        sentence=f"The last rebalance led to {word} {last.generation} {ago} ago{took}: {_why(last)}.",
        since_ms=last.ended_ms or last.started_ms,
        evidence=tuple(_earlier(known, word, earlier)),
    )
    yield Statement(about=About.REBALANCE, sentence=_cost(known, last), evidence=tuple(costs_so_far(known.group)))


def _static_restarts(known: Judged, restarts: Sequence[Rebalance]) -> Statement:
    """Static members that took their places again, newest first: no rebalance, as nobody had to stop (KIP-345)."""
    last_ms = restarts[0].ended_ms or restarts[0].started_ms
    often = "once" if len(restarts) == 1 else f"{grouped(len(restarts))} times"
    sentence = f"Static members restarted {often} without a rebalance, the last time {known.age_of(last_ms)} ago."
    return Statement(about=About.REBALANCE, sentence=sentence, since_ms=last_ms)


def _changes_seen(known: Judged, last: Rebalance) -> Iterator[Statement]:
    """Rebalances as polls show them: a poll shows that something changed, not how long it took."""
    ago = known.age_of(last.ended_ms or last.started_ms)
    why = "" if last.causes in ((), (RebalanceCause.UNKNOWN,)) else f": {_why(last)}"
    yield Statement(
        about=About.REBALANCE,
        sentence=f"groupwatch last detected a change of its assignment {ago} ago{why}. {_cost(known, last)}",
        since_ms=last.ended_ms or last.started_ms,
        evidence=tuple(_earlier(known, "change", known.group.history[:-1])),
    )


def _why(rebalance: Rebalance) -> str:
    return cause_words(rebalance.causes, rebalance.joined, rebalance.left)


def _cost(known: Judged, last: Rebalance) -> str:
    delay = delay_sentence(last.paused_partitions, last.pause_ms, last.burst_records, unit_of(known.group.kind))
    return f"It {moved_words(last.moved, last.avoidable)}. {delay}".rstrip()


def _earlier(known: Judged, word: str, earlier: Sequence[Rebalance]) -> Iterator[str]:
    for rebalance in reversed(earlier):
        ago = known.age_of(rebalance.ended_ms or rebalance.started_ms)
        yield f"{word} {rebalance.generation}, {ago} ago: {_why(rebalance)}"


def _lag(known: Judged) -> Statement:
    if known.verdict.is_connect:
        return Statement(about=About.LAG, sentence=NO_OWN_LAG)
    waiting = [row for row in known.verdict.partitions if row.lag]
    unknown = sum(row.committed is not None and row.lag is None for row in known.verdict.partitions)
    uncommitted = sum(row.committed is None for row in known.verdict.partitions)
    if known.group.unread_commits:
        return Statement(
            about=About.LAG, sentence="Its lag is unknown because some of its committed offsets are unknown."
        )
    if known.verdict.uncommitted_partitions:
        return Statement(about=About.LAG, sentence=_lag_at_least(known.verdict))
    if known.verdict.lag is None and unknown:
        which = "its" if unknown + uncommitted == len(known.verdict.partitions) else "some of its"
        sentence = f"Its lag is unknown: {which} committed offsets do not match the known ends of the partitions."
        return Statement(about=About.LAG, sentence=sentence)
    if known.verdict.lag is None:
        return Statement(about=About.LAG, sentence="Its lag is unknown: it has no committed offset that counts.")
    if not waiting:
        sentence = "It has no lag"
    else:
        lag, where = counted(known.verdict.lag, unit_of(known.group.kind)), counted(len(waiting), "partition")
        sentence = f"Its lag is {lag} in {where}"
        if known.verdict.lag_ms:
            sentence += f", the oldest {age(known.verdict.lag_ms)} old"
    if unknown:
        sentence += f"; the lag of {counted(unknown, 'partition')} is unknown"
    if uncommitted:
        have = "has" if uncommitted == 1 else "have"
        sentence += f"; {counted(uncommitted, 'partition')} {have} no committed offset"
    return Statement(about=About.LAG, sentence=f"{sentence}.")


def _lag_at_least(verdict: GroupVerdict) -> str:
    """What is known of a lag that uncommitted partitions hide."""
    unit, partitions = unit_of(verdict.kind), counted(verdict.uncommitted_partitions, "partition")
    have, them = ("has", "it") if verdict.uncommitted_partitions == 1 else ("have", "them")
    head = f"Its lag is unknown: {partitions} with content {have} no committed offset"
    if verdict.lag_at_least is None:
        return f"{head}, and a commit is beyond the end of its partition."
    return (
        f"{head}. It is at least {counted(verdict.lag_at_least, unit)}, and at most "
        f"{counted(verdict.uncommitted_records, unit)} more, all that the log has of {them}."
    )

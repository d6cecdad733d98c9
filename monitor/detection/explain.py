"""A verdict in sentences: what a group or a partition is like, why, and what is wrong, each with its evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final

from monitor.detection.advice import advice
from monitor.detection.durations import age
from monitor.detection.evaluate import judge
from monitor.detection.inputs import GroupInputs, QuestionError
from monitor.detection.owner_reasons import why
from monitor.detection.sentences import counted, era, listed, owner, ranges, shown
from monitor.detection.standing import Standing, stand
from monitor.detection.topics import Topics
from monitor.model import (
    Finding,
    GroupKind,
    GroupState,
    GroupVerdict,
    MemberVerdict,
    PartitionVerdict,
    Phase,
    Rebalance,
    RebalanceCause,
    TopicPartition,
    Value,
)

MOST_MEMBERS: Final = 50
"""So many members are told of one by one."""


class About(StrEnum):
    """What a statement is about."""

    GROUP = "group"
    ASSIGNOR = "assignor"
    MEMBERS = "members"
    REBALANCE = "rebalance"
    LAG = "lag"
    PARTITION = "partition"
    OWNER = "owner"
    RULE = "rule"
    EXPECTED = "expected"
    OFFSETS = "offsets"
    FINDING = "finding"


class Statement(Value):
    """A sentence, since when it is so (None: that is not known or no question), and what it rests on."""

    about: About
    sentence: str
    since_ms: int | None = None
    evidence: tuple[str, ...] = ()


class Explanation(Value):
    """What can be said of a group, or of one of its partitions, at an instant; ``statements`` are in reading order."""

    cluster: str
    group: str
    evaluated_ms: int
    statements: tuple[Statement, ...]
    topic: str | None = None
    partition: int | None = None


class _Judged(Value):
    verdict: GroupVerdict
    standing: Standing
    group: GroupState
    """With the names of its topics and its offsets."""

    def age_of(self, instant_ms: int) -> str:
        return age(self.verdict.evaluated_ms - instant_ms)


def _judged(inputs: GroupInputs) -> _Judged:
    topics, standing = Topics(inputs.catalog), stand(inputs.group, inputs.catalog)
    verdict = judge(inputs.group, topics, standing, inputs.now_ms, inputs.settings)
    return _Judged(verdict=verdict, standing=standing, group=standing.named(inputs.group))


# --- a group ----------------------------------------------------------------------------------------------------------


def explain_group(inputs: GroupInputs) -> Explanation:
    """What the group is, who owns what and how that came, and everything that is wrong with what to do about it."""
    known = _judged(inputs)
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
            *_findings(known.verdict.findings, "Nothing is found wrong with the group."),
        ),
    )


def _state(known: _Judged) -> Statement:
    group = known.group
    told = (
        f"{shown(group.group)} of cluster {shown(group.cluster)} is a group of kind {group.kind.value}, {_phase(group)}"
    )
    if group.phase_ms:
        told += f", for {known.age_of(group.phase_ms)}"
    if group.generation_ms:
        told += f"; {era(group)} was stored {known.age_of(group.generation_ms)} ago"
    return Statement(about=About.GROUP, sentence=f"{told}.", since_ms=group.phase_ms or None)


def _phase(group: GroupState) -> str:
    return "known by its offsets only" if group.phase is Phase.OFFSETS_ONLY else group.phase.value


def _assignor(known: _Judged) -> Iterator[Statement]:
    sentence = _assignor_sentence(known)
    if sentence is None:
        return
    yield Statement(about=About.ASSIGNOR, sentence=sentence, evidence=tuple(_metadata(known)))


def _assignor_sentence(known: _Judged) -> str | None:
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
            return f"Its assignor {name} cannot be replayed here, so only owners, orphans and balance are judged."
        case _:
            return None if not known.group.members else "Who should own what cannot be judged for this group."


def _metadata(known: _Judged) -> Iterator[str]:
    for change in known.standing.expectation.changes:
        yield (
            f"{shown(change.topic)} had {counted(change.before, 'partition')} for {era(known.group)} and has "
            f"{change.after} now."
        )


def _members(known: _Judged) -> Iterator[Statement]:
    members = known.verdict.members
    if not members:
        yield Statement(about=About.MEMBERS, sentence="It has no members.")
        return
    owned = known.standing.ownership.owners
    held: dict[str, list[TopicPartition]] = defaultdict(list)
    for place, owners in owned.items():
        for member_id in owners:
            held[member_id].append(place)
    lines = [_member_line(member, held[member.member_id]) for member in members[:MOST_MEMBERS]]
    if len(members) > MOST_MEMBERS:
        lines.append(f"and {counted(len(members) - MOST_MEMBERS, 'more member')}")
    verb = "owns" if len(members) == 1 else "own"
    yield Statement(
        about=About.MEMBERS,
        sentence=f"{counted(len(members), 'member')} {verb} {counted(len(owned), 'partition')}.",
        evidence=tuple(lines),
    )


def _member_line(member: MemberVerdict, held: Sequence[TopicPartition]) -> str:
    by_topic: dict[str, list[int]] = defaultdict(list)
    for place in sorted(held):
        by_topic[place.topic].append(place.partition)
    told = [f"{shown(topic)} {ranges(numbers)}" for topic, numbers in list(by_topic.items())[:MOST_MEMBERS]]
    names = [("instance", member.instance_id), ("client", member.client_id or None), ("host", member.host or None)]
    who = ", ".join(f"{word} {shown(name)}" for word, name in names if name is not None)
    line = f"{shown(member.member_id)}{f' ({who})' if who else ''}: {'; '.join(told) or 'nothing'}"
    if member.expected_partitions is not None and member.expected_partitions != member.partitions:
        line += f"; it is to have {counted(member.expected_partitions, 'partition')}"
    return line


_CAUSES: Final = {
    RebalanceCause.JOIN: "members joined",
    RebalanceCause.LEAVE: "members left or timed out",
    RebalanceCause.TIMEOUT: "members timed out",
    RebalanceCause.SUBSCRIPTION: "subscriptions changed",
    RebalanceCause.TOPICS: "subscribed topics changed",
    RebalanceCause.STATIC_RESTART: "a static member came back",
    RebalanceCause.ASSIGNOR: "the assignor changed",
    RebalanceCause.HANDOVER: "partitions that were given up got their new owners",
    RebalanceCause.UPGRADE: "the group went over to the protocol of KIP-848",
    RebalanceCause.DOWNGRADE: "the group went back to the classic protocol",
    RebalanceCause.UNKNOWN: "of a cause that the log does not tell",
}


def _rebalances(known: _Judged) -> Iterator[Statement]:
    if known.group.under_way is not None:
        since = known.group.under_way.started_ms
        sentence = f"A rebalance is under way for {known.age_of(since)}, {_because(known.group.under_way)}."
        yield Statement(about=About.REBALANCE, sentence=sentence, since_ms=since)
    if not known.group.history:
        yield Statement(about=About.REBALANCE, sentence="No rebalance has been seen.")
        return
    last = known.group.history[-1]
    word = "generation" if known.group.kind is GroupKind.CLASSIC else "epoch"
    took = f" and took {_duration(last.ended_ms - last.started_ms)}" if last.ended_ms is not None else ""
    ago = known.age_of(last.ended_ms or last.started_ms)
    yield Statement(
        about=About.REBALANCE,
        sentence=f"The last rebalance led to {word} {last.generation} {ago} ago{took}, {_because(last)}.",
        since_ms=last.ended_ms or last.started_ms,
        evidence=tuple(_earlier(known, word)),
    )


def _duration(duration_ms: int) -> str:
    return age(duration_ms) if duration_ms >= 1000 else "less than 1 s"


def _because(rebalance: Rebalance) -> str:
    causes = rebalance.causes or (RebalanceCause.UNKNOWN,)
    counts = f" ({rebalance.joined} joined, {rebalance.left} left)" if rebalance.joined or rebalance.left else ""
    told = " and ".join(_CAUSES[cause] for cause in causes)
    return f"{told}{counts}" if causes == (RebalanceCause.UNKNOWN,) else f"because {told}{counts}"


def _earlier(known: _Judged, word: str) -> Iterator[str]:
    earlier = known.group.history[:-1]
    for rebalance in reversed(earlier):
        ago = known.age_of(rebalance.ended_ms or rebalance.started_ms)
        yield f"{word} {rebalance.generation}, {ago} ago: {_because(rebalance)}"


def _lag(known: _Judged) -> Statement:
    waiting = [row for row in known.verdict.partitions if row.lag]
    unknown = sum(row.committed is not None and row.lag is None for row in known.verdict.partitions)
    if known.verdict.lag is None:
        return Statement(about=About.LAG, sentence="Its lag is not known: it has no committed offset that counts.")
    if not waiting:
        sentence = "No record waits for it"
    else:
        lag, where = counted(known.verdict.lag, "record"), counted(len(waiting), "partition")
        sentence = f"{lag} {'waits' if known.verdict.lag == 1 else 'wait'} for it in {where}"
        if known.verdict.lag_ms:
            sentence += f", the oldest for {age(known.verdict.lag_ms)}"
    if unknown:
        sentence += f"; of {counted(unknown, 'partition')} it is not known"
    return Statement(about=About.LAG, sentence=f"{sentence}.")


def _findings(findings: Sequence[Finding], none: str) -> Iterator[Statement]:
    if not findings:
        yield Statement(about=About.FINDING, sentence=none)
    for finding in findings:
        told = advice(finding)
        yield Statement(
            about=About.FINDING,
            sentence=finding.sentence,
            since_ms=finding.since_ms,
            evidence=() if told is None else (f"What to do: {told}",),
        )


# --- a partition ------------------------------------------------------------------------------------------------------


def explain_partition(inputs: GroupInputs, topic: str, partition: int) -> Explanation:
    """Who owns a partition and why, how far it is read, and what is wrong with it.

    Raises:
        QuestionError: the group has nothing to do with it.
    """
    known = _judged(inputs)
    row, place = _row(known, topic, partition), TopicPartition(topic, partition)
    findings = [finding for finding in known.verdict.findings if place in finding.partitions]
    return Explanation(
        cluster=inputs.group.cluster,
        group=inputs.group.group,
        evaluated_ms=inputs.now_ms,
        topic=topic,
        partition=partition,
        statements=(
            _existence(inputs, place),
            _owner(known, row),
            Statement(about=About.RULE, sentence=why(known.standing, place, inputs.now_ms)),
            *_expected(known, row),
            _offsets(known, row),
            *_findings(findings, "Nothing is found wrong with it."),
        ),
    )


def _row(known: _Judged, topic: str, partition: int) -> PartitionVerdict:
    numbers: dict[str, list[int]] = defaultdict(list)
    for row in known.verdict.partitions:
        if (row.topic, row.partition) == (topic, partition):
            return row
        numbers[row.topic].append(row.partition)
    if topic in numbers:
        has = ranges(numbers[topic])
        raise QuestionError(f"The group has no partition {partition} of {shown(topic)}; it has {has}.")
    topics = listed(sorted(numbers)) or "none"
    raise QuestionError(f"Group {shown(known.group.group)} has nothing of {shown(topic)}; its topics are {topics}.")


def _existence(inputs: GroupInputs, place: TopicPartition) -> Statement:
    state = inputs.catalog.topics.get(place.topic)
    found = next((each for each in state.partitions if each.partition == place.partition), None) if state else None
    name = f"Partition {place.partition} of {shown(place.topic)}"
    if found is None:
        return Statement(about=About.PARTITION, sentence=f"{name} does not exist.")
    told = f"{name} was first seen {age(inputs.now_ms - found.first_seen_ms)} ago"
    if found.earliest is not None and found.end is not None:
        told += f"; its log goes from offset {found.earliest} to {found.end}"
    return Statement(about=About.PARTITION, sentence=f"{told}.", since_ms=found.first_seen_ms)


def _owner(known: _Judged, row: PartitionVerdict) -> Statement:
    if not row.owners:
        return Statement(about=About.OWNER, sentence="Nobody owns it.")
    verb = "owns" if len(row.owners) == 1 else "own"
    ago = f" (stored {known.age_of(known.group.generation_ms)} ago)" if known.group.generation_ms else ""
    holders = {member.member_id: member for member in known.verdict.members}
    evidence = [_holder(holders[name]) for name in row.owners if name in holders]
    return Statement(
        about=About.OWNER,
        sentence=f"{owner(row.owners)} {verb} it in {era(known.group)}{ago}.",
        since_ms=known.group.generation_ms or None,
        evidence=tuple(evidence),
    )


def _holder(member: MemberVerdict) -> str:
    at = f", host {shown(member.host)}" if member.host else ""
    instance = f", instance {shown(member.instance_id)}" if member.instance_id is not None else ""
    client = f", client {shown(member.client_id)}" if member.client_id else ""
    return f"{shown(member.member_id)}{instance}{client}{at}: {counted(member.partitions, 'partition')} in all"


def _expected(known: _Judged, row: PartitionVerdict) -> Iterator[Statement]:
    """Only where it is another than the owner, and can be told."""
    kind = known.standing.expectation.kind
    expected = () if row.expected is None else (row.expected,)
    if kind == "exact" and expected != row.owners:
        sentence = f"If the group rebalanced now, it would belong to {owner(expected)}."
        yield Statement(about=About.EXPECTED, sentence=sentence, evidence=tuple(_metadata(known)))


def _offsets(known: _Judged, row: PartitionVerdict) -> Statement:
    if row.committed is None:
        return Statement(about=About.OFFSETS, sentence="The group has committed no offset there.")
    commit = next(o for o in known.group.offsets if (o.topic, o.partition) == (row.topic, row.partition))
    told = f"The group committed offset {row.committed} {known.age_of(commit.committed_ms)} ago"
    if row.lag is None:
        told += "; how many records wait is not known"
    elif row.lag == 0:
        told += ", and no record waits"
    else:
        told += f": {counted(row.lag, 'record')} {'waits' if row.lag == 1 else 'wait'}"
        told += f", the oldest for {age(row.lag_ms)}" if row.lag_ms is not None else ""
    if commit.rewinds:
        told += f"; it went back {counted(commit.rewinds, 'time')}"
    return Statement(about=About.OFFSETS, sentence=f"{told}.", since_ms=commit.committed_ms)

"""One partition of a group in sentences: who owns it and why, how far it is read, and what is wrong with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.explain.owner import why
from monitor.explain.statements import About, Explanation, Judged, Statement, findings_told, judged, metadata_told
from monitor.messages.formatting import age
from monitor.messages.names import counted, era, listed, owner, ranges, shown
from monitor.messages.units import unit_of
from monitor.model import KINDS, MemberVerdict, PartitionId, PartitionVerdict, TopicPartition


def explain_partition(inputs: GroupInputs, topic: str, partition: PartitionId) -> Explanation:
    """Who owns a partition and why, how far it is read, and what is wrong with it.

    Raises:
        QuestionError: the group has nothing to do with it.
    """
    known = judged(inputs)
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
            *findings_told(findings, "Nothing is found wrong with it."),
        ),
    )


def _row(known: Judged, topic: str, partition: PartitionId) -> PartitionVerdict:
    numbers: dict[str, list[PartitionId]] = defaultdict(list)
    for row in known.verdict.partitions:
        if (row.topic, row.partition) == (topic, partition):
            return row
        numbers[row.topic].append(row.partition)
    if topic in numbers:
        has = ranges(numbers[topic])
        raise QuestionError(f"The group has no partition {shown(str(partition))} of {shown(topic)}; it has {has}.")
    topics = listed(sorted(numbers)) or "none"
    raise QuestionError(f"Group {shown(known.group.group)} has nothing of {shown(topic)}; its topics are {topics}.")


def _existence(inputs: GroupInputs, place: TopicPartition) -> Statement:
    state = inputs.catalog.topics.get(place.topic)
    found = next((each for each in state.partitions if each.partition == place.partition), None) if state else None
    name = f"Partition {shown(str(place.partition))} of {shown(place.topic)}"
    if found is None:
        return Statement(about=About.PARTITION, sentence=f"{name} does not exist.")
    told = f"{name} was first seen {age(inputs.now_ms - found.first_seen_ms)} ago"
    if found.earliest is not None and found.end is not None:
        told += f"; its log goes from offset {found.earliest} to {found.end}"
    return Statement(about=About.PARTITION, sentence=f"{told}.", since_ms=found.first_seen_ms)


def _owner(known: Judged, row: PartitionVerdict) -> Statement:
    if not row.owners:
        return Statement(about=About.OWNER, sentence="Nobody owns it.")
    verb = "owns" if len(row.owners) == 1 else "own"
    verb_of_era = "read" if KINDS[known.group.kind].is_self_assigned else "stored"
    ago = f" ({verb_of_era} {known.age_of(known.group.generation_ms)} ago)" if known.group.generation_ms else ""
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


def _expected(known: Judged, row: PartitionVerdict) -> Iterator[Statement]:
    """Only where it is another than the owner, and can be told."""
    kind = known.standing.expectation.kind
    expected = known.standing.expectation.current.get(TopicPartition(row.topic, row.partition), ())
    if kind == "exact" and expected != row.owners:
        sentence = f"If the group rebalanced now, it would belong to {owner(expected)}."
        yield Statement(about=About.EXPECTED, sentence=sentence, evidence=tuple(metadata_told(known)))


def _offsets(known: Judged, row: PartitionVerdict) -> Statement:
    if row.committed is None:
        return Statement(about=About.OFFSETS, sentence="The group has committed no offset there.")
    commit = next(o for o in known.group.offsets if (o.topic, o.partition) == (row.topic, row.partition))
    told = f"The group committed offset {row.committed} {known.age_of(commit.committed_ms)} ago"
    if row.lag is None:
        told += "; how many records wait is not known"
    elif row.lag == 0:
        told += f", and no {unit_of(known.group.kind)} waits"
    else:
        told += f": {counted(row.lag, unit_of(known.group.kind))} {'waits' if row.lag == 1 else 'wait'}"
        told += f", the oldest for {age(row.lag_ms)}" if row.lag_ms is not None else ""
    if row.stable is not None:
        told += f"; a transaction is open that began at offset {row.stable}"
    if commit.rewinds:
        told += f"; it went back {counted(commit.rewinds, 'time')}"
    return Statement(about=About.OFFSETS, sentence=f"{told}.", since_ms=commit.committed_ms)

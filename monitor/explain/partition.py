"""One partition of a group in sentences: its owner and the reason, its offsets and lag, and its findings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.detection.lag.commit_order import arrived_late
from monitor.explain.owner import why
from monitor.explain.skips import skips_there
from monitor.explain.statements import About, Explanation, Judged, Statement, findings_told, judged, metadata_told
from monitor.explain.unjudged import explain_unjudged
from monitor.messages.formatting import age, counted
from monitor.messages.names import era, listed, owner, ranges, shown, shown_group
from monitor.messages.rewinds import CAUSES
from monitor.messages.truncation import truncation_sentence
from monitor.messages.units import unit_of
from monitor.model import KINDS, CommittedOffset, MemberVerdict, PartitionId, PartitionVerdict, TopicPartition
from monitor.model.commit_attempts import has_failed_attempts, last_committed_ms


def explain_partition(inputs: GroupInputs, topic: str, partition: PartitionId) -> Explanation:
    """The partition's owner and the reason, its offsets and lag, and its findings.

    Raises:
        QuestionError: the group has nothing to do with it.
    """
    if inputs.unjudged is not None:
        return explain_unjudged(inputs, inputs.unjudged, topic, partition)
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
            _existence(inputs, place, row),
            _owner(known, row),
            Statement(about=About.RULE, sentence=why(known.view, place, inputs.now_ms)),
            *_expected(known, row),
            _offsets(known, row),
            *skips_there(known, place),
            *findings_told(known.verdict, findings, "The partition has no findings."),
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
    raise QuestionError(
        f"Group {shown_group(known.group.group)} has no partition of {shown(topic)}; its topics are {topics}."
    )


def _existence(inputs: GroupInputs, place: TopicPartition, row: PartitionVerdict) -> Statement:
    state = inputs.catalog.topics.get(place.topic)
    found = next((each for each in state.partitions if each.partition == place.partition), None) if state else None
    name = f"Partition {shown(str(place.partition))} of {shown(place.topic)}"
    if found is None:
        return Statement(about=About.PARTITION, sentence=f"{name} does not exist.")
    text = f"{name} was first seen {age(inputs.now_ms - found.first_seen_ms)} ago"
    if found.earliest is not None and row.end is not None:
        text += f"; its log ranges from offset {found.earliest} to {row.end}"
    cut = found.truncation
    if cut is not None:
        text += f". {truncation_sentence(place, cut.before, cut.after)} Found {age(inputs.now_ms - cut.at_ms)} ago"
    return Statement(about=About.PARTITION, sentence=f"{text}.", since_ms=found.first_seen_ms)


def _owner(known: Judged, row: PartitionVerdict) -> Statement:
    if not row.owners:
        return Statement(about=About.OWNER, sentence="It has no owner.")
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
    return f"{shown(member.member_id)}{instance}{client}{at}: {counted(member.partitions, 'partition')} in total"


def _expected(known: Judged, row: PartitionVerdict) -> Iterator[Statement]:
    """Only where it is another than the owner, and can be told."""
    kind = known.view.expectation.kind
    expected = known.view.expectation.current.get(TopicPartition(row.topic, row.partition), ())
    if kind == "exact" and expected != row.owners:
        sentence = f"It would belong to {owner(expected)} if the group rebalanced now."
        yield Statement(about=About.EXPECTED, sentence=sentence, evidence=tuple(metadata_told(known)))


def _offsets(known: Judged, row: PartitionVerdict) -> Statement:
    unread = [each for each in known.group.unread_commits if (each.topic, each.partition) == (row.topic, row.partition)]
    if unread:
        text = f"The committed offset is unknown: it is written in version {unread[0].version} of OffsetCommit."
        return Statement(about=About.OFFSETS, sentence=text, since_ms=unread[0].since_ms)
    if row.committed is None:
        tried = _commit_of(known.group.unconfirmed, row)
        more = "" if tried is None else _attempts(tried)
        return Statement(about=About.OFFSETS, sentence=f"The group has committed no offset there{more}.")
    commit = _commit_of(known.group.offsets, row)
    assert commit is not None, "a row has its offset from the group"
    committed_ms = last_committed_ms(commit)
    text = f"The committed offset is {row.committed}"
    text += f", committed {known.age_of(committed_ms)} ago" if committed_ms is not None else ""
    if row.lag is None:
        text += "; the lag is unknown"
    elif row.lag == 0:
        text += "; there is no lag"
    else:
        text += f"; the lag is {counted(row.lag, unit_of(known.group.kind))}"
        text += f", the oldest {age(row.lag_ms)} old" if row.lag_ms is not None else ""
    if row.stable is not None:
        text += f"; an open transaction starts at offset {row.stable}"
    if commit.rewinds:
        text += f"; the committed offset moved back {counted(commit.rewinds, 'time')}"
    is_late = commit.last_rewind is not None and arrived_late(known.group, row.owners, commit, row.end)
    if commit.last_rewind is not None and not is_late and CAUSES[commit.last_rewind.cause]:
        text += f", the last time{CAUSES[commit.last_rewind.cause]}"
    if commit.last_rewind is not None and is_late:
        text += f"; the newest commits arrived out of order, and up to {commit.last_rewind.before} all is committed"
    return Statement(about=About.OFFSETS, sentence=f"{text}{_attempts(commit)}.", since_ms=committed_ms)


def _commit_of(offsets: Iterable[CommittedOffset], row: PartitionVerdict) -> CommittedOffset | None:
    return next((each for each in offsets if (each.topic, each.partition) == (row.topic, row.partition)), None)


def _attempts(commit: CommittedOffset) -> str:
    """The exact number, which the sentence of the finding does not have."""
    if not has_failed_attempts(commit):
        return ""
    return f"; {counted(commit.attempts, 'attempt')} in transactions had no effect"

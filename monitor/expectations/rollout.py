"""Whether a rollout is over and went well: what is still missing, for how long nothing was, and what it cost.

The clock is that of the source: instants are those as of which a group was evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from msgspec.structs import replace

from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.lag.commit_cadence import RHYTHMS, usual_gap_ms
from monitor.expectations.checks import FINDINGS, NOT_THERE, check_group, is_rebalancing, unexpected_findings
from monitor.expectations.costs import RolloutCosts, costs_since
from monitor.expectations.expectation import Expectation, MemberRange
from monitor.expectations.look import Look
from monitor.expectations.outcome import Check, GroupOutcome, group_outcome
from monitor.messages.formatting import age, counted
from monitor.messages.names import listed, places, shown
from monitor.model import CommittedOffset, GroupVerdict, PartitionVerdict, TopicPartition, Value, traits_of
from monitor.model.expectations import Met
from monitor.protocol.offsets_topic import topic_key_of

UNUSUAL_MS: Final = 15_000
"""So long an owner may be silent whose rhythm is not known: three commit intervals of Kafka's Java client."""
SHORTEST_UNUSUAL_MS: Final = 5_000

SOMEBODY: Final = MemberRange(1)
"""What is expected of a group whose file does not say how many members it should have."""


class RolloutLimits(Value):
    """When a rollout has succeeded.

    ``since_ms``: its start. ``stable_ms``: so long nothing may be missing, without a break. ``is_replaced``: all
    members of before are to leave; ``before`` has their ids (None: not known). ``max_pause_ms`` is for how long a
    partition may stand still on average, ``max_redelivered`` counts records; None: there is no limit.
    """

    since_ms: int
    stable_ms: int
    is_replaced: bool = False
    before: frozenset[str] | None = None
    max_pause_ms: int | None = None
    max_redelivered: int | None = None


class RolloutProgress(Value):
    """How far a rollout is, after some looks.

    ``stable_since_ms``: since when nothing is missing; None: something is. ``is_over``: nothing was for long enough.
    ``is_lost``: no later look can make it succeed.
    """

    outcome: GroupOutcome
    costs: RolloutCosts
    at_ms: int
    generation: int
    stable_since_ms: int | None = None
    is_over: bool = False
    is_lost: bool = False


def look_again(
    expected: Expectation, limits: RolloutLimits, look: Look, before: RolloutProgress | None, first: Look
) -> RolloutProgress:
    """The progress after another look.

    Args:
        expected: what is expected of the group.
        limits: when the rollout has succeeded.
        look: the newest look.
        before: the progress before it; None: it is the first, or nothing was known since.
        first: the first look, from which on redelivered records are counted.
    """
    costs = costs_since(limits.since_ms, look.inputs.group, look.verdict, first.verdict)
    over_budget = tuple(_over_budget(limits, costs))
    outcome = rollout_outcome(expected, limits, look, over_budget)
    generation = look.verdict.generation
    stable_since_ms = None
    if outcome.met is Met.YES:
        is_unbroken = before is not None and before.generation == generation and before.stable_since_ms is not None
        stable_since_ms = before.stable_since_ms if is_unbroken and before is not None else look.verdict.evaluated_ms
    return RolloutProgress(
        outcome=outcome,
        costs=costs,
        at_ms=look.verdict.evaluated_ms,
        generation=generation,
        stable_since_ms=stable_since_ms,
        is_over=stable_since_ms is not None and look.verdict.evaluated_ms - stable_since_ms >= limits.stable_ms,
        is_lost=bool(over_budget),
    )


def rollout_outcome(
    expected: Expectation, limits: RolloutLimits, look: Look, over_budget: tuple[Check, ...] = ()
) -> GroupOutcome:
    """The checks of a rollout at one look, without those about time."""
    verdict = look.verdict
    if expected.members is None:
        expected = replace(expected, members=SOMEBODY)
    if expected.exists is None and verdict.state in NOT_THERE:  # it is not there yet
        expected = replace(expected, exists=True)
    checked = check_group(expected, verdict)
    kept = [each for each in checked.checks if each.key != FINDINGS]
    if len(kept) == len(checked.checks):  # it cannot be evaluated, or is not there
        return checked
    more = (
        _check_owners(verdict),
        _check_commits(look),
        _check_replacement(limits, verdict),
        _check_new_findings(expected, verdict, limits.since_ms),
    )
    checks = [*kept, *(each for each in more if each is not None), *over_budget]
    return group_outcome(verdict.cluster, verdict.group, checks, expected.team)


def _check_owners(verdict: GroupVerdict) -> Check:
    if is_rebalancing(verdict):
        return Check("owned", Met.UNKNOWN, "The group rebalances, so its owners are those of before.")
    alone = [TopicPartition(each.topic, each.partition) for each in verdict.partitions if each.orphan is not None]
    tasks = [each.task for each in verdict.tasks if each.orphan is not None]
    if tasks:
        return Check("owned", Met.NO, f"No member runs {counted(len(tasks), 'task')}: {listed(tasks)}.")
    if alone:
        return Check("owned", Met.NO, f"{places(alone)} {'has' if len(alone) == 1 else 'have'} no owner.")
    return Check("owned", Met.YES, "Every partition has an owner.")


class _Reading(StrEnum):
    """What the owner of a partition does."""

    READS = "reads"
    """It has committed, or has nothing to read."""
    WAITS = "waits"
    """It has not committed since it owns the partition, where records wait."""
    IS_SILENT = "silent"
    """It has, but not for longer than usual, and records wait."""
    UNKNOWN = "unknown"


_COMMITS: Final = {
    _Reading.WAITS: (Met.NO, "The owners of {} have not committed since they own them."),
    _Reading.IS_SILENT: (Met.NO, "The owners of {} have not committed for longer than usual."),
    _Reading.UNKNOWN: (Met.UNKNOWN, "Whether records wait in {} is not known."),
}


def _check_commits(look: Look) -> Check | None:
    """Whether the present owners commit where records wait; None: such groups commit otherwise."""
    group, verdict = look.inputs.group, look.verdict
    if not traits_of(group).commits_partitions:
        return None
    commits = {TopicPartition(each.topic, each.partition): each for each in group.offsets}
    handed = _handed_over(look.inputs)
    found: dict[_Reading, list[TopicPartition]] = {reading: [] for reading in _Reading}
    for each in verdict.partitions:
        place = TopicPartition(each.topic, each.partition)
        if each.owners:
            found[_reading(each, commits.get(place), verdict, is_handed=place in handed)].append(place)
    for reading, (met, sentence) in _COMMITS.items():
        if found[reading]:
            return Check("committed", met, sentence.format(places(found[reading])))
    return Check("committed", Met.YES, "Every owner commits, or has nothing to read.")


def _handed_over(inputs: GroupInputs) -> frozenset[TopicPartition]:
    """The partitions of a KIP-848 group whose new owner has yet to commit them."""
    names = {topic_key_of(topic_id): name for topic_id, name in inputs.catalog.names.items()}
    return frozenset(
        TopicPartition(names[each.topic_key], partition)
        for each in inputs.group.taken
        if each.topic_key in names
        for partition in each.partitions
    )


def _reading(
    row: PartitionVerdict, commit: CommittedOffset | None, verdict: GroupVerdict, *, is_handed: bool
) -> _Reading:
    if row.lag == 0 or (row.committed is None and row.end is not None and row.end == row.earliest):
        return _Reading.READS
    if row.lag is None or commit is None:
        return _Reading.UNKNOWN
    if is_handed or commit.committed_ms <= verdict.generation_ms:
        return _Reading.WAITS
    silent_ms = verdict.evaluated_ms - commit.committed_ms
    return _Reading.IS_SILENT if silent_ms > _patience_ms(commit) else _Reading.READS


def _patience_ms(commit: CommittedOffset) -> float:
    """How long an owner may leave records without a commit: three times the usual time between two."""
    gap_ms = usual_gap_ms(commit)
    return UNUSUAL_MS if gap_ms is None else max(SHORTEST_UNUSUAL_MS, RHYTHMS * gap_ms)


def _check_replacement(limits: RolloutLimits, verdict: GroupVerdict) -> Check | None:
    """Whether those of before are gone; None: they need not be. A static member that came back has its old id."""
    if not limits.is_replaced:
        return None
    if limits.before is None:
        return Check("replaced", Met.UNKNOWN, "The members at the start of the rollout are not known.")
    left = [each for each in verdict.members if each.member_id in limits.before]
    if left:
        names = listed([shown(each.client_id or each.member_id) for each in left])
        found = (
            f"{counted(len(left), 'member')} from before the rollout {'is' if len(left) == 1 else 'are'} still there"
        )
        return Check("replaced", Met.NO, f"{found}: {names}.")
    return Check("replaced", Met.YES, "No member of before the rollout is left.")


def _check_new_findings(expected: Expectation, verdict: GroupVerdict, since_ms: int) -> Check:
    found = [each for each in unexpected_findings(expected, verdict) if each.since_ms >= since_ms]
    if found:
        names = listed([f"{each.kind}/{each.reason}" for each in found])
        return Check(FINDINGS, Met.NO, f"Since the rollout, it has {names}: {found[0].sentence}")
    sentence = "Since the rollout, no finding of severity warning or critical began, but those that are allowed."
    return Check(FINDINGS, Met.YES, sentence)


def _over_budget(limits: RolloutLimits, costs: RolloutCosts) -> Iterator[Check]:
    """What later looks cannot make good."""
    pause_ms, most_ms = costs.pause_ms, limits.max_pause_ms
    if most_ms is not None and pause_ms > most_ms:
        sentence = f"Each partition stood still for {age(pause_ms)} on average; expected: at most {age(most_ms)}."
        yield Check("max_pause", Met.NO, sentence)
    redelivered, most = costs.redelivered, limits.max_redelivered
    if most is not None and redelivered > most:
        sentence = f"{counted(redelivered, 'record')} were redelivered; expected: at most {most:,}."
        yield Check("max_redelivered", Met.NO, sentence)

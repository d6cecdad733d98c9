"""Rebalances that take long, or follow each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from monitor.findings.advice import CLASSIC, POLLING, SHARE, WORKERS, Advice
from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.messages.client_defects import DEFECTS
from monitor.messages.client_libraries import project_name
from monitor.messages.formatting import age, counted, grouped, lasted
from monitor.messages.names import LISTED, era, listed, people, seconds, shown
from monitor.messages.rebalances import CAUSES
from monitor.model import (
    KINDS,
    Assigner,
    ClientDefect,
    FindingKind,
    GroupState,
    IdPartitions,
    Library,
    Member,
    Phase,
    RebalanceCause,
    Value,
    traits_of,
)
from monitor.model.static_ids import StaticIdRun

_WAITS_FOR_MEMBERS: Final = (
    Advice(
        "If the group waits for members, find the one that is slow to process what it polled (see its log or a "
        "thread dump). Restart it if it hangs. As a permanent fix, let members poll fewer records "
        "(max.poll.records).",
        POLLING,
    ),
    Advice(
        "If the group waits for workers, find the one that is slow to stop its tasks (see its log or a thread dump; "
        "task.shutdown.graceful.timeout.ms). Restart it if it hangs.",
        WORKERS,
    ),
    Advice("Check the log of the group's coordinator.", SHARE),
)

ROWS: Final = (
    FindingSpec(
        FindingKind.REBALANCE,
        "long",
        Rank.REBALANCING,
        advice=_WAITS_FOR_MEMBERS,
    ),
    FindingSpec(
        FindingKind.REBALANCE,
        "storm",
        Rank.STORM,
        advice="The logs of its members show why each of them rejoined.",
        remembered=True,
    ),
    FindingSpec(
        FindingKind.REBALANCE,
        "static_replacements",
        Rank.STORM,
        advice=(
            Advice(
                "Look for FENCED_INSTANCE_ID in the logs of all clients: then two processes share the id. Give each "
                "its own, for example the name of its pod. Otherwise, the log shows why the process ends.",
                POLLING,
            ),
        ),
        jitters=True,
    ),
    FindingSpec(
        FindingKind.REBALANCE,
        "different_subscriptions",
        Rank.STORM,
        advice=(
            Advice(
                "Give each application its own group.id, and let it start at the offsets that are committed here "
                "(kafka-consumer-groups.sh --reset-offsets). If one of them is a new version, its log shows why it "
                "restarts.",
                CLASSIC,
            ),
        ),
        jitters=True,
        remembered=True,
    ),
)


class LongRebalance(Evidence):
    """``limit_ms`` is the threshold, not the age. The members are those known to keep the others waiting."""

    limit_ms: int


@sentence.register
def _long_rebalance(evidence: LongRebalance, found: Observation, group: GroupState) -> str:
    limit = seconds(evidence.limit_ms)
    if KINDS[group.kind].assigns is Assigner.LEADER:
        return f"The group has been rebalancing for more than {limit}. {_awaited_rejoins(group)}"
    return (
        f"The group has been rebalancing toward {era(group)} for more than {limit}. "
        f"{_awaited_changes(group, found.members)}"
    )


def _awaited_changes(group: GroupState, awaited: Sequence[str]) -> str:
    """What a KIP-848 group waits for."""
    if awaited:
        have = "has" if len(awaited) == 1 else "have"
        return f"{people(awaited, group)} {have} not revoked partitions that other members are waiting for."
    if group.phase is Phase.ASSIGNING:
        return "The coordinator has not computed the new assignment yet (its log may show why)."
    late = [member.member_id for member in group.members if _has_yet_to_take(member)]
    names, have = (people(late, group), "has") if len(late) == 1 else (people(late, group) or "Its members", "have")
    return f"{names} {have} not yet taken the partitions that the coordinator assigned."


def _has_yet_to_take(member: Member) -> bool:
    reconciliation = member.reconciliation
    if reconciliation is None:
        return False
    return not _by_id(reconciliation.target or ()) <= _by_id(reconciliation.assigned)


def _by_id(entries: Iterable[IdPartitions]) -> set[tuple[str, int]]:
    return {(entry.id, number) for entry in entries for number in entry.partitions}


def _awaited_rejoins(group: GroupState) -> str:
    """What a classic group waits for: members that have joined wait for those that have yet to (JoinGroup)."""
    longest_ms = max((member.rebalance_timeout_ms for member in group.members), default=0)
    most = f", at most {seconds(longest_ms)} (their rebalance timeout)" if longest_ms > 0 else ""
    return f"The coordinator is waiting for members that have not rejoined{most}."


class FailingLeader(Value):
    """A client library whose assignor can fail, by a known defect."""

    library: Library
    defect: ClientDefect


class RebalanceStorm(Evidence):
    """``enough`` within ``window_ms`` are the thresholds, not the counts; ``causes`` of the newest of them.

    ``failing``: most of the newest generations follow on one that its leader never assigned, and leaders with this
    client library are known to fail.
    """

    enough: int
    window_ms: int
    causes: tuple[RebalanceCause, ...]
    failing: FailingLeader | None = None


@sentence.register
def _rebalance_storm(evidence: RebalanceStorm, found: Observation, group: GroupState) -> str:
    causes = evidence.causes
    reasons = ", ".join(CAUSES[cause] for cause in causes)
    hints = " ".join(dict.fromkeys(_HINTS[cause] for cause in causes if cause in _HINTS))
    if traits_of(group).runs_connectors:
        reasons = ", ".join(_WORKERS_CAUSES.get(cause, CAUSES[cause]) for cause in causes)
        hints = (
            "Look for workers that restart repeatedly or lose contact, and for a program that keeps creating, "
            "deleting, or reconfiguring connectors. Each such change takes two generations."
        )
    if KINDS[group.kind].is_self_assigned:  # no log shows more of these
        reasons = ", ".join(CAUSES[cause] for cause in causes if cause is not RebalanceCause.UNKNOWN)
        hints = "Look for members that restart repeatedly or lose their connections."
    why = f" ({reasons})" if reasons else ""
    times = f"at least {evidence.enough} times within {seconds(evidence.window_ms)}"
    if evidence.failing is not None:
        hints = _failing_leaders(evidence.failing)
    return f"The group has rebalanced {times}{why}. {hints}".rstrip()


def _failing_leaders(failing: FailingLeader) -> str:
    text = DEFECTS[failing.defect]
    return (
        "In most rebalances, the leader failed or left before it assigned partitions. Known defect of "
        f"{project_name(failing.library)} ({text.releases}): {text.effect} {text.remedy}"
    )


_WORKERS_CAUSES: Final[Mapping[RebalanceCause, str]] = {
    RebalanceCause.JOIN: "workers joined",
    RebalanceCause.LEAVE: "workers left or timed out",
    RebalanceCause.TIMEOUT: "workers timed out",
    RebalanceCause.ASSIGNOR: "the protocol of the workers changed (connect.protocol)",
    RebalanceCause.UNKNOWN: "connectors or their tasks changed, or work was reassigned",
}

_MEMBERS_COME_AND_GO: Final = (
    "Look for members that restart repeatedly, or that take longer than max.poll.interval.ms between two polls. With "
    "group.instance.id, a restart within the session timeout needs no rebalance."
)

_HINTS: Final[Mapping[RebalanceCause, str]] = {
    RebalanceCause.JOIN: _MEMBERS_COME_AND_GO,
    RebalanceCause.LEAVE: _MEMBERS_COME_AND_GO,
    RebalanceCause.TIMEOUT: _MEMBERS_COME_AND_GO,
    RebalanceCause.SUBSCRIPTION: "Look for members that change their subscriptions.",
    RebalanceCause.TOPICS: "Find out which program creates and deletes topics that match the group's pattern.",
    RebalanceCause.ASSIGNOR: "Give all members the same partition.assignment.strategy.",
}


class StaticReplacements(Evidence):
    """Static members that are replaced again and again, the one with the most replacements first."""

    runs: tuple[StaticIdRun, ...]


@sentence.register
def _static_replacements(evidence: StaticReplacements, found: Observation, group: GroupState) -> str:
    run, others = evidence.runs[0], [other.instance_id for other in evidence.runs[1:]]
    lasted_ms = run.last_ms - run.first_ms
    each = lasted(max(1_000, lasted_ms // (run.times - 1)))
    holders = {member.member_id: member.instance_id for member in group.members}
    own = [name for name in found.members if holders[name] == run.instance_id]
    rest = [name for name in found.members if holders[name] != run.instance_id]
    is_of_first = KINDS[group.kind].assigns is Assigner.LEADER
    says = "The log names only its first client" if is_of_first else "Its client is now"
    known = f" {says}: {people(own, group)}." if own else ""
    more = f" That is also true of {listed(others)}" if others else ""
    return (
        f"The static member {shown(run.instance_id)} has been replaced {grouped(run.times)} times within "
        f"{age(lasted_ms)}, every {each} on average.{known} Several processes use this group.instance.id and fence "
        f"each other, or one restarts repeatedly.{more}{f' ({people(rest, group)})' if rest else ''}"
    ) + ("." if more else "")


class SubscriptionSide(Value):
    """Members of a group by what they subscribe to; ``members`` 0: they left a short time ago."""

    topics: tuple[str, ...]
    clients: tuple[str, ...]
    members: int


class DifferentSubscriptions(Evidence):
    """Members that subscribe to different topics; those that had to rejoin for the others are the first side.

    Of their ``rebalances``, others alone caused ``by_others``, in at least so many ``restarts``. Partitions of members
    that did not restart then paused for ``pause_ms``, summed over them.
    """

    sides: tuple[SubscriptionSide, ...]
    rebalances: int
    by_others: int
    restarts: int
    pause_ms: int


@sentence.register
def _different_subscriptions(evidence: DifferentSubscriptions, found: Observation, group: GroupState) -> str:
    del found, group
    sides = evidence.sides
    rest = f"; {counted(len(sides) - LISTED, 'more subscription')}" if len(sides) > LISTED else ""
    parts = [f"Members subscribe to different topics: {'; '.join(map(_side, sides[:LISTED]))}{rest}."]
    shared = sorted({topic for one, other in pairwise(sides) for topic in {*one.topics} & {*other.topics}})
    if shared:
        parts.append(f"Each of them consumes only a part of {listed(shared)}.")
    parts.append(
        f"The members that subscribe to {listed(sides[0].topics)} rebalanced {counted(evidence.rebalances, 'time')}, "
        f"{grouped(evidence.by_others)} of them only because other members restarted (at least "
        f"{counted(evidence.restarts, 'restart')})."
    )
    if evidence.pause_ms:
        each = lasted(max(1, evidence.pause_ms // evidence.restarts))
        parts.append(
            "They paused partitions of members that did not restart, for "
            f"{lasted(evidence.pause_ms)} in total and {each} per restart."
        )
    parts.append("Several applications use this group.id, or a new version of one restarts repeatedly.")
    return " ".join(parts)


def _side(side: SubscriptionSide) -> str:
    clients = f" (client id {listed(side.clients)})" if side.clients else ""
    return f"{grouped(side.members) if side.members else 'none now'} to {listed(side.topics)}{clients}"

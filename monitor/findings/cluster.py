"""The findings of a cluster: their rows, worst first, and the sentence of each kind of evidence.

Like those of groups, a sentence stays the same while nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import Final

from monitor.messages.formatting import counted
from monitor.messages.log_growth import growth_sentence
from monitor.messages.names import listed, ranges, shown_group
from monitor.messages.notification import utc
from monitor.messages.unknown_versions import cluster_sentence
from monitor.model import GrownLog, PartitionId, UnknownVersion, Value
from monitor.model.cluster_findings import ClusterFinding, ClusterFindingKind
from monitor.model.findings import Severity
from monitor.model.offsets_topic import FaultReason


class ClusterFindingSpec(Value):
    """What is the same of a finding wherever it is found. ``advice`` is what a person can do first."""

    kind: ClusterFindingKind
    reason: str
    severity: Severity
    advice: str


_OFFSETS: Final = ClusterFindingKind.OFFSETS_TOPIC

_EXPECTED_ADVICE: Final = (
    "Check that their consumers run and use these group ids. If a group is no longer wanted, remove its entry from the "
    "file of expectations."
)

ROWS: Final = (
    ClusterFindingSpec(
        _OFFSETS,
        FaultReason.NO_LEADER,
        Severity.CRITICAL,
        "Start the brokers that have its replicas. If there is still no leader then, elect one "
        "(kafka-leader-election.sh --election-type unclean): it may lack the newest commits.",
    ),
    ClusterFindingSpec(
        _OFFSETS,
        FaultReason.NOT_ENOUGH_REPLICAS,
        Severity.CRITICAL,
        "Start the brokers that are away, or find out why their replicas fall behind. No consumer of these groups "
        "needs a restart. A lower min.insync.replicas of __consumer_offsets lets groups commit at once, but commits "
        "are then lost with one more broker. Partitions with fewer replicas than that need more of them "
        "(kafka-reassign-partitions.sh).",
    ),
    ClusterFindingSpec(
        _OFFSETS,
        "grew",
        Severity.CRITICAL,
        "Stop the consumers of these groups until their offsets are committed again "
        "(kafka-consumer-groups.sh --reset-offsets). Otherwise they start where auto.offset.reset says. A recording "
        "has the last ones (groupwatch explain --at).",
    ),
    ClusterFindingSpec(
        ClusterFindingKind.TOPICS,
        "no_leader",
        Severity.CRITICAL,
        "Start the brokers that have their replicas. If there is still no leader then, elect one "
        "(kafka-leader-election.sh --election-type unclean): it may lack the newest records. No consumer needs a "
        "restart.",
    ),
    ClusterFindingSpec(
        ClusterFindingKind.EXPECTED_GROUPS,
        Severity.CRITICAL,
        Severity.CRITICAL,
        _EXPECTED_ADVICE,
    ),
    ClusterFindingSpec(
        ClusterFindingKind.TOPICS,
        "not_visible",
        Severity.WARNING,
        "Grant DESCRIBE on these topics to the user of groupwatch. If they were deleted, delete the committed offsets, "
        "too (kafka-consumer-groups.sh --delete-offsets).",
    ),
    ClusterFindingSpec(
        ClusterFindingKind.RECORDS,
        "unknown_version",
        Severity.WARNING,
        "Upgrade groupwatch, and start it once with --rebuild.",
    ),
    ClusterFindingSpec(
        ClusterFindingKind.EXPECTED_GROUPS,
        Severity.WARNING,
        Severity.WARNING,
        _EXPECTED_ADVICE,
    ),
    ClusterFindingSpec(
        ClusterFindingKind.BROKERS,
        "away",
        Severity.INFO,
        "Start it, or find out why it is away. No consumer needs a restart. If it was removed for good, move its "
        "replicas to other brokers (kafka-reassign-partitions.sh): that ends this.",
    ),
    ClusterFindingSpec(
        ClusterFindingKind.EXPECTED_GROUPS,
        Severity.INFO,
        Severity.INFO,
        _EXPECTED_ADVICE,
    ),
)
"""All findings of clusters, worst first."""

_ROWS: Final = {(spec.kind, str(spec.reason)): place for place, spec in enumerate(ROWS)}


class ClusterEvidence(Value):
    """What was seen of a finding of a cluster: all that its sentence needs, in no words."""


class ClusterObservation(Value):
    """What was found of a cluster, in no words. ``groups`` counts those that it concerns.

    ``group``: it is about this group alone.
    """

    kind: ClusterFindingKind
    reason: str
    since_ms: int
    evidence: ClusterEvidence
    groups: int
    partitions: tuple[int, ...] = ()
    group: str | None = None


def cluster_findings_of(found: Iterable[ClusterObservation]) -> tuple[ClusterFinding, ...]:
    """The observations in words, worst first.

    Raises:
        KeyError: ROWS has no such finding.
        NotImplementedError: its evidence has no sentence.
    """
    ranked = sorted(found, key=lambda each: _ROWS[each.kind, str(each.reason)])
    return tuple([_in_words(each) for each in ranked])


def _in_words(found: ClusterObservation) -> ClusterFinding:
    spec = ROWS[_ROWS[found.kind, str(found.reason)]]
    return ClusterFinding(
        kind=spec.kind,
        reason=str(spec.reason),
        severity=spec.severity,
        since_ms=found.since_ms,
        sentence=sentence(found.evidence, found),
        advice=spec.advice,
        groups=found.groups,
        partitions=found.partitions,
    )


@singledispatch
def sentence(evidence: ClusterEvidence, found: ClusterObservation) -> str:
    """What a person reads of an observation."""
    raise NotImplementedError(f"No sentence is made from {type(evidence).__name__}.")


class NotWritable(ClusterEvidence):
    """Partitions of the offsets topic, of ``of`` in all, take no records. ``in_sync`` are the fewest of ``needed``."""

    of: int
    in_sync: int
    needed: int


@sentence.register
def _not_writable_sentence(evidence: NotWritable, found: ClusterObservation) -> str:
    which = _partitions(found.partitions, evidence.of)
    have = "has" if len(found.partitions) == 1 else "have"
    state = f"{have} no leader"
    if found.reason == FaultReason.NOT_ENOUGH_REPLICAS:
        state = f"{have} {evidence.in_sync} of {counted(evidence.needed, 'in-sync replica')} that a commit needs"
    return f"{which} of __consumer_offsets {state}: {_groups_there(found)} can neither commit nor rebalance."


def _partitions(numbers: Sequence[int], of: int) -> str:
    if len(numbers) == of:
        return "All partitions" if of > 1 else "The only partition"
    word = "Partition" if len(numbers) == 1 else "Partitions"
    return f"{word} {ranges(numbers)}"


def _groups_there(found: ClusterObservation) -> str:
    if found.group is not None:
        return f"group {shown_group(found.group)}"
    return f"the {counted(found.groups, 'group')} there" if found.groups else "groups there"


class Grew(ClusterEvidence):
    """The offsets topic has more partitions, and groups lost their committed offsets."""

    grown: GrownLog


@sentence.register
def _grew_sentence(evidence: Grew, _: ClusterObservation) -> str:
    return growth_sentence(evidence.grown)


class UnknownVersions(ClusterEvidence):
    """Of each group with records that cannot be read, which versions those have."""

    of_groups: tuple[tuple[UnknownVersion, ...], ...]


@sentence.register
def _unknown_versions_sentence(evidence: UnknownVersions, _: ClusterObservation) -> str:
    return cluster_sentence(evidence.of_groups)


class NotVisible(ClusterEvidence):
    """Topics, sorted, of which groups still have committed offsets, and that polls no longer see."""

    topics: tuple[str, ...]


@sentence.register
def _not_visible_sentence(evidence: NotVisible, found: ClusterObservation) -> str:
    """A deletion deletes the offsets as well, so a permission is the more likely cause."""
    one = len(evidence.topics) == 1
    which = f"Topic {listed(evidence.topics)} is" if one else f"Topics {listed(evidence.topics)} are"
    it = "It was" if one else "They were"
    by = counted(found.groups, "group") if found.group is None else f"group {shown_group(found.group)}"
    return (
        f"{which} committed by {by} and not visible any more. {it} deleted, or groupwatch "
        "lacks the permission DESCRIBE. The committed offsets are still there, which a deletion deletes, too. Findings "
        "of these groups are as of then, and their lag is unknown."
    )


class NoSuchGroups(ClusterEvidence):
    """Entries of the file of expectations, with their teams, that no group matches though one should exist."""

    entries: tuple[tuple[str, str | None], ...]


@sentence.register
def _no_such_groups_sentence(evidence: NoSuchGroups, _: ClusterObservation) -> str:
    entries = listed([name if team is None else f"{name} (team {team})" for name, team in evidence.entries])
    if len(evidence.entries) == 1:
        return f"No group matches the entry {entries}, which says that one exists."
    return f"No group matches any of the entries {entries}, which say that such groups exist."


_UNSEEN: Final = " No poll has seen the brokers since then: whether this is still so is unknown."


class WithoutLeader(ClusterEvidence):
    """The partitions without a leader, by topic; ``brokers`` led some of them, and are away.

    ``unseen_since_ms``: no poll has seen the brokers since then (None: one did lately).
    """

    places: dict[str, frozenset[PartitionId]]
    brokers: tuple[int, ...]
    unseen_since_ms: int | None = None


@sentence.register
def _without_leader_sentence(evidence: WithoutLeader, found: ClusterObservation) -> str:
    count = sum(map(len, evidence.places.values()))
    which, have = f"{counted(count, 'partition')} of {listed(sorted(evidence.places))}", "has" if count == 1 else "have"
    by = counted(found.groups, "group") if found.group is None else f"group {shown_group(found.group)}"
    it, since_ms = "it" if count == 1 else "them", evidence.unseen_since_ms
    if since_ms is None:
        led = f" {_brokers(evidence.brokers, 'is', 'are')} away, and led {it} before." if evidence.brokers else ""
        return f"{which} {have} no leader: {by} cannot read {it}.{led}"
    led = f" {_brokers(evidence.brokers, 'was', 'were')} away, and led {it} before." if evidence.brokers else ""
    return f"At {utc(since_ms)}, {which} had no leader: {by} could not read {it}.{led}{_UNSEEN}"


class BrokersAway(ClusterEvidence):
    """Brokers that are away, sorted; how many ``partitions`` of which ``topics`` (sorted) they led.

    They were the coordinators of ``coordinated`` groups. ``seen_ms`` is when the last poll began that saw one of them.
    ``unseen_since_ms`` is that of WithoutLeader. ``led_ms`` is when the first poll began that saw some of that: they
    handed it over before they went away (None: the last poll that saw each of them saw all of it).
    """

    brokers: tuple[int, ...]
    partitions: int
    topics: tuple[str, ...]
    coordinated: int
    seen_ms: int
    unseen_since_ms: int | None = None
    led_ms: int | None = None


@sentence.register
def _brokers_away_sentence(evidence: BrokersAway, found: ClusterObservation) -> str:
    by, role = "By the last polls that saw them, they", "were the coordinators"
    if len(evidence.brokers) == 1:
        by, role = f"At {utc(evidence.seen_ms)}, by the last poll that saw it, it", "was the coordinator"
    if evidence.led_ms is not None:
        by = f"By the polls from {utc(evidence.led_ms)} on, {'it' if len(evidence.brokers) == 1 else 'they'}"
    of_topics = f" of {listed(evidence.topics)}" if evidence.topics else ""
    coordinated = f"and {role} of {counted(evidence.coordinated, 'group')}"
    if found.group is not None:
        coordinated = f"and {role} of the group" if evidence.coordinated else ""
    led = f"led {counted(evidence.partitions, 'partition')}{of_topics} {coordinated}".rstrip()
    since_ms = evidence.unseen_since_ms
    if since_ms is None:
        return f"{_brokers(evidence.brokers, 'is', 'are')} away. {by} {led}."
    away = _brokers(evidence.brokers, "was", "were").replace("Broker", "broker", 1)
    return f"At {utc(since_ms)}, {away} away. {by} {led}.{_UNSEEN}"


def _brokers(ids: Sequence[int], one: str, several: str) -> str:
    """The brokers with their verb."""
    return f"Broker {ids[0]} {one}" if len(ids) == 1 else f"Brokers {ranges(ids)} {several}"

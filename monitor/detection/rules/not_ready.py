"""Streams groups of the broker whose topology cannot run, as a topic that it needs is not there (KIP-1071).

The broker then assigns nothing. Where a source topic is missing, or joined topics have different numbers of partitions,
the members leave within seconds (``MissingSourceTopicException``, ``TopologyException``): what is left is a group
without members whose topology was not validated.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.ownership.context import Facts
from monitor.detection.ownership.tasks.inputs import partition_counts
from monitor.detection.rules.rule import Rule
from monitor.findings.advice import STREAMS
from monitor.findings.observation import Observation
from monitor.findings.streams import NotReady
from monitor.kinds.streams import missing_topics, source_topics, topology_of, uneven_topics
from monitor.model import FindingKind, OrphanReason, Phase, TopicPartition, Topology

UNEXPLAINED_MS: Final = 60_000
"""For how long the brokers may need to create internal topics before that is told. It takes them a second or two."""


def find_not_ready(facts: Facts) -> Iterable[Observation]:
    """The broker cannot assign the topology: at once if the cause is known, or else if that lasts.

    Of a group without members only if its topics are why the members may have left.
    """
    group = facts.group
    topology = topology_of(group)
    if topology is None or group.streams is None or group.streams.validated_epoch == topology.epoch:
        return
    missing = _missing(topology, facts)
    uneven = _uneven(topology, facts) if _is_known(facts) else ()
    lacks_source = not source_topics(topology).isdisjoint(missing)
    if group.phase is Phase.EMPTY and (lacks_source or uneven):
        yield _finding(facts, NotReady(missing=missing if lacks_source else (), uneven=uneven))
    is_told = uneven or lacks_source or facts.has_passed(group.phase_ms + UNEXPLAINED_MS)
    if group.phase is Phase.NOT_READY and is_told:
        yield _finding(facts, NotReady(missing=missing, uneven=uneven))


def _is_known(facts: Facts) -> bool:
    """Whether a pass has begun since: of an older one topics may be missing that are there by now."""
    return facts.catalog.pass_ms > facts.group.phase_ms


def _missing(topology: Topology, facts: Facts) -> tuple[str, ...]:
    """The missing source topics; if there are all, the missing ones of those that the broker makes."""
    missing = missing_topics(topology, facts.catalog.topics) if _is_known(facts) else ()
    sources = source_topics(topology)
    return tuple(topic for topic in missing if topic in sources) or missing


def _finding(facts: Facts, evidence: NotReady) -> Observation:
    not_ready = OrphanReason.NOT_READY
    return Observation(
        kind=FindingKind.ORPHANED,
        reason=not_ready,
        since_ms=facts.not_later_than_now(facts.group.phase_ms),
        evidence=evidence,
        partitions=tuple(
            TopicPartition(row.topic, row.partition) for row in facts.partitions if row.orphan is not_ready
        ),
        tasks=tuple(task.task for task in facts.tasks if task.orphan is not_ready),
    )


def _uneven(topology: Topology, facts: Facts) -> tuple[tuple[str, int], ...]:
    """The first topics that must have equally many partitions, and have not, with how many each has."""
    return next(uneven_topics(topology, partition_counts(topology, facts.catalog)), ())


RULES: Final = (Rule(find_not_ready, of_owners=False, kinds=STREAMS),)

"""The deliveries of a share group: records that its members do not answer for, or do not accept."""

from __future__ import annotations

from typing import Final

from monitor.findings.clauses import object_pronoun, places_with_lag
from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.messages.formatting import counted
from monitor.messages.names import partition, places, seconds
from monitor.model import FindingKind, GroupState, OrphanReason, TopicPartition

ROWS: Final = (
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.NOT_INITIALIZED,
        Rank.LEFT_OUT,
        advice=(
            "Wait: the coordinator initializes partitions within seconds. If this lasts, check the brokers' logs for "
            "the share coordinator, and the topic __share_group_state (replication factor, min.insync.replicas)."
        ),
        mark="not initialized for the group",
    ),
    FindingSpec(
        FindingKind.POISON,
        "given_up",
        Rank.GIVEN_UP,
        advice=(
            "Read the newest of these records with a console consumer, and find out why the consumers do not accept "
            "it. The group does not deliver them again: process them by hand if they matter."
        ),
        mark="records given up",
        remembered=True,
    ),
    FindingSpec(
        FindingKind.LAG,
        "stalled",
        Rank.NO_PROGRESS,
        advice=(
            "Check the consumers there: they may hang in processing (take a thread dump), or have stopped polling. "
            "Records that a consumer holds are delivered again after its lock ends."
        ),
        mark="no acknowledgments",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.POISON,
        "last_try",
        Rank.NO_PROGRESS,
        advice=(
            "Check the consumers' logs for errors at these offsets. A crash or an expired lock is a failed delivery, "
            "too. More attempts: share.delivery.count.limit of the group (before Kafka 4.3: of the brokers)."
        ),
        mark="last delivery attempt",
        jitters=True,
    ),
)


class NotInitialized(Evidence):
    """The coordinator of a share group has not initialized partitions for it."""


@sentence.register
def _not_initialized(evidence: NotInitialized, found: Observation, group: GroupState) -> str:
    one = len(found.partitions) == 1
    are, them = "is" if one else "are", object_pronoun(one=one)
    return f"{places(found.partitions)} {are} not initialized for the group, so no member can read {them}."


class GivenUp(Evidence):
    """A share group gave up ``records`` after ``limit`` deliveries, the newest at ``offset`` of ``partition``.

    ``is_default``: the limit is assumed.
    """

    records: int
    partition: TopicPartition
    offset: int
    limit: int
    is_default: bool = False


@sentence.register
def _records_given_up(evidence: GivenUp, found: Observation, group: GroupState) -> str:
    return (
        f"The group has given up records of {places(found.partitions)}: {evidence.records} so far, the newest with "
        f"offset {evidence.offset} in {partition(evidence.partition)}. It gives a record up after "
        f"{_deliveries(evidence.limit, is_default=evidence.is_default)}, and does not deliver it again."
    )


class StalledDeliveries(Evidence):
    """Members of a share group have answered for no record of the partitions for ``silence_ms``, the threshold."""

    silence_ms: int


@sentence.register
def _stalled_deliveries(evidence: StalledDeliveries, found: Observation, group: GroupState) -> str:
    return (
        f"{places_with_lag(found.partitions)}, and no member has accepted, released or "
        f"rejected a record there for at least {seconds(evidence.silence_ms)}."
    )


class LastTries(Evidence):
    """``records`` of a share group are given up at the next delivery that fails, after ``limit`` of them.

    ``offsets`` are the first ones of the first partition. ``is_default``: the limit is assumed.
    """

    records: int
    offsets: tuple[int, ...]
    limit: int
    is_default: bool = False


@sentence.register
def _last_tries(evidence: LastTries, found: Observation, group: GroupState) -> str:
    first, records = found.partitions[0], evidence.records
    have = "has" if records == 1 else "have"
    named = ("offset" if len(evidence.offsets) == 1 else "offsets") + " " + ", ".join(map(str, evidence.offsets))
    named = named if records == len(evidence.offsets) else f"first {named}"
    failed = evidence.limit - 1
    times = "once or more" if failed == 1 else f"{failed} times or more"
    return (
        f"{counted(records, 'record')} of {places(found.partitions)} {have} been delivered {times} and not accepted "
        f"({named} of {partition(first)}). The group gives a record up after "
        f"{_deliveries(evidence.limit, is_default=evidence.is_default)}."
    )


def _deliveries(limit: int, *, is_default: bool) -> str:
    """So many deliveries, and that groupwatch assumes the number if the group's own could not be read."""
    return f"{limit} deliveries" + (" (by default; the configs of the group could not be read)" if is_default else "")

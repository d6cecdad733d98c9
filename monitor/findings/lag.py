"""Records that wait: for a group that is late, does not commit, is away, or no longer subscribes."""

from __future__ import annotations

from typing import Final

from monitor.findings.advice import (
    ALL,
    CLASSIC,
    CONSUMER,
    METAQ,
    ROCKETMQ,
    SELF_ASSIGNED,
    SHARE,
    SPARK,
    STREAMS,
    WORKERS,
    ZOOKEEPER,
    Advice,
)
from monitor.findings.clauses import place_options, places_with_lag, record_command, topic_noun
from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.messages.commands import BROKER
from monitor.messages.formatting import age, counted, grouped, round_down
from monitor.messages.names import partition, people, places, seconds, shown
from monitor.messages.units import unit_of
from monitor.model import KINDS, FindingKind, GroupState, TopicPartition, Value

_RESET_TOOLS: Final = (
    ("kafka-consumer-groups.sh --reset-offsets", CLASSIC | CONSUMER),
    ("kafka-share-groups.sh --reset-offsets", SHARE),
    ("kafka-streams-groups.sh --reset-offsets", STREAMS),
    ("mqadmin resetOffsetByTime", ROCKETMQ),
    ("they are in ZooKeeper", ZOOKEEPER | METAQ),
)

_BEYOND_THE_END: Final = (
    Advice("Find out whether the log was truncated, or what committed these offsets.", ALL),
    *(
        Advice(
            f"Then set the group's offsets to where it should continue ({tool}), before new records fill the gap.",
            kinds,
        )
        for tool, kinds in _RESET_TOOLS
    ),
    Advice("Then start the query with a new checkpoint and startingOffsets, before new records fill the gap.", SPARK),
)

_FORMER_LOG: Final = (
    Advice("If the group consumes there, make sure that it commits.", ALL - SPARK),
    *(Advice(f"If not, set its offsets before it starts ({tool}).", kinds) for tool, kinds in _RESET_TOOLS),
    Advice("Start the query with a new checkpoint and startingOffsets.", SPARK),
    Advice("The old offsets point to arbitrary records of the new topic.", ALL),
)

_NO_MORE_THAN_PARTITIONS: Final = (
    "Find out what slows the members down, or add members, up to the number of partitions (groupwatch what-if "
    "--members)."
)

_TOO_SLOW: Final = (
    Advice(_NO_MORE_THAN_PARTITIONS, CLASSIC | CONSUMER | STREAMS | SELF_ASSIGNED),
    Advice("Find out what slows the members down, or add members: several of them can share a partition.", SHARE),
    Advice("Find out what slows the query down, or give it more cores.", SPARK),
)

_DELETE_OFFSETS: Final = (
    *(
        Advice(f"If the group should no longer consume this topic, delete its offsets ({tool}).", kinds)
        for tool, kinds in (
            ("kafka-consumer-groups.sh --delete-offsets", CLASSIC | CONSUMER),
            ("kafka-share-groups.sh --delete-offsets", SHARE),
            ("kafka-streams-groups.sh --delete-offsets", STREAMS),
        )
    ),
    Advice("If the group should no longer consume this topic, delete its offsets.", SELF_ASSIGNED),
    Advice("Otherwise, let a member subscribe to the topic again.", ALL - SPARK - WORKERS),
)

_NO_PROGRESS: Final = (
    Advice(
        "Check the consumer there: it may hang in processing (take a thread dump), fail before it commits, or have "
        "stopped committing.",
        ALL,
    ),
    Advice(
        "If it repeats one offset, look at that record (kafka-console-consumer.sh --offset).",
        CLASSIC | CONSUMER,
    ),
)

_STUCK_RECORD: Final = (
    "Look at that record and at the log of a consumer that left. To skip it, stop the group and set this partition to "
    "the next offset (kafka-consumer-groups.sh --reset-offsets --topic TOPIC:PARTITION --to-offset OFFSET)."
)

_NOT_SYNCED: Final = (
    "Do not fail over now: the group would read these records again. If no group gets new checkpoints, check the "
    "checkpoint connector (sync.group.offsets.enabled). Else check the group's consumers in the other cluster."
)

ROWS: Final = (
    FindingSpec(
        FindingKind.LAG,
        "beyond_end",
        Rank.WHOLE_GROUP,
        advice=_BEYOND_THE_END,
        mark="committed beyond the end",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.UNATTENDED,
        "no_members",
        Rank.WHOLE_GROUP,
        advice="Start its consumers. If the group is no longer needed, delete it together with its offsets.",
        mark="lag, no members",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.LAG,
        "stuck_record",
        Rank.AT_ONE_RECORD,
        advice=_STUCK_RECORD,
        mark="its owners leave at one record",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.LAG,
        "former_log",
        Rank.UNKNOWN_POSITION,
        advice=_FORMER_LOG,
        mark="committed before the topic was recreated",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.LAG,
        "not_committing",
        Rank.NO_PROGRESS,
        advice=_NO_PROGRESS,
        mark="not committing",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.UNATTENDED,
        "not_synced",
        Rank.NO_PROGRESS,
        advice=_NOT_SYNCED,
        mark="offsets are no longer copied",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.LAG,
        "open_transaction",
        Rank.NO_PROGRESS,
        advice=(
            "Check the producer, not the group: kafka-transactions.sh list names its transactional.id. If it starts "
            "again with that id, the transaction ends. If it is gone for good, abort the transaction."
        ),
        mark="behind an open transaction",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.LAG,
        "behind",
        Rank.LATE,
        advice=_TOO_SLOW,
        jitters=True,
    ),
    FindingSpec(
        FindingKind.LAG,
        "not_moving",
        Rank.PERHAPS_PAUSED,
        advice=(
            "Check whether the consumer has paused the partition, reads others first, or waits for more records there. "
            "If not, look at the record at that offset."
        ),
        mark="one offset is committed again and again",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.UNATTENDED,
        "kept",
        Rank.PERHAPS_PAUSED,
        advice=(
            "Nothing is to be done if the group's consumers run in the other cluster. If a consumer assigns its "
            "partitions itself here, check it."
        ),
        mark="copied from another cluster",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.UNATTENDED,
        "one_off",
        Rank.ABANDONED,
        advice=(
            "Nothing is to be done if each process uses a new group: its offsets expire. To leave none, let it not "
            "commit (enable.auto.commit=false), or delete the group. If the group is to go on, start its consumers."
        ),
        mark="one-off group",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.ABANDONED,
        "unsubscribed",
        Rank.ABANDONED,
        advice=_DELETE_OFFSETS,
        mark="lag, not subscribed",
        jitters=True,
    ),
)


class BeyondEnd(Evidence):
    """Committed offsets beyond the end of the log. ``furthest`` is the partition where it is the most records.

    The others are of that partition. ``ended_at`` is where its log ended before it was truncated; None: the log is not
    known to have reached the offset. ``is_recreated``: its topic was deleted and created again.
    """

    furthest: TopicPartition
    committed: int
    end: int
    ended_at: int | None = None
    is_recreated: bool = False


@sentence.register
def _beyond_end(evidence: BeyondEnd, found: Observation, group: GroupState) -> str:
    count = counted(evidence.committed - evidence.end, unit_of(group.kind))
    there = f"{partition(evidence.furthest)} the group has committed {grouped(evidence.committed)}"
    rest = f"which is {count} beyond the end of the log ({grouped(evidence.end)}). The lag there is unknown."
    rest += f" {_how_it_came(evidence)}"
    if len(found.partitions) == 1:
        return f"In {there}, {rest}"
    return f"Committed offsets of {places(found.partitions)} are beyond the end. In {there}, {rest}"


def _how_it_came(evidence: BeyondEnd) -> str:
    """What the polls show of that, and what a consumer will do."""
    if evidence.ended_at is not None:
        return (
            f"The log was truncated: before, it ended at {grouped(evidence.ended_at)}. A consumer that checks leader "
            "epochs continues where the log was truncated. Any other is reset (auto.offset.reset), or skips new "
            "records once the log has grown past the offset."
        )
    cause = (
        "The topic was recreated, and the offset may be that of the old one."
        if evidence.is_recreated
        else "No poll has found an end that far: the offset may be wrong, of another log, or older than the first poll."
    )
    return (
        f"{cause} A consumer is reset by auto.offset.reset: earliest reads the whole log again, latest skips what came "
        "until then. Once the log has grown past the offset, the records before it are skipped."
    )


class Unattended(Evidence):
    """Records wait for a group without members."""


@sentence.register
def _unattended(evidence: Unattended, found: Observation, group: GroupState) -> str:
    return f"The group has no members, and {places_with_lag(found.partitions)}."


class OneOff(Evidence):
    """As :class:`Unattended`; one member used the group for ``life_ms``, and others of the ``pattern`` were alike."""

    pattern: str
    life_ms: int


@sentence.register
def _one_off(evidence: OneOff, found: Observation, group: GroupState) -> str:
    return (
        f"{places_with_lag(found.partitions)}. Its only member ever left "
        f"after {age(evidence.life_ms)}, and so did those of other groups {shown(evidence.pattern)}."
    )


class Kept(Evidence):
    """Records wait for a group whose offsets MirrorMaker 2 seems to copy; ``checkpoints`` is the topic by which."""

    checkpoints: str


@sentence.register
def _kept_sentence(evidence: Kept, found: Observation, group: GroupState) -> str:
    return (
        f"{places_with_lag(found.partitions)}, and few or no records came since the last "
        f"commits there. {_copies_sentence(evidence.checkpoints)}"
    )


def _copies_sentence(checkpoints: str) -> str:
    return (
        "No member has ever been seen in the group. MirrorMaker 2 seems to copy its offsets from another cluster "
        f"(by {shown(checkpoints)})."
    )


class NotSynced(Evidence):
    """As :class:`Kept`, and the copies have stopped; ``is_written``: the checkpoints of other groups go on."""

    checkpoints: str
    is_written: bool


@sentence.register
def _not_synced(evidence: NotSynced, found: Observation, group: GroupState) -> str:
    others = "goes on with other groups" if evidence.is_written else "has written no checkpoint of any group since then"
    return (
        f"{places_with_lag(found.partitions)}, and records come without a new commit there. "
        f"{_copies_sentence(evidence.checkpoints)} It {others}."
    )


class FormerLog(Evidence):
    """Commits from before the topics were deleted and created anew."""


@sentence.register
def _former_log(evidence: FormerLog, found: Observation, group: GroupState) -> str:
    partitions = found.partitions
    offsets = "has a committed offset" if len(partitions) == 1 else "have committed offsets"
    topics = "topic was" if len({place.topic for place in partitions}) == 1 else "topics were"
    return (
        f"{places(partitions)} {offsets} from before the {topics} deleted and recreated. The lag there is unknown "
        "until the group commits there again."
    )


class Repeated(Value):
    """A partition where the newest ``commits`` are all of the same offset."""

    place: TopicPartition
    offset: int
    commits: int


class Left(Value):
    """A partition whose newest ``owners`` began at the offset that is committed, and left."""

    place: TopicPartition
    offset: int
    owners: int


class NotCommitting(Evidence):
    """``silence_ms`` is the threshold, not the age; ``owners`` are the members that have the partitions.

    ``repeated`` are those of the partitions that are committed, and always at the same offset. ``left`` are those whose
    owners left one after the other.
    """

    silence_ms: int
    owners: tuple[str, ...]
    repeated: tuple[Repeated, ...] = ()
    left: tuple[Left, ...] = ()


@sentence.register
def _not_committing(evidence: NotCommitting, found: Observation, group: GroupState) -> str:
    own = _without_commits(evidence, found, group)
    if not evidence.left:
        return own
    most = max(evidence.left, key=lambda each: each.owners)
    where = "there" if len(found.partitions) == 1 else f"in {partition(most.place)}"
    return f"{own} At least {_owners_in_a_row(most.owners)} began {where} at offset {grouped(most.offset)} and left."


def _owners_in_a_row(owners: int) -> str:
    """At least so many: the exact number would change with each of them."""
    return f"{grouped(round_down(owners, (1, 2, 3, 5)))} owners in a row"


def _without_commits(evidence: NotCommitting, found: Observation, group: GroupState) -> str:
    partitions, owners, repeated = found.partitions, evidence.owners, evidence.repeated
    head = places_with_lag(partitions)
    if len(repeated) == len(partitions):
        owned = (
            f" {_role(found, owners)} {'is' if len(owners) == 1 else 'are'} {people(owners, group)}." if owners else ""
        )
        return f"{head}, and {_repetition(repeated, ' there')}.{owned}"
    limit = f"for at least {seconds(evidence.silence_ms)}"
    new = "new " if repeated else ""
    rest = f" In {places([each.place for each in repeated])}, {_repetition(repeated)}." if repeated else ""
    if not owners:
        return f"{head}, and no {new}offset has been committed there {limit}.{rest}"
    have = "has" if len(owners) == 1 else "have"
    return (
        f"{head}. {_role(found, owners)}, {people(owners, group)}, {have} committed no {new}offset there {limit}.{rest}"
    )


class NotMoving(Evidence):
    """Partitions whose offset is committed again and again, while their owners move others."""

    repeated: tuple[Repeated, ...]


@sentence.register
def _not_moving(evidence: NotMoving, found: Observation, group: GroupState) -> str:
    partitions = found.partitions
    reader = "consumer commits" if len(partitions) == 1 else "consumers commit"
    head = f"{places_with_lag(partitions)}, and {_repetition(evidence.repeated, ' there')}."
    return f"{head} Meanwhile, the same {reader} other partitions. Commits do not show whether it is paused or stuck."


def _repetition(repeated: tuple[Repeated, ...], there: str = "") -> str:
    """How often at least: the exact number would change with every commit."""
    times = counted(round_down(min(each.commits for each in repeated), (1, 2, 5)), "time")
    first = repeated[0]
    if len(repeated) == 1:
        return f"offset {grouped(first.offset)} has been committed{there} at least {times} in a row"
    example = f"{grouped(first.offset)} in {partition(first.place)}"
    return f"the same offsets have been committed{there} at least {times} in a row ({example})"


class StuckRecord(Evidence):
    """Partitions whose owners began at one offset and left. ``example`` is the partition that most owners left.

    The others are of that partition. ``distance`` is how many records lay between two commits, at most; 0: not known.
    """

    example: TopicPartition
    offset: int
    owners: int
    distance: int


@sentence.register
def _stuck_record(evidence: StuckRecord, found: Observation, group: GroupState) -> str:
    place = evidence.example
    record, where = f"at offset {grouped(evidence.offset)}", partition(place)
    if len(found.partitions) == 1:
        head = f"The record {record} of {where}, or one soon after it, may stop its consumers."
    else:
        own = places(found.partitions)
        head = f"Owners of {own} leave one after the other, and a record of one of these may be the cause."
        head += f" In {where}, it would be the one {record}, or one soon after it."
    if evidence.distance:
        head += f" Before, commits there were at most {counted(evidence.distance, 'record')} apart."
    command = record_command(place, evidence.offset)
    return (
        f"{head} At least {_owners_in_a_row(evidence.owners)} began there and left, while the group committed other "
        f"partitions.{f' {command} prints the record.' if command else ''}"
    )


def _role(found: Observation, owners: tuple[str, ...]) -> str:
    return f"{'Its' if len(found.partitions) == 1 else 'Their'} owner{'' if len(owners) == 1 else 's'}"


class OpenTransaction(Evidence):
    """All that waits in the partitions is behind a transaction. That of ``example`` begins at the offset ``start``."""

    example: TopicPartition
    start: int


@sentence.register
def _open_transaction(evidence: OpenTransaction, found: Observation, group: GroupState) -> str:
    partitions, place, start = found.partitions, evidence.example, evidence.start
    transactions = "an open transaction" if len(partitions) == 1 else "open transactions"
    one = "The transaction begins" if len(partitions) == 1 else "For example, one begins"
    text = (
        f"All lag in {places(partitions)} is behind {transactions}. Consumers that read only committed records "
        f"(read_committed) cannot proceed there. {one} at offset {grouped(start)} of {partition(place)}."
    )
    there = place_options(place)
    if there is None:
        return text
    tool = f"kafka-transactions.sh --bootstrap-server {BROKER}"
    find = f"{tool} describe-producers {there} prints its producer id."
    abort = f"{tool} abort {there} --start-offset {start}"
    return f"{text} {find} If the producer is gone for good, {abort} drops the transaction's records."


class Behind(Evidence):
    """``threshold`` in records, of MetaQ in bytes; the lag itself moves and is shown beside."""

    threshold: int


@sentence.register
def _behind(evidence: Behind, found: Observation, group: GroupState) -> str:
    threshold = counted(evidence.threshold, unit_of(group.kind))
    return f"The group has a lag of more than {threshold}, in {places(found.partitions)}."


class Abandoned(Evidence):
    """Records wait in topics that a living group no longer subscribes."""


@sentence.register
def _abandoned(evidence: Abandoned, found: Observation, group: GroupState) -> str:
    partitions = found.partitions
    left = "share state" if KINDS[group.kind].acknowledges_records else "committed offsets"
    return (
        f"The group has {left} and lag in {places(partitions)}, but no member subscribes to the "
        f"{topic_noun(partitions)} anymore."
    )

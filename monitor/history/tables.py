"""The tables of a recording, column by column. They lie in one folder, partitioned by cluster and day (UTC)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from monitor.model import Value

DAY_MS: Final = 86_400_000


class Column(Value):
    """A column: its name, its type as Spark writes it, and what it holds."""

    name: str
    type: str
    meaning: str


class Table(Value):
    """A table: its folder, what a row is, and its columns."""

    name: str
    row: str
    columns: tuple[Column, ...]

    @property
    def schema(self) -> str:
        """The columns as Spark reads a schema."""
        return ", ".join(f"{column.name} {column.type}" for column in self.columns)


PLACE: Final = (
    Column("cluster", "STRING", "the cluster's name in the configuration"),
    Column("day", "STRING", "the UTC date of recorded_ms, as 2026-11-22"),
    Column(
        "recorded_ms",
        "LONG",
        "the number of the recording, which only grows: its time (ms since the epoch), unless the clock was wrong",
    ),
)
"""What every table begins with."""

CLOCK: Final = Column(
    "clock_ms", "LONG", "the machine's clock at the recording (ms since the epoch); null: of an older groupwatch"
)
"""For people: nothing is ordered by it."""

_ENTITY: Final = (
    Column("entity", "STRING", "what the row is about: group, topic, pass, listing or connect"),
    Column("name", "STRING", "the name of the group or topic"),
)

EVENTS: Final = Table(
    "events",
    "Everything that groupwatch read of a group or topic between two recordings, a minute apart.",
    (
        *PLACE,
        CLOCK,
        *_ENTITY,
        Column("position", "LONG", "orders the rows of one entity that were recorded together"),
        Column("first_ms", "LONG", "the time of the first of these events (ms since the epoch)"),
        Column("last_ms", "LONG", "the time of the last of these events (ms since the epoch)"),
        Column("version", "INT", "the version of the events"),
        Column("events", "BINARY", "the events, in MessagePack"),
    ),
)

STATES: Final = Table(
    "states",
    "What groupwatch knew of a group or topic after a recording; written each hour, but not while a backlog is read.",
    (
        *PLACE,
        *_ENTITY,
        Column("state", "BINARY", "the state, in MessagePack with its version; null: none could be made"),
        Column("unread_rows", "INT", "how many rows of events since the states before could not be used; null: none"),
    ),
)

SETTINGS: Final = Table(
    "settings",
    "The thresholds by which groups were evaluated from then on; written at each start of a job.",
    (
        *PLACE,
        Column("settings", "BINARY", "the thresholds, and which topics have configurations of Connect"),
        Column("ids", "STRING", "the ids of the Kafka cluster and its topics, in JSON; null: of an older groupwatch"),
    ),
)

REACH: Final = Table(
    "reach",
    "How far the recording reaches from then on; written when a backlog begins to be read, and when it is read.",
    (
        *PLACE,
        Column("until_ms", "LONG", "what happened later may be missing (ms since the epoch); null: the newest events"),
    ),
)

OF_A_GROUP: Final = (
    Column("cluster", "STRING", "the cluster's name in the configuration"),
    Column("day", "STRING", "the UTC date of the first instant in the row, as 2026-11-22"),
    Column("group_name", "STRING", "the name of the group"),
)
"""What a row about a group begins with. The word "group" means something else in SQL."""

_FINDING: Final = (
    Column("finding_id", "STRING", "the finding's id, as in the topic of findings"),
    Column("kind", "STRING", "the kind of the finding"),
    Column("reason", "STRING", "its reason"),
    Column("severity", "STRING", "critical, warning or info"),
    Column("from_ms", "LONG", "since when the finding was like this (ms since the epoch)"),
    Column("until_ms", "LONG", "until when (ms since the epoch)"),
)

FINDINGS: Final = Table(
    "findings",
    "A finding while it stayed the same, for at most ten minutes: one that lasts longer has more rows.",
    (
        *OF_A_GROUP,
        *_FINDING,
        Column("event", "STRING", "what happened at from_ms: opened, changed, or continues (nothing)"),
        Column("is_closed", "BOOLEAN", "whether the finding closed at until_ms"),
        Column("since_ms", "LONG", "when the finding began (ms since the epoch)"),
        Column("partitions", "INT", "the number of its partitions"),
        Column("members", "INT", "the number of its members"),
        Column("topics", "STRING", "the topics of its partitions, separated by commas"),
        Column("cause", "STRING", "the cause of a drift"),
        Column("sentence", "STRING", "what a person reads"),
    ),
)

_MEMBER: Final = (
    Column("member_id", "STRING", "the member id"),
    Column("instance_id", "STRING", "the group.instance.id of a static member"),
    Column("client_id", "STRING", "the client id"),
    Column("host", "STRING", "the host, as the broker knows it"),
    Column("library", "STRING", "the client library, as far as it is known"),
)

FINDING_MEMBERS: Final = Table(
    "finding_members",
    "A member that a row of findings is about.",
    (*OF_A_GROUP, *_FINDING, *_MEMBER),
)

REBALANCES: Final = Table(
    "rebalances",
    "A rebalance, in the day in which it ended.",
    (
        *OF_A_GROUP,
        Column("group_kind", "STRING", "the kind of the group"),
        Column("generation", "LONG", "the generation (or epoch, or change) that it led to"),
        Column("started_ms", "LONG", "when it began, as far as the log shows (ms since the epoch)"),
        Column("ended_ms", "LONG", "when it ended (ms since the epoch)"),
        Column("causes", "STRING", "its causes, separated by commas"),
        Column("joined_members", "INT", "how many members joined"),
        Column("left_members", "INT", "how many members left"),
        Column("moved_partitions", "INT", "how many partitions got another owner"),
        Column("avoidable_moves", "INT", "how many of these could have stayed"),
        Column("paused_partitions", "INT", "how many partitions were paused"),
        Column("pause_ms", "LONG", "for how long, summed over partitions (ms)"),
        Column("burst_records", "LONG", "how many records had accumulated by then"),
        Column("libraries", "STRING", "the client libraries of the group's members, separated by commas"),
    ),
)

MEMBER_CHANGES: Final = Table(
    "member_changes",
    "A member that joined or left a group.",
    (
        *OF_A_GROUP,
        Column("at_ms", "LONG", "the time of the record (ms since the epoch)"),
        Column("change", "STRING", "joined or left"),
        Column("generation", "LONG", "the generation (or epoch, or change) with which it did"),
        *_MEMBER,
    ),
)

REWINDS: Final = Table(
    "rewinds",
    "A commit of a lower offset than the one before it: the records between were delivered again.",
    (
        *OF_A_GROUP,
        Column("topic", "STRING", "the topic"),
        Column("partition_id", "STRING", "the partition"),
        Column("at_ms", "LONG", "when it was committed (ms since the epoch)"),
        Column("before_offset", "LONG", "the committed offset before"),
        Column("after_offset", "LONG", "the committed offset after"),
    ),
)

GROUP_MINUTES: Final = Table(
    "group_minutes",
    "A group at a full minute.",
    (
        *OF_A_GROUP,
        Column("at_ms", "LONG", "the minute (ms since the epoch)"),
        Column("group_kind", "STRING", "the kind of the group"),
        Column("state", "STRING", "the state of the group"),
        Column("generation", "LONG", "the generation, epoch or change"),
        Column("members", "INT", "the number of members"),
        Column("partitions", "INT", "the number of partitions that concern the group"),
        Column("orphaned_partitions", "INT", "how many of them had no owner, but should"),
        Column("lag", "LONG", "the lag in records (of MetaQ: bytes); null: not known"),
        Column("lag_ms", "LONG", "the age of the oldest record that waits (ms); null: not known"),
        Column("imbalance_ratio", "DOUBLE", "1.0 is as even as it can be; null: not known"),
        Column("is_rebalancing", "BOOLEAN", "whether a rebalance was known to be in progress"),
    ),
)

PARTITION_MINUTES: Final = Table(
    "partition_minutes",
    "A partition of a group at a full minute.",
    (
        *OF_A_GROUP,
        Column("topic", "STRING", "the topic"),
        Column("partition_id", "STRING", "the partition"),
        Column("at_ms", "LONG", "the minute (ms since the epoch)"),
        Column("committed_offset", "LONG", "the committed offset; null: none"),
        Column("end_offset", "LONG", "the end of the partition; null: not known"),
        Column("lag", "LONG", "the lag in records (of MetaQ: bytes); null: not known"),
        Column("lag_ms", "LONG", "the age of the oldest record that waits (ms); null: not known"),
        Column("owner", "STRING", "the member id of the owner; null: none"),
        Column("orphan", "STRING", "why no member owns it, although one should; null: otherwise"),
    ),
)

EVALUATED: Final = Table(
    "evaluated",
    "Ten minutes of which the tables have all rows. It is written last.",
    (
        *OF_A_GROUP[:2],
        Column("since_ms", "LONG", "the first instant (ms since the epoch)"),
        Column("until_ms", "LONG", "the last instant (ms since the epoch)"),
        Column("groups", "INT", "the number of groups that were evaluated"),
        Column("failed_groups", "INT", "how many could not be: they have no rows in these ten minutes"),
    ),
)

RECORDED: Final = (EVENTS, STATES, SETTINGS, REACH)
"""What is recorded: all else follows from these."""

TOLD: Final = (FINDINGS, FINDING_MEMBERS, REBALANCES, MEMBER_CHANGES, REWINDS, GROUP_MINUTES, PARTITION_MINUTES)
"""What follows, for questions in SQL."""

TABLES: Final = (*RECORDED, *TOLD, EVALUATED)


def day_of(at_ms: int) -> str:
    """The UTC date of an instant, as the tables are partitioned.

    >>> day_of(1_790_000_000_000)
    '2026-09-21'
    """
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d")

"""What a scenario is: a group, what is done to it when, and which findings that must cause. Only data.

Topics and members have short names here; on the stage they are prefixed with the scenario's name, which is also that of
its group. Times are seconds: of a step since all scenarios began, of a finding since the step that causes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from monitor.model import Value

AROUND_STALL_MS: Final = 5_000
"""How much longer than a consumer stood still it may seem to have: a record and a commit before, and one after it."""

Place = Literal["polite", "doomed"]
"""The process of a consumer. The doomed one is killed once, with all that are in it."""


class Action(Value, tag_field="do", tag=str.lower):
    """Something that is done to a group."""


class Start(Action):
    """A consumer begins, with one of three ways to subscribe (see tests/support/Crowd.java).

    ``pattern`` and ``regex`` are the part after the prefix. ``more`` is what else Crowd.java takes.
    """

    member: str
    props: Mapping[str, str]
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    regex: str | None = None
    where: Place = "polite"
    more: Mapping[str, Any] = {}


class Close(Action):
    """A consumer closes in good order: it leaves, unless it is a static member of a classic group."""

    member: str


class Sleep(Action):
    """A consumer never polls again; its heartbeats go on until its max.poll.interval.ms has passed."""

    member: str


class Hang(Action):
    """A consumer goes on with polling and heartbeats, but reads and commits nothing."""

    member: str


class Resume(Action):
    """One that hangs goes on."""

    member: str


class Rewind(Action):
    """A consumer goes back to offset 0 in all of its partitions, and commits that."""

    member: str


class Kill(Action):
    """The doomed process ends as by kill -9. It is one for all scenarios: the first of them kills it."""


class Grow(Action):
    """A topic gets more partitions: so many in all."""

    topic: str
    partitions: int


class Create(Action):
    """A new topic."""

    topic: str
    partitions: int


class DeleteTopic(Action):
    """A topic goes."""

    topic: str


class DeleteGroup(Action):
    """The group is deleted; it must have no members."""


class Burst(Action):
    """So many records into each partition of a topic, at once."""

    topic: str
    records: int


AnyAction = Start | Close | Sleep | Hang | Resume | Rewind | Kill | Grow | Create | DeleteTopic | DeleteGroup | Burst


class Step(Value):
    """An action, its moment, and the name by which findings refer to it.

    With ``members`` it waits until the group has so many and all of its partitions have an owner, if that comes.
    """

    at_s: float
    name: str
    action: AnyAction
    members: int | None = None


class Within(Value):
    """A time after a step, in seconds: at least and at most."""

    step: str
    least_s: float
    most_s: float


class Expected(Value):
    """A finding that must open once, and close once unless ``closes`` is None: then it must be open at the end.

    ``partitions`` are those that it tells while it is open, by topic. Of a lag that moves with the traffic, only a part
    of them may be told: ``all_told`` is False then.
    """

    kind: str
    reason: str
    opens: Within
    closes: Within | None = None
    partitions: Mapping[str, tuple[int, ...]] = {}
    all_told: bool = True


class Counted(Value):
    """By how much a counter of the group in /metrics rises in the story, at least and at most (None: any).

    ``name`` lacks what they all begin with, ``groupwatch_group_``. ``per_late_s`` is by how much more or less it may
    rise for each second of :attr:`Story.late_s`.
    """

    name: str
    least: float
    most: float | None
    per_late_s: float = 0.0


class Passing(Value):
    """A finding that may be seen while a rebalance is under way, any number of times, each for so long at most."""

    kind: str
    reason: str
    most_s: float


class Scenario(Value):
    """One group's story.

    ``topics`` and ``members`` are there before the job starts; members start one after the other, in this order.
    ``thresholds`` are those of its group alone, as an override of the job's settings.
    ``silent_topics`` get no records but those of bursts. ``rebalances`` are the fewest and the most (None: any) that
    the job may have counted from the beginning to the end; None: there must be no group any more. ``owned`` are how
    many partitions of a topic must have an owner at the end.
    """

    name: str
    why: str
    topics: Mapping[str, int]
    members: tuple[Start, ...] = ()
    steps: tuple[Step, ...] = ()
    expected: tuple[Expected, ...] = ()
    passing: tuple[Passing, ...] = ()
    rebalances: tuple[int, int | None] | None = (0, None)
    owned: Mapping[str, int] = {}
    silent_topics: tuple[str, ...] = ()
    counted: tuple[Counted, ...] = ()
    thresholds: Mapping[str, float] = {}


class Told(Value):
    """A record of the findings topic, with topics by their short names. Times are milliseconds since the epoch."""

    event: str
    kind: str
    reason: str
    at_ms: int
    since_ms: int
    sentence: str = ""
    partitions: Mapping[str, tuple[int, ...]] = {}


class Stall(Value):
    """A record waited very long for its consumer, and no step had asked for that: the machine stood still.

    ``member`` has its short name (see Crowd.java). Times are milliseconds since the epoch.
    """

    member: str
    from_ms: int
    until_ms: int

    def covers(self, from_ms: int, until_ms: int) -> bool:
        """Whether this is why nothing was committed from one instant to another.

        A commit comes every second, if a record came; one comes every two.

        >>> Stall("b", 10_000, 25_000).covers(7_000, 26_500), Stall("b", 10_000, 25_000).covers(7_000, 32_000)
        (True, False)
        """
        return self.from_ms - AROUND_STALL_MS <= from_ms and until_ms <= self.until_ms + AROUND_STALL_MS


class Story(Value):
    """What happened in a scenario: when each step was done, what was told of the group, and how it stood at the end.

    ``owners`` are the numbers of partitions with an owner by topic, as the API said at the end, and ``rebalances`` how
    many it counted since the beginning (None: it knew no such group); ``counted`` is by how much each of the group's
    counters rose, by its name as in Counted. ``late_s`` is how much later than on an idle machine something may have
    been told: all times at most are longer by that. ``stalls`` are those of the group's own consumers.
    """

    scenario: str
    began_ms: int
    ended_ms: int
    done_ms: Mapping[str, int] = {}
    told: tuple[Told, ...] = ()
    rebalances: int | None = None
    owners: Mapping[str, int] = {}
    late_s: float = 0.0
    counted: Mapping[str, float] = {}
    stalls: tuple[Stall, ...] = ()


def text_of(partitions: Mapping[str, tuple[int, ...]]) -> str:
    """Partitions as a person writes them.

    >>> text_of({"t": (2, 3), "u": (0,)})
    't 2,3; u 0'
    """
    return "; ".join(f"{topic} {','.join(map(str, numbers))}" for topic, numbers in sorted(partitions.items()))


as_json: Final = msgspec.to_builtins

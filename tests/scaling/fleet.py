"""A group that reads as fast as its members can, second by second: commits each 5 s, ends polled each 20 s.

Members read a share of all that waits, or batches, a partition after the other, as clients do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.model import Catalog, CommittedOffset, EndOffsetAt, GroupState, PartitionState, Phase, TopicState
from monitor.model.commit_history import with_commit
from monitor.model.scaling import ScaleMemory, ScaleTarget
from monitor.scaling.notes import ScaleNote, encode_note
from monitor.tracking.offsets.jumps import JumpsDraft, Readers
from monitor.tracking.topic import add_end
from tests.support.builders import ASSIGNED, CREATED, catalog, group, range_by_hand

COMMIT_S, POLL_S = 5, 20
TOPIC = "orders"

Rates = Callable[[int], Sequence[float]]
"""What comes into each partition in a second, by the seconds since the members joined."""


def notes_on(memories: Mapping[str, ScaleMemory]) -> dict[str, bytes]:
    """The notes of a job that remembers this of groups, and has no number of any."""
    return {name: encode_note(ScaleNote(memory)) for name, memory in memories.items()}


def as_notes(memory: ScaleMemory) -> dict[str, bytes]:
    """The same of one group, g."""
    return notes_on({"g": memory})


def even(partitions: int, per_second: float) -> Rates:
    return lambda _second: [per_second] * partitions


@dataclass
class Fleet:
    """``speeds`` is how many records each member reads in a second; the members share by Kafka's range rule."""

    rates: Rates
    speeds: Sequence[float]
    hosts: Sequence[str] = ()
    stuck: frozenset[int] = frozenset()
    """Partitions that nobody gets further in."""
    batch: int = 0
    """Each member reads so many records of one partition before those of the next; 0: of all at once."""
    commit_s: int = COMMIT_S
    phases: Sequence[int] = ()
    """So many seconds later each partition is committed: by a thread of its own; none: all at once."""
    poll_s: int = POLL_S
    second: int = 0
    ends: list[float] = field(init=False)
    read: list[float] = field(init=False)
    _commits: list[CommittedOffset] = field(init=False)
    _left: dict[int, tuple[int, float]] = field(default_factory=dict)
    """By member: the partition whose batch it reads, and how much of the batch is left."""
    _polls: list[tuple[EndOffsetAt, ...]] = field(init=False)

    def __post_init__(self) -> None:
        partitions = len(self.rates(0))
        self.ends, self.read = [0.0] * partitions, [0.0] * partitions
        self._commits = [CommittedOffset(TOPIC, place, 0, CREATED) for place in range(partitions)]
        self._polls = [(EndOffsetAt(CREATED, 0),)] * partitions

    @property
    def now_ms(self) -> int:
        return ASSIGNED + 1000 * self.second

    @property
    def owned(self) -> list[list[int]]:
        names = {f"m{number:02}": (TOPIC,) for number in range(len(self.speeds))}
        given = range_by_hand(names, {TOPIC: len(self.ends)})
        return [[int(p) for entry in each.assigned for p in entry.partitions] for each in given]

    def run(self, seconds: int) -> Fleet:
        owned = self.owned
        for _ in range(seconds):
            self.second += 1
            for place, rate in enumerate(self.rates(self.second)):
                self.ends[place] += rate
            for member, (own, speed) in enumerate(zip(owned, self.speeds, strict=True)):
                if self.batch:
                    self._read_batches(member, own, speed)
                else:
                    self._read([place for place in own if place not in self.stuck], speed)
            if self.second % self.poll_s == 0:
                self._poll()
            self._commit()
        return self

    def _read(self, own: list[int], speed: float) -> None:
        """As much as waits, else the speed in shares of what waits."""
        waiting = [self.ends[place] - self.read[place] for place in own]
        share = min(1.0, speed / max(sum(waiting), 1e-9))
        for place, each in zip(own, waiting, strict=True):
            self.read[place] += each * share

    def _read_batches(self, member: int, own: list[int], speed: float) -> None:
        """As much as the speed of the batch that was begun, then of those of the next partitions in which it waits."""
        place, left = self._left.get(member, (own[-1], 0.0))
        while any(self.read[each] < self.ends[each] for each in own):
            read = min(left, speed, self.ends[place] - self.read[place])
            self.read[place] += read
            left, speed = left - read, speed - read
            if speed <= 0:
                break
            place, left = own[(own.index(place) + 1) % len(own)], float(self.batch)
        self._left[member] = place, left

    def _poll(self) -> None:
        for place, end in enumerate(self.ends):
            self._polls[place] = add_end(self._polls[place], EndOffsetAt(self.now_ms, int(end)))

    def _commit(self) -> None:
        jumps = JumpsDraft()
        jumps.readers = Readers((), Phase.STABLE)
        for place, (before, read) in enumerate(zip(self._commits, self.read, strict=True)):
            if (self.second - (self.phases[place] if self.phases else 0)) % self.commit_s:
                continue
            if self.batch and before.history and int(read) == before.offset:
                continue  # Java's client commits what has changed
            self._commits[place] = replace(
                before,
                offset=int(read),
                committed_ms=self.now_ms,
                history=with_commit(before.history, self.now_ms, int(read)),
                jump=jumps.after_commit(before, int(read), self.now_ms),
            )

    @property
    def catalog(self) -> Catalog:
        partitions = [
            PartitionState(
                partition=place,
                first_seen_ms=CREATED,
                earliest=0,
                end=polls[-1].offset,
                ends=polls,
            )
            for place, polls in enumerate(self._polls)
        ]
        at_ms = self._polls[0][-1].at_ms
        return catalog(TopicState(cluster="c", topic=TOPIC, pass_ms=at_ms, partitions=tuple(partitions)), pass_ms=at_ms)

    @property
    def state(self) -> GroupState:
        names = {f"m{number:02}": (TOPIC,) for number in range(len(self.speeds))}
        members = range_by_hand(names, {TOPIC: len(self.ends)})
        hosts = self.hosts or [f"/10.0.0.{number + 1}" for number in range(len(members))]
        joined = [replace(each, host=host) for each, host in zip(members, hosts, strict=True)]
        return group(*joined, offsets=self._commits)

    def inputs(self, target: ScaleTarget | None = None, memory: ScaleMemory | None = None) -> GroupInputs:
        settings = DetectionSettings(scale=target)
        return GroupInputs(self.state, self.catalog, self.now_ms, settings, scale_memory=memory)

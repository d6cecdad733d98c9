"""Watching a system as the job does, without Spark: read, fold, judge, again and again; what was found when is kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Final, Self

from msgspec.structs import replace

from monitor.collectors.snapshot import SnapshotReader, SourceSnapshot
from monitor.detection import DetectionSettings, evaluate
from monitor.model import Catalog, FindingKind, GroupsListed, GroupState, GroupVerdict, TopicObserved, TopicState, Value
from monitor.tracking.group import fold_group
from monitor.tracking.polled.group import is_deleted
from monitor.tracking.topic import catalog_of, expire_topic, fold_topic

CLUSTER: Final = "watched"


class Found(Value):
    """A finding in the course of time, in milliseconds since the epoch. ``closed_ms`` None: it is still there.

    ``partitions`` are all that it ever named, as "TOPIC PARTITION", and ``members`` all members.
    """

    group: str
    kind: FindingKind
    reason: str
    opened_ms: int
    sentence: str
    partitions: frozenset[str] = frozenset()
    members: frozenset[str] = frozenset()
    closed_ms: int | None = None


class FindingHistory:
    """The findings of groups so far, each from its opening to its closing. No clock: verdicts carry their time."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, FindingKind, str], Found] = {}
        self._closed: list[Found] = []

    @property
    def found(self) -> tuple[Found, ...]:
        """All findings so far, the closed ones first."""
        return (*self._closed, *self._open.values())

    def take(self, verdicts: Iterable[GroupVerdict], now_ms: int) -> None:
        """The verdicts on all groups at an instant: what is not among their findings any more has closed."""
        now = {(each.group, each.kind, each.reason): each for verdict in verdicts for each in _found(verdict, now_ms)}
        for key in self._open.keys() - now.keys():
            self._closed.append(replace(self._open.pop(key), closed_ms=now_ms))
        for key, newest in now.items():
            before = self._open.get(key, newest)
            self._open[key] = replace(
                newest,
                opened_ms=before.opened_ms,
                partitions=before.partitions | newest.partitions,
                members=before.members | newest.members,
            )


class WatchedTopics:
    """The topics of a system so far, folded from one observation of all of them to the next."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._topics: dict[str, TopicState] = {}

    def take(self, observed: Iterable[TopicObserved]) -> None:
        """Fold observations in."""
        for seen in observed:
            topic = fold_topic(self._cluster, seen.topic, self._topics.get(seen.topic), [seen])
            if topic is not None:
                self._topics[seen.topic] = topic

    def expire(self, pass_ms: int) -> None:
        """Forget the topics that a complete pass has not seen."""
        after = {name: expire_topic(state, pass_ms) for name, state in self._topics.items()}
        self._topics = {name: state for name, state in after.items() if state is not None}

    def catalog(self, pass_ms: int) -> Catalog:
        """The topics as of this pass."""
        return catalog_of(self._cluster, pass_ms, self._topics.values())


class Judged:
    """The states of a system's groups and topics, and the findings so far. No clock: readings carry their time."""

    def __init__(self, settings: DetectionSettings | None = None) -> None:
        self._settings = settings or DetectionSettings()
        self._groups: dict[str, GroupState] = {}
        self._topics = WatchedTopics(CLUSTER)
        self._history = FindingHistory()
        self.verdicts: dict[str, GroupVerdict] = {}

    @property
    def found(self) -> tuple[Found, ...]:
        """All findings so far, the closed ones first."""
        return self._history.found

    def take(self, reading: SourceSnapshot, pass_ms: int, now_ms: int) -> None:
        """Fold a reading in, and judge all groups."""
        self._topics.take(reading.topics)
        for read in reading.groups:
            group = fold_group(CLUSTER, read.group, self._groups.get(read.group), [read])
            if group is not None:
                self._groups[read.group] = group
        if reading.complete:
            self._forget(reading, pass_ms, now_ms)
        self._judge(pass_ms, now_ms)

    def _forget(self, reading: SourceSnapshot, pass_ms: int, now_ms: int) -> None:
        named = frozenset(group.group for group in reading.groups)
        listed = GroupsListed(cluster=CLUSTER, source=reading.source, pass_ms=pass_ms, completed_ms=now_ms)
        self._groups = {name: state for name, state in self._groups.items() if not is_deleted(state, listed, named)}
        self._topics.expire(pass_ms)

    def _judge(self, pass_ms: int, now_ms: int) -> None:
        catalog = self._topics.catalog(pass_ms)
        self.verdicts = {name: evaluate(state, catalog, now_ms, self._settings) for name, state in self._groups.items()}
        self._history.take(self.verdicts.values(), now_ms)


class Watch:
    """Reads a system in a thread of its own, at a fixed rhythm, until the end of a ``with`` block."""

    def __init__(
        self, reader: SnapshotReader, *, settings: DetectionSettings | None = None, interval_s: float = 1.0
    ) -> None:
        self._reader = reader
        self._judged = Judged(settings)
        self._interval_s = interval_s
        self._over = threading.Event()
        self._news = threading.Condition()
        self._failure: Exception | None = None
        self.passes = 0
        self.problems: tuple[str, ...] = ()
        self.longest_read_s = 0.0
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join(60)
        self._reader.close()

    def verdict(self, group: str) -> GroupVerdict | None:
        """The newest verdict on a group; None: it is not known."""
        with self._news:
            self._check()
            return self._judged.verdicts.get(group)

    def verdicts(self) -> dict[str, GroupVerdict]:
        """The newest verdicts, by group."""
        with self._news:
            self._check()
            return dict(self._judged.verdicts)

    def found(self, *groups: str, since_ms: int = 0) -> tuple[Found, ...]:
        """What was found of these groups (none named: of all) and not closed before that instant."""
        with self._news:
            self._check()
            return tuple(
                each
                for each in self._judged.found
                if (not groups or each.group in groups) and (each.closed_ms is None or each.closed_ms >= since_ms)
            )

    def now(self, *groups: str) -> tuple[Found, ...]:
        """What the newest pass finds of these groups."""
        return tuple(each for each in self.found(*groups) if each.closed_ms is None)

    def pass_time(self, seconds: float) -> None:
        """Watch for so long, and then for two more passes."""
        time.sleep(seconds)
        passes = self.passes
        self.until(lambda: self.passes > passes + 1, "two more passes")

    def until(self, holds: Callable[[], object], what: str, limit_s: float = 60) -> float:
        """Wait until something is so, asked after every pass; how long it took, in seconds."""
        began = time.monotonic()
        with self._news:
            while not holds():
                self._check()
                left = began + limit_s - time.monotonic()
                if left <= 0:
                    raise AssertionError(f"not seen within {limit_s} s: {what}\n{self.told()}")
                self._news.wait(min(left, 5))
        return time.monotonic() - began

    def until_shared(self, group: str, *members: str, limit_s: float = 60) -> float:
        """Wait until exactly these members are there, by the ends of their ids, and everything has an owner."""

        def is_shared() -> bool:
            verdict = self.verdict(group)
            if verdict is None or len(verdict.members) != len(members):
                return False
            ids = [member.member_id for member in verdict.members]
            return (
                all(any(each.endswith(member) for each in ids) for member in members)
                and bool(verdict.partitions)
                and all(len(row.owners) == 1 for row in verdict.partitions)
            )

        return self.until(is_shared, f"{group} shared by {members}", limit_s)

    def told(self, *groups: str) -> str:
        """Everything found and the newest state, for a person who reads a failed test."""
        at_ms = now_ms()
        with self._news:
            lines = [_line(each, at_ms) for each in self._judged.found if not groups or each.group in groups]
            for name, verdict in sorted(self._judged.verdicts.items()):
                if not groups or name in groups:
                    held = {m.member_id: m.partitions for m in verdict.members}
                    lines.append(f"{name}: {verdict.state} {verdict.expectation} {verdict.assignor} {held}")
        return "\n".join([f"{self.passes} passes, longest {self.longest_read_s:.1f} s", *self.problems, *lines])

    def _run(self) -> None:
        while not self._over.is_set():
            began, pass_ms = time.monotonic(), now_ms()
            try:
                reading = self._reader.read(pass_ms)
            except Exception as error:
                with self._news:
                    self._failure = error
                    self._news.notify_all()
                return
            with self._news:
                self.longest_read_s = max(self.longest_read_s, time.monotonic() - began)
                self._judged.take(reading, pass_ms, now_ms())
                self.problems = reading.problems
                self.passes += 1
                self._news.notify_all()
            self._over.wait(max(0.0, began + self._interval_s - time.monotonic()))

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure


def _found(verdict: GroupVerdict, now_ms: int) -> Iterable[Found]:
    for finding in verdict.findings:
        yield Found(
            group=verdict.group,
            kind=finding.kind,
            reason=finding.reason,
            opened_ms=now_ms,
            sentence=finding.sentence,
            partitions=frozenset(f"{place.topic} {place.partition}" for place in finding.partitions),
            members=frozenset(finding.members),
        )


def _line(found: Found, now_ms: int) -> str:
    opened = (found.opened_ms - now_ms) / 1000
    closed = "open" if found.closed_ms is None else f"until {(found.closed_ms - now_ms) / 1000:.1f} s"
    return f"{found.group}: {found.kind}/{found.reason} {opened:.1f} s {closed}: {found.sentence}"


def now_ms() -> int:
    """The wall clock, in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000

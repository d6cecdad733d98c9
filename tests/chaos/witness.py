"""What a job serves at each second, held against what was true then, by the log of offsets itself.

The log is read by two lines of the format's documentation, not by what is tested.
"""

from __future__ import annotations

import bisect
import struct
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Self

from tests.support.job_process import JobProcess, Samples

STEP_S: Final = 0.5
READ_WITHIN_S: Final = 15.0
"""How old a commit is when a job that reads shows it, at most, on a machine on which others are killed and started."""
TOLD_WITHIN_S: Final = 35.0
"""When a job that does not read says so, at the latest: the documented 30 s, and the time of two looks."""
AFTERWARDS_S: Final = 2.0
"""A commit has its time before it is appended, and is shown after that."""

Place = tuple[str, str, int]
Commits = dict[Place, list[tuple[float, int | None]]]
"""What was committed in each partition of a group, with its time (s); None: deleted."""


@dataclass(frozen=True)
class Seen:
    """One look at /metrics."""

    at_s: float
    is_up: bool
    evaluated_s: float
    committed: dict[Place, int]
    groups: frozenset[str]


@dataclass
class Witness:
    """Looks twice a second for the time of a ``with`` block; a job that does not answer is not asked again."""

    job: JobProcess
    cluster: str
    seen: list[Seen] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._look, name="witness", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _look(self) -> None:
        while not self._stop.wait(STEP_S):
            at_s = time.time()
            try:
                samples = self.job.metrics()
            except OSError:
                continue
            look = seen_in(samples, self.cluster, at_s)
            if look is not None:
                self.seen.append(look)


def seen_in(samples: Samples, cluster: str, at_s: float) -> Seen | None:
    """What a reading of the metrics says of a cluster; None before it is ready."""
    evaluated_s = samples.value("groupwatch_last_evaluation_timestamp_seconds", cluster=cluster)
    if evaluated_s is None or not samples.value("groupwatch_ready", cluster=cluster):
        return None
    found = samples.all("groupwatch_partition_committed_offset", cluster=cluster)
    return Seen(
        at_s=at_s,
        is_up=samples.value("groupwatch_up", cluster=cluster) == 1,
        evaluated_s=evaluated_s,
        committed={place_of(each.labels): int(each.value) for each in found},
        groups=frozenset(
            each.labels["group"] for each in samples.all("groupwatch_group_state", cluster=cluster) if each.value
        ),
    )


def place_of(labels: dict[str, str]) -> Place:
    return labels["group"], labels["topic"], int(labels["partition"])


def commits_in(records: Iterable[tuple[bytes | None, bytes | None, int]]) -> Commits:
    """The commits of a log, from its records' keys, values and times (ms), in its order."""
    found: Commits = defaultdict(list)
    for key, value, timestamp_ms in records:
        place = place_in(key or b"")
        if place is not None:
            offset = None if value is None else struct.unpack_from(">q", value, 2)[0]
            found[place].append((timestamp_ms / 1000, offset))
    return found


def place_in(key: bytes) -> Place | None:
    """Of a commit's key (int16 1, group, topic, int32 partition); None: the key of something else, or of nothing."""
    try:
        (version,) = struct.unpack_from(">h", key)
        group, position = text_at(key, 2)
        topic, position = text_at(key, position)
        (partition,) = struct.unpack_from(">i", key, position)
    except (struct.error, UnicodeDecodeError):
        return None
    return (group, topic, partition) if version in (0, 1) and position + 4 == len(key) else None


def text_at(data: bytes, position: int) -> tuple[str, int]:
    (length,) = struct.unpack_from(">h", data, position)
    end = position + 2 + length
    if length < 0 or end > len(data):
        raise struct.error
    return data[position + 2 : end].decode(), end


def contradictions(seen: Iterable[Seen], commits: Commits) -> Iterator[str]:
    """What was served and had not been so for longer than is documented."""
    for look in seen:
        oldest_s = min(look.evaluated_s, look.at_s) - READ_WITHIN_S
        if look.is_up:
            oldest_s = max(oldest_s, look.at_s - TOLD_WITHIN_S)
        for place, offset in look.committed.items():
            true = values_between(commits.get(place, []), oldest_s, look.at_s + AFTERWARDS_S)
            if offset not in true:
                was = sorted(map(str, true))
                yield f"{look.at_s:.1f}: {place} is served as {offset}, and was {was} (up: {look.is_up})"
        for place, known in commits.items():
            was_there = known[0][0] < oldest_s and None not in values_between(known, oldest_s, look.at_s)
            if was_there and place[0] not in look.groups:
                yield f"{look.at_s:.1f}: the group {place[0]} is not served"


def values_between(known: list[tuple[float, int | None]], begin_s: float, end_s: float) -> set[int | None]:
    """The values that were true at any time of a span."""
    begin = max(0, bisect.bisect_right(known, begin_s, key=lambda each: each[0]) - 1)
    end = bisect.bisect_right(known, end_s, key=lambda each: each[0])
    return {value for _, value in known[begin:end]}

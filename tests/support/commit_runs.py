"""Commits of partition 0 of topic t in group g: one by one, and as the runs that the decoder makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from monitor.model import CommitRun, OffsetCommitted
from monitor.protocol.kafka.commit_runs import combine_commits

Commit = tuple[int, int]
"""When, and which offset."""


def run_of(commits: Sequence[Commit], topic_key: int | None = None) -> Iterator[CommitRun]:
    times, offsets = (np.array(column, np.int64) for column in zip(*commits, strict=True))
    same = np.zeros(len(commits), dtype=np.int64)
    for run in combine_commits(same, offsets, times, same):
        yield CommitRun(
            group="g",
            topic="t",
            partition=0,
            first=run.first,
            points=run.points,
            commits=run.commits,
            rewinds=run.rewinds,
            last_rewind=run.last_rewind,
            rewound=run.rewound,
            topic_key=topic_key,
            first_rewind=run.first_rewind,
            second=run.second,
            fastest=run.fastest,
            standstill=run.standstill,
            lowest=run.lowest,
            jumps=run.jumps,
        )


def single(commits: Sequence[Commit]) -> Iterator[OffsetCommitted]:
    for at_ms, offset in commits:
        yield OffsetCommitted(group="g", topic="t", partition=0, offset=offset, committed_ms=at_ms)

"""The queries of Spark Structured Streaming as groups: Spark keeps its offsets in its checkpoint and commits none.

A micro-batch is done when its file is in ``commits``; what it has read is in ``offsets`` under the same number. The
group has no members: a query is one program, and it does not matter which of its executors reads what.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from monitor.collectors.clock import wall_clock_ms
from monitor.collectors.snapshot import SourceSnapshot
from monitor.collectors.spark.checkpoint_files import CheckpointFiles, CheckpointUnreadable, LocalFiles
from monitor.config.systems import SparkQueriesSettings
from monitor.model import GroupKind, GroupObserved, Source, Value
from monitor.protocol.spark_offsets import QueryOffsets, newest_first, read_query_offsets
from monitor.protocol.wire.errors import DecodeError

LARGEST_FILE: Final = 32 << 20
"""Room for more than a million partitions; what is larger is no offset log."""

TRIES: Final = 3
"""How many batches are tried, the newest first. The newest may be deleted, or half written where renaming is no single
step, and one before it has nearly the same offsets."""


class _Query(Value):
    """What was found in a checkpoint: None if no batch was committed yet. ``problem``: of the newest."""

    offsets: QueryOffsets | None = None
    problem: str | None = None


class SparkCheckpointReader:
    """Reads the checkpoints of some queries."""

    def __init__(
        self,
        settings: SparkQueriesSettings,
        files: CheckpointFiles | None = None,
        clock: Callable[[], int] = wall_clock_ms,
    ) -> None:
        """Prepare.

        Args:
            settings: which checkpoints, and which cluster's topics the queries read.
            files: the file system; None: that of this machine.
            clock: gives the time in milliseconds since the epoch.
        """
        self._settings = settings
        self._files = files or LocalFiles()
        self._cluster = settings.cluster
        self._clock = clock

    def read(self, pass_ms: int) -> SourceSnapshot:
        """Every query of which a batch was committed. One whose checkpoint cannot be read stays as it was known."""
        groups, problems = [], []
        for name, checkpoint in sorted(self._settings.checkpoints.items()):
            observed_ms = max(pass_ms, self._clock())
            found = self._query(checkpoint.rstrip("/"))
            if found.problem is not None:
                problems.append(f"Spark query {name!a}: {found.problem}")
            if found.offsets is not None:
                groups.append(self._group_observed(name, found.offsets, pass_ms, observed_ms))
        return SourceSnapshot(
            source=Source.CHECKPOINT,
            groups=tuple(groups),
            complete=not problems,
            problems=tuple(problems),
            listed=tuple(sorted(self._settings.checkpoints)),
        )

    def close(self) -> None:
        """Nothing is open between two readings."""

    def _group_observed(self, name: str, offsets: QueryOffsets, pass_ms: int, observed_ms: int) -> GroupObserved:
        return GroupObserved(
            cluster=self._cluster,
            group=name,
            kind=GroupKind.SPARK,
            source=Source.CHECKPOINT,
            pass_ms=pass_ms,
            observed_ms=observed_ms,
            offsets=offsets.offsets,
            protocol_type="spark",
        )

    def _query(self, checkpoint: str) -> _Query:
        """The newest committed batch whose offsets can be read."""
        problem: str | None = None
        try:
            for batch in newest_first(self._files.names(f"{checkpoint}/commits"), TRIES):
                path = f"{checkpoint}/offsets/{batch}"
                found = self._offsets(path)
                if isinstance(found, QueryOffsets):
                    return _Query(offsets=found, problem=problem)
                problem = problem or found
        except CheckpointUnreadable as error:
            problem = problem or str(error)
        return _Query(problem=problem)

    def _offsets(self, path: str) -> QueryOffsets | str:
        """The offsets in a file, or why there are none."""
        data = self._files.read(path, LARGEST_FILE)
        if data is None:
            return f"{path} is missing although its batch is committed."
        if len(data) > LARGEST_FILE:
            return f"{path} has more than {LARGEST_FILE >> 20} MB, too large for an offset log."
        try:
            return read_query_offsets(data)
        except DecodeError as error:
            return f"{path} is not a readable offset log ({error})."

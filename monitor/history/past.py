"""Questions to the recording in a folder."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from monitor.detection.evaluation_input import GroupInputs
from monitor.history.chronicle.values import Chronicle
from monitor.history.chronicle.writer import chronicle_of
from monitor.history.cluster_then import ClusterThen
from monitor.history.replay import inputs_at
from monitor.history.report.assemble import group_report
from monitor.history.report.facts import IncidentReport
from monitor.history.sql.days import read_days
from monitor.history.work_limit import (
    JOB_LIMIT,
    Check,
    TooMuchWorkError,
    TooSlowError,
    WorkLimit,
    cpu_used_up,
    no_check,
    time_used_up,
)
from monitor.snapshot_file import Evaluated

if TYPE_CHECKING:
    from monitor.history.delta_tables import DeltaRecording


class RecordedPast:
    """The recording in a folder. It is opened for each question: tables grow, and questions are few.

    A question that takes more work than ``limit`` raises TooMuchWorkError, and one that takes too long TooSlowError
    (limit None: there is no limit).
    """

    def __init__(self, folder: str, limit: WorkLimit | None = JOB_LIMIT) -> None:
        self._folder = folder
        self._limit = limit

    def inputs(self, cluster: str, group: str, at_ms: int) -> GroupInputs | None:
        """What the verdict on a group was made of at an instant; see :func:`monitor.history.replay.inputs_at`."""
        recording = self._open()
        found = inputs_at(recording, cluster, group, at_ms)
        return found and replace(found, state_ms=recording.state_ms(cluster, at_ms))

    def chronicle(self, cluster: str, group: str, since_ms: int, until_ms: int) -> Chronicle | None:
        """What happened to a group in a span of time; see :func:`monitor.history.chronicle.writer.chronicle_of`."""
        return chronicle_of(self._open(), cluster, group, since_ms, until_ms, self._check())

    def days(self, cluster: str, group: str, since_ms: int, until_ms: int) -> Chronicle | None:
        """The same of days, as far as they are evaluated; see :func:`monitor.history.sql.days.read_days`."""
        return read_days(self._open().sql_tables, cluster, group, since_ms, until_ms)

    def report(self, cluster: str, group: str, since_ms: int, until_ms: int) -> IncidentReport | None:
        """A report on the same; see :func:`monitor.history.report.assemble.group_report`."""
        return group_report(self._open(), cluster, group, since_ms, until_ms, self._check())

    def clusters(self, at_ms: int) -> list[Evaluated]:
        """All clusters of the recording at an instant, with the groups that may have been there.

        Raises:
            RecordingError: the recording cannot be read, or does not reach until then.
        """
        recording = self._open()
        found = []
        for cluster in recording.clusters():
            held = recording.hold(cluster, at_ms, at_ms)
            found.append(Evaluated(inputs=ClusterThen(held, cluster, at_ms), groups=tuple(held.groups)))
        return found

    def _open(self) -> DeltaRecording:
        from monitor.history.delta_tables import DeltaRecording  # noqa: PLC0415 -- 0.1 s that most starts need not

        return DeltaRecording(self._folder, None if self._limit is None else self._limit.most_bytes)

    def _check(self) -> Check:
        return no_check if self._limit is None else _check_of(self._limit, self._folder)


def _check_of(limit: WorkLimit, folder: str) -> Check:
    """The check of a question that begins now in this process, which answers no other one meanwhile."""
    began_s, began_cpu_s = time.monotonic(), time.process_time()
    got_to: int | None = None

    def check(at_ms: int | None) -> None:
        nonlocal got_to
        got_to = at_ms or got_to
        used_s = time.process_time() - began_cpu_s
        if used_s > limit.most_cpu_s:
            raise TooMuchWorkError(cpu_used_up(folder, limit.most_cpu_s, got_to))
        if time.monotonic() - began_s > limit.most_s:
            raise TooSlowError(time_used_up(folder, limit.most_s, used_s, got_to))

    return check

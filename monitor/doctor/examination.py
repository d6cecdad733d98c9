"""The one-time look: one reading, and a second one if a finding depends on what changes meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final

from msgspec.structs import replace

from monitor.collectors.errors import CollectorError
from monitor.doctor.diagnosis import Diagnosis, diagnose
from monitor.doctor.reader import ClusterReader
from monitor.doctor.reading import ClusterState, fold_reading

PAUSE_S: Final = 5.5
"""The pause before a second reading: longer than the commit interval of Kafka's Java client (5 s)."""

BUDGET_S: Final = 8.5
"""So many seconds after the start of the look, the second reading should have ended."""

WATCH_S: Final = 5.0
"""The time between the starts of two readings of ``--watch``."""


class Examination:
    """Reads a cluster and judges its groups, as often as it is called."""

    def __init__(self, reader: ClusterReader, cluster: str, only: str | None = None) -> None:
        """Prepare.

        Args:
            reader: reads the cluster.
            cluster: its name, for sentences.
            only: the one group to judge; None: all.
        """
        self._reader = reader
        self._only = only
        self._state = ClusterState(cluster=cluster)
        self._first: ClusterState | None = None
        self._readings = 0

    def look(self) -> Diagnosis:
        """Read once more, and judge.

        Raises:
            ConfigError: the client properties cannot be used.
            CollectorError: the cluster does not answer, or refuses.
        """
        self._state = fold_reading(self._state, self._reader.read())
        self._first = self._first or self._state
        self._readings += 1
        before = self._first.groups if self._readings > 1 else None
        return diagnose(self._state, self._readings, before=before, only=self._only)

    def reconnect(self) -> None:
        """Close the connections; the next look opens new ones."""
        self._reader.close()


def first_answer(examination: Examination, wait: Callable[[float], object] = time.sleep) -> Diagnosis:
    """One look, or two if a finding is not certain: a commit in between may refute it.

    Raises:
        ConfigError: as :meth:`Examination.look`.
        CollectorError: as there, of the first look.
    """
    began_s = time.monotonic()
    diagnosis = examination.look()
    took_s = time.monotonic() - began_s
    pause_s = min(PAUSE_S, BUDGET_S - 2 * took_s)
    if diagnosis.is_certain or pause_s <= 0:
        return diagnosis
    wait(pause_s)
    try:
        return examination.look()
    except CollectorError as error:
        return _with_problem(diagnosis, str(error))


def renewed_answers(examination: Examination, wait: Callable[[float], object] = time.sleep) -> Iterator[Diagnosis]:
    """A look every few seconds, without end. While the cluster does not answer, the last one with that problem.

    Raises:
        ConfigError: as :meth:`Examination.look`.
        CollectorError: as there, of the first look.
    """
    last: Diagnosis | None = None
    while True:
        began_s = time.monotonic()
        try:
            last = examination.look()
            yield last
        except CollectorError as error:
            if last is None:
                raise
            examination.reconnect()
            yield _with_problem(last, str(error))
        wait(max(0.0, began_s + WATCH_S - time.monotonic()))


def _with_problem(diagnosis: Diagnosis, problem: str) -> Diagnosis:
    return replace(diagnosis, problems=(problem,))

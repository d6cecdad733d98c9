"""The one-time look: one reading, and a second one if a finding depends on what changes meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from msgspec.structs import replace

from monitor.collectors.errors import CollectorError
from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.doctor.diagnosis import Diagnosis, diagnose
from monitor.doctor.reading import ClusterState, Reading, fold_reading

PAUSE_S: Final = 5.5
"""The pause before a second reading: longer than the commit interval of Kafka's Java client (5 s)."""


class Reader(Protocol):
    """Reads a cluster, as :class:`monitor.doctor.reader.ClusterReader` does."""

    def read(self) -> Reading:
        """One reading. Raises ConfigError and CollectorError as ClusterReader does."""

    def close(self) -> None:
        """Close the connections; the next reading opens new ones."""


class Examination:
    """Reads a cluster and judges its groups, as often as it is called."""

    def __init__(
        self, reader: Reader, cluster: str, only: str | None = None, settings: DetectionSettings | None = None
    ) -> None:
        """Prepare.

        Args:
            reader: reads the cluster.
            cluster: its name, for sentences.
            only: the one group to judge; None: all.
            settings: the thresholds, and changed ages of alerts; None: the defaults.
        """
        self._reader = reader
        self._settings = settings
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
        before = self._first if self._readings > 1 else None
        return diagnose(self._state, self._readings, before=before, only=self._only, settings=self._settings)

    @property
    def state(self) -> ClusterState:
        """The cluster, as all readings until now have shown it."""
        return self._state

    def inputs(self, group: str) -> GroupInputs | None:
        """What the verdict on a group is made of, after the last look; None: it was not read, or it rebalances."""
        found = self._state.groups.get(group)
        if found is None or group in self._state.rebalancing:
            return None
        settings = self._settings or DetectionSettings()
        return GroupInputs(found, self._state.catalog(), self._state.pass_ms, settings)

    def reconnect(self) -> None:
        """Close the connections; the next look opens new ones."""
        self._reader.close()


def first_answer(
    examination: Examination,
    wait: Callable[[float], object] = time.sleep,
    announce: Callable[[float], object] = lambda seconds: None,
) -> Diagnosis:
    """One look, or two if something may be a finding: a commit in between refutes it.

    A shorter pause would miss the commits of consumers that work. How long a reading takes changes nothing: what one
    reading cannot confirm is never a finding.

    Args:
        examination: reads and judges.
        wait: waits for so many seconds.
        announce: is called before the wait, with its seconds.

    Raises:
        ConfigError: as :meth:`Examination.look`.
        CollectorError: as there, of the first look.
    """
    diagnosis = examination.look()
    if diagnosis.is_certain:
        return diagnosis
    announce(PAUSE_S)
    wait(PAUSE_S)
    return _renewed_answer(examination, diagnosis)


def _renewed_answer(examination: Examination, last: Diagnosis) -> Diagnosis:
    """A new look; if the cluster does not answer, the last one with that problem."""
    try:
        return examination.look()
    except CollectorError as error:
        return _with_problem(last, str(error))


def renewed_answers(examination: Examination, wait: Callable[[float], object] = time.sleep) -> Iterator[Diagnosis]:
    """A look, a pause of ``PAUSE_S``, and so on. While the cluster does not answer, the last look with that problem.

    Raises:
        ConfigError: as :meth:`Examination.look`.
        CollectorError: as there, of the first look.
    """
    last: Diagnosis | None = None
    while True:
        try:
            last = examination.look()
            yield last
        except CollectorError as error:
            if last is None:
                raise
            examination.reconnect()
            yield _with_problem(last, str(error))
        wait(PAUSE_S)


def _with_problem(diagnosis: Diagnosis, problem: str) -> Diagnosis:
    return replace(diagnosis, problems=(*diagnosis.problems, problem))

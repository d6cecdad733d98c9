"""The lists of the newest evaluations, worked out once for all who ask. For all threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from monitor.model import ClusterSnapshot, Snapshot
from monitor.web.api.lists import ApiLists, Cut, Place, Row, Wanted, encoded
from monitor.web.api.response import JsonAnswer

MOST_KEPT: Final = 8
"""So many answers are kept until a cluster is judged again. A list of 10,000 groups takes 2 MB or so."""


@dataclass(frozen=True)
class Listed:
    """A list as JSON, how many rows match in all, and the place after which the rest comes (None: there is no rest)."""

    answer: JsonAnswer
    matching: int
    after: Place | None


class KeptLists:
    """Gives lists of a snapshot, mostly the newest. Two who ask for the same at once wait for one answer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clusters: tuple[ClusterSnapshot, ...] = ()
        self._lists = ApiLists(())
        self._answers: OrderedDict[tuple[str, Wanted], Listed] = OrderedDict()

    def groups(self, snapshot: Snapshot, wanted: Wanted) -> Listed:
        """The groups that match."""
        return self._listed("groups", snapshot, wanted, lambda lists: _listed(lists.groups(wanted)))

    def findings(self, snapshot: Snapshot, wanted: Wanted) -> Listed:
        """The findings that match."""
        return self._listed("findings", snapshot, wanted, lambda lists: _listed(lists.findings(wanted)))

    def libraries(self, snapshot: Snapshot, wanted: Wanted) -> Listed:
        """The client libraries of the clusters that match."""
        return self._listed("libraries", snapshot, wanted, lambda lists: _listed(lists.libraries(wanted)))

    def _listed(self, name: str, snapshot: Snapshot, wanted: Wanted, work: Callable[[ApiLists], Listed]) -> Listed:
        with self._lock:
            self._renew(snapshot.clusters)
            known = self._answers.get((name, wanted))
            if known is None:
                known = self._answers[name, wanted] = work(self._lists)
                if len(self._answers) > MOST_KEPT:
                    self._answers.popitem(last=False)
            self._answers.move_to_end((name, wanted))
            return known

    def _renew(self, clusters: tuple[ClusterSnapshot, ...]) -> None:
        """Start again if a list could differ. Some data is in no list, for example the health of a collector."""
        if not _same_groups(self._clusters, clusters):
            self._lists = ApiLists(clusters)
            self._answers.clear()
        self._clusters = clusters


def _same_groups(before: Sequence[ClusterSnapshot], now: Sequence[ClusterSnapshot]) -> bool:
    return len(before) == len(now) and all(
        old.groups is new.groups
        and (old.cluster, old.ready, old.evaluated_ms) == (new.cluster, new.ready, new.evaluated_ms)
        for old, new in zip(before, now, strict=True)
    )


def _listed(cut: Cut[Row]) -> Listed:
    return Listed(answer=JsonAnswer(encoded(cut.rows)), matching=cut.matching, after=cut.after)

"""The clusters that a list covers. One that is away must not hide the others, and none is left out in silence.

A list of all clusters has those whose groups are known, and names the others in a header. A list of named clusters is
refused while nothing is known of one of them, and so is a snapshot, which is kept as a file without headers. A list
that is as old as to be called stale says so in a header.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from monitor.model import ClusterSnapshot, Snapshot, Value
from monitor.web.api.endpoints import PARTIAL
from monitor.web.views.query import Query
from monitor.web.views.snapshot_source import NotKnownYet, named

NOT_READY: Final = "X-Not-Ready"
STALE: Final = "X-Stale"

_HINT: Final = "With partial=1, the response leaves them out."


class ChosenClusters(Value):
    """The chosen clusters whose groups are ``known``, and the others; ``are_all``: no parameter chose."""

    known: tuple[ClusterSnapshot, ...]
    left_out: tuple[ClusterSnapshot, ...]
    are_all: bool

    @property
    def names(self) -> tuple[str, ...]:
        """Which a list is to be limited to; (): it need not be."""
        return () if self.are_all else tuple(each.cluster for each in self.known)

    def headers(self, now_ms: int) -> Mapping[str, str]:
        """What a client should know beside the list: the clusters that it leaves out, and those that are stale."""
        stale = [each for each in self.known if each.is_stale(now_ms)]
        of_header = ((NOT_READY, self.left_out), (STALE, stale))
        return {header: _as_header(clusters) for header, clusters in of_header if clusters}


def chosen_clusters(
    snapshot: Snapshot, query: Query, *, to_judge: bool = False, is_whole: bool = False
) -> ChosenClusters:
    """The clusters that the parameters ``cluster`` name, all if there are none.

    ``to_judge``: their groups must be such that each can be judged again, which an evaluation of before a restart is
    not enough for. ``is_whole``: none is left out unless the query says ``partial``.

    Raises:
        HTTPException: 404, one is not watched; 503 (NotKnownYet), the groups of none are known, or those of one are
            not that may not be left out.
    """
    names = query.texts("cluster")
    chosen: Sequence[ClusterSnapshot] = [named(snapshot, name) for name in names] if names else snapshot.clusters
    known = tuple(each for each in chosen if (each.ready if to_judge else each.is_known))
    left_out = tuple(each for each in chosen if each not in known)
    if not known:
        raise NotKnownYet(left_out)
    may_leave_out = not (names or is_whole) if query.text(PARTIAL) is None else query.is_on(PARTIAL)
    if left_out and not may_leave_out:
        raise NotKnownYet(left_out, _HINT)
    return ChosenClusters(known=known, left_out=left_out, are_all=not names)


def _as_header(clusters: Iterable[ClusterSnapshot]) -> str:
    """Names in a list, each percent-encoded: a header holds only ASCII, and a name may have a comma."""
    return ", ".join(quote(each.cluster, safe="", errors="replace") for each in clusters)

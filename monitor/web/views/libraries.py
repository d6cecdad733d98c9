"""The client libraries of each cluster, as a page shows them. Pure."""

from __future__ import annotations

from typing import Final

from monitor.model import ClusterSnapshot, LibraryUse, Value
from monitor.web.views.group_list import Listing
from monitor.web.views.overview import ClusterLine, cluster_line
from monitor.web.views.status import shard_sentence

SHOWN_USES: Final = 100
"""The rows of a cluster, unless the page is to list all. Releases in client ids can make any number."""


class ClusterLibraries(Value):
    """A cluster with the libraries of its members, most members first; () also while its groups are not known.

    ``hidden`` more are not listed.
    """

    line: ClusterLine
    is_known: bool
    uses: tuple[LibraryUse, ...]
    hidden: int


class LibrariesPage(Value):
    """The whole page. ``share`` says which groups are elsewhere, None if none is."""

    clusters: tuple[ClusterLibraries, ...]
    share: str | None


def libraries_page(listing: Listing, now_ms: int, limit: int | None) -> LibrariesPage:
    """All clusters in the order of the overview, each with at most so many libraries."""
    snapshot = listing.snapshot
    return LibrariesPage(
        clusters=tuple([_cluster_libraries(listing, cluster, now_ms, limit) for cluster in snapshot.clusters]),
        share=None if snapshot.shard.is_all else shard_sentence(snapshot.shard),
    )


def _cluster_libraries(listing: Listing, cluster: ClusterSnapshot, now_ms: int, limit: int | None) -> ClusterLibraries:
    uses = tuple([use for use in listing.libraries if use.cluster == cluster.cluster])
    return ClusterLibraries(
        line=cluster_line(cluster, now_ms),
        is_known=cluster.is_known,
        uses=uses[:limit],
        hidden=0 if limit is None else max(0, len(uses) - limit),
    )

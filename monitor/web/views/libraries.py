"""The client libraries of each cluster, as a page shows them. Pure."""

from __future__ import annotations

from typing import Final

from monitor.model import ClusterSnapshot, LibraryUse, Value
from monitor.web.views.addresses import PAGE, GroupAddress
from monitor.web.views.group_list import Listing
from monitor.web.views.overview import ClusterLine, cluster_line
from monitor.web.views.status import shard_sentence

SHOWN_USES: Final = 100
"""The rows of a cluster, unless the page is to list all. Releases in client ids can make any number."""


SHOWN_GROUPS: Final = 5
"""The groups of a library that its row names; the JSON has all."""


class GroupLink(Value):
    """A group with the address of its page."""

    group: str
    href: str


class UsedLibrary(Value):
    """A library, and the first groups of those that use it; ``more`` are not named."""

    use: LibraryUse
    groups: tuple[GroupLink, ...]
    more: int


class ClusterLibraries(Value):
    """A cluster with the libraries of its members, most members first; () also while its groups are not known.

    ``hidden`` more are not listed.
    """

    line: ClusterLine
    is_known: bool
    uses: tuple[UsedLibrary, ...]
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
        uses=tuple(map(_used_library, uses[:limit])),
        hidden=0 if limit is None else max(0, len(uses) - limit),
    )


def _used_library(use: LibraryUse) -> UsedLibrary:
    names = use.group_names[:SHOWN_GROUPS]
    links = tuple([GroupLink(name, GroupAddress(use.cluster, name).under(PAGE)) for name in names])
    return UsedLibrary(use, links, len(use.group_names) - len(links))

"""The names that a person types: the cluster may be left out where a source has only one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from monitor.cli.errors import NotFoundError, SourceError
from monitor.messages.names import listed, shown

if TYPE_CHECKING:
    from monitor.cli.sources.source import ClusterSource


def with_cluster(source: ClusterSource, names: Sequence[str], most: int) -> list[str]:
    """The names after that of the cluster, which comes first. An odd number of names has none.

    Raises:
        SourceError: the cluster is not named, and the source has not exactly one.
    """
    if len(names) > most:
        raise typer.BadParameter(f"{len(names)} names are too many: give at most {most}")
    return [only_cluster(source), *names] if len(names) % 2 else [*names]


def cluster_and_group(source: ClusterSource, names: Sequence[str]) -> tuple[str, str | None]:
    """The cluster, and the group or None for all. One name is a cluster's, or else that of a group of the only one.

    Raises:
        SourceError: the names leave open which cluster.
    """
    match names:
        case []:
            return only_cluster(source), None
        case [name]:
            clusters = source.clusters()
            if name in clusters:
                return name, None
            if len(clusters) == 1:
                return clusters[0], name
            raise NotFoundError(f"There is no cluster {shown(name)}; the clusters are: {listed(clusters) or 'none'}.")
        case [cluster, group]:
            return cluster, group
        case _:
            raise typer.BadParameter(f"{len(names)} names are too many: give at most 2")


def only_cluster(source: ClusterSource) -> str:
    """The one cluster of a source.

    Raises:
        SourceError: it has several, or none.
    """
    clusters = source.clusters()
    if len(clusters) == 1:
        return clusters[0]
    if not clusters:
        raise SourceError("There is no cluster.")
    raise SourceError(f"Name the cluster, too; there are {len(clusters)}: {listed(clusters)}.")

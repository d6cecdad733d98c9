"""Completion of the names of clusters, groups and topics, from the job that the command would request.

Whoever may connect to a cluster chooses names of groups and topics, and a shell would run what some of them contain. So
only names of plain characters are offered. A job that does not answer quickly offers none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:  # loaded when something is completed: --help must be quick
    from monitor.cli.sources.job_api import JobApi

TIMEOUT_S: Final = 2.0
"""So long a person waits after the tabulator key at most."""

MOST_NAMES: Final = 200

_PLAIN: Final = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.-]{0,248}")


def complete_clusters(context: typer.Context, incomplete: str) -> list[str]:
    """Names of clusters that begin so."""
    return _offered_names(_cluster_names, context, incomplete)


def complete_names(context: typer.Context, incomplete: str) -> list[str]:
    """Names of groups that begin so, or of clusters, where several are watched and none is named yet."""
    before = [*(context.params.get("names") or ())]
    return _offered_names(lambda api: _names(api, before, incomplete), context, incomplete)


def complete_places(context: typer.Context, incomplete: str) -> list[str]:
    """The same, and behind a group its topics, and behind a topic its partitions."""
    before = [*(context.params.get("names") or ())]
    return _offered_names(lambda api: _places(api, before, incomplete), context, incomplete)


def complete_counts(context: typer.Context, incomplete: str) -> list[str]:
    """TOPIC= of the topics of the group that is named before."""
    names = [*(context.params.get("names") or context.args)]  # click parses no arguments before an option without value
    found = _offered_names(lambda api: _topics(api, names), context, incomplete)
    return [f"{topic}=" for topic in found]


def plain_names(names: Iterable[str], incomplete: str) -> list[str]:
    """Those names that begin so, and that no shell takes for anything else.

    >>> plain_names(["orders", "$(reboot)", "or der", "-o", "other"], "o")
    ['orders', 'other']
    """
    return [name for name in names if name.startswith(incomplete) and _PLAIN.fullmatch(name)]


def _offered_names(names: Callable[[JobApi], list[str]], context: typer.Context, incomplete: str) -> list[str]:
    from monitor.cli.errors import SourceError  # noqa: PLC0415 -- --help must be quick

    try:
        return plain_names(names(_api(context)), incomplete)
    except SourceError:
        return []


def _names(api: JobApi, before: list[str], incomplete: str) -> list[str]:
    clusters = _cluster_names(api)
    if not before:
        return _group_names(api, clusters[0], incomplete) if len(clusters) == 1 else clusters
    return _group_names(api, before[0], incomplete) if len(before) == 1 and before[0] in clusters else []


def _places(api: JobApi, before: list[str], incomplete: str) -> list[str]:
    clusters = _cluster_names(api)
    named = before if before[:1] and before[0] in clusters else [*clusters[: len(clusters) == 1], *before]
    if len(named) < 2:
        return _names(api, before, incomplete)
    if len(named) == 2:
        return _topics(api, named)
    return [*_partitions(api, named[0], named[1]).get(named[2], ())] if len(named) == 3 else []


def _topics(api: JobApi, names: list[str]) -> list[str]:
    """The topics of a group; with one cluster, its name may be left out."""
    named = names if len(names) == 2 else [*_cluster_names(api)[:1], *names]
    return [*_partitions(api, named[0], named[1])] if len(named) == 2 else []


def _partitions(api: JobApi, cluster: str, group: str) -> dict[str, tuple[str, ...]]:
    """The partitions of a group by topic."""
    from monitor.cli.sources.job import Job  # noqa: PLC0415 -- as above

    return Job(api).partitions(cluster, group)


def _cluster_names(api: JobApi) -> list[str]:
    from monitor.cli.sources.job import Job  # noqa: PLC0415 -- as above

    return [*Job(api).clusters()]


def _group_names(api: JobApi, cluster: str, incomplete: str) -> list[str]:
    from monitor.cli.sources.job import Job  # noqa: PLC0415 -- as above

    return [*Job(api).group_names(cluster, incomplete, MOST_NAMES)]


def _api(context: typer.Context) -> JobApi:
    """The job that the words typed so far, or variables, name."""
    from monitor.cli.http_client import WayIn  # noqa: PLC0415 -- as above
    from monitor.cli.source_options import DEFAULT_URL  # noqa: PLC0415 -- as above
    from monitor.cli.sources.job_api import JobApi, base_address  # noqa: PLC0415 -- as above

    given = context.params
    files = {name: Path(given[name]) for name in ("token_file", "password_file", "ca_file") if given.get(name)}
    way_in = WayIn(user=given.get("user"), **files)
    return JobApi(base_address(given.get("url") or DEFAULT_URL), way_in, TIMEOUT_S)


OneCluster = Annotated[
    str | None,
    typer.Argument(metavar="[CLUSTER]", autocompletion=complete_clusters, help="Only this cluster; not set: all."),
]
"""The argument of commands about one cluster or all."""

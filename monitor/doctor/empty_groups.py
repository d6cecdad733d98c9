"""Groups of which one look cannot say all: what explains them is past, or in a log that it does not read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from monitor.detection.ownership.tasks.inputs import partition_counts
from monitor.kinds.streams import source_topics, topology_of, uneven_topics
from monitor.messages.names import listed
from monitor.model import Catalog, GroupState, Phase, Topology, traits_of

WITHOUT_WORKERS: Final = "no worker is left, and only Connect's topic of configurations names what they should run"


def unknown_reason(group: GroupState, catalog: Catalog) -> str | None:
    """Why a look cannot say all of a group without members; None: it can.

    A job says more if it has seen the members, or reads the topic of configurations.

    Args:
        group: the group, as readings have shown it.
        catalog: the topics of the newest reading.
    """
    if group.phase is not Phase.EMPTY:
        return None
    if traits_of(group).runs_connectors:
        has_seen_work = group.connect is not None and bool(group.connect.lost)
        return None if has_seen_work else WITHOUT_WORKERS
    topology = topology_of(group)
    is_judged = group.streams is None or group.streams.validated_epoch is None
    if topology is None or is_judged:
        return None
    return next(_obstacles(topology, catalog), None)


def _obstacles(topology: Topology, catalog: Catalog) -> Iterator[str]:
    """Why the instances may have left: the coordinator could assign nothing, if it was so then."""
    missing = sorted(source_topics(topology) - catalog.topics.keys())
    if missing:
        verb = "does" if len(missing) == 1 else "do"
        yield f"no instance is left, and the topology needs {listed(missing)}, which {verb} not exist"
    for uneven in uneven_topics(topology, partition_counts(topology, catalog)):
        names = listed([topic for topic, _ in uneven])
        yield f"no instance is left, and the topology joins {names}, which have different numbers of partitions"

"""The state of a cluster in one sentence, for /readyz and for the page."""

from __future__ import annotations

from monitor.messages.formatting import visible
from monitor.model import ClusterSnapshot, Shard, Snapshot
from monitor.model.escaping import escaped
from monitor.readiness.time_left import remaining_text


def told(cluster: ClusterSnapshot) -> str:
    """One sentence: the problem if there is one, else whether the cluster is ready, else what it still waits for."""
    if cluster.problem is not None:
        return escaped(cluster.problem)
    if cluster.ready:
        return "Ready."
    if cluster.warm_up is None:
        return "Starting: the first micro-batch has not been processed."
    if cluster.warm_up.remaining == 0:
        return "The backlog has been read; the topics have not been listed yet."
    return f"Reading the backlog: {remaining_text(cluster.warm_up)}."


def told_of_all(snapshot: Snapshot) -> str:
    """The shard, if there are several; a line for each cluster that is not ready or has stalled, "ready" if none is."""
    if not snapshot.clusters:
        return "No cluster is watched.\n"
    share = "" if snapshot.shard.is_all else f"{share_told(snapshot.shard)}\n"
    waiting = [
        f"{visible(each.cluster)}: {told(each)}\n" for each in snapshot.clusters if each.stalled or not each.ready
    ]
    return share + ("".join(waiting) or "ready\n")


def share_told(shard: Shard) -> str:
    """Which groups are not here, as a sentence.

    >>> share_told(Shard(number=2, of=3))
    'Shard 2 of 3: other jobs watch the other groups.'
    """
    return f"Shard {shard.number} of {shard.of}: other jobs watch the other groups."

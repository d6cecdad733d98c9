"""The state of a cluster in one sentence, for /readyz and for the page."""

from __future__ import annotations

from monitor.messages.formatting import age, visible
from monitor.model import ClusterSnapshot, Shard, Snapshot
from monitor.model.escaping import escaped
from monitor.readiness.time_left import remaining_text


def cluster_sentence(cluster: ClusterSnapshot, now_ms: int) -> str:
    """One sentence: the problem if there is one, else whether the cluster is ready, else what it still waits for.

    A stall, and an evaluation of long ago, come before "Ready.".
    """
    if cluster.problem is not None or not cluster.ready:
        return unready_sentence(cluster)
    ago = age(cluster.age_ms(now_ms) or 0)
    if cluster.stalled:
        return f"Stalled: the groups are not evaluated any more. The newest evaluation was {ago} ago."
    word = "Stale" if cluster.is_stale(now_ms) else "Late" if cluster.is_late(now_ms) else ""
    return f"{word}: the newest evaluation was {ago} ago." if word else "Ready."


def unready_sentence(cluster: ClusterSnapshot) -> str:
    """The problem of a cluster that is not ready, or what it still waits for."""
    if cluster.problem is not None:
        return escaped(cluster.problem)
    if cluster.is_restored:
        return f"Restarted: shows the groups as evaluated before. {_still_to_do(cluster)}"
    return _still_to_do(cluster)


def _still_to_do(cluster: ClusterSnapshot) -> str:
    if cluster.warm_up is None:
        return "Starting: the first micro-batch has not been processed."
    if cluster.warm_up.remaining == 0:
        return "The backlog has been read; the topics have not been listed yet."
    return f"Reading the backlog: {remaining_text(cluster.warm_up)}."


def writing_sentence(carrier: str) -> str:
    """Where groupwatch writes, for a cluster to which it writes nothing.

    >>> writing_sentence("monitoring")
    'groupwatch writes to topics of monitoring, and nothing to this cluster.'
    """
    return f"groupwatch writes to topics of {visible(carrier)}, and nothing to this cluster."


def readiness_text(snapshot: Snapshot, now_ms: int) -> str:
    """The shard, if there are several; "ready" if the snapshot is; a line for each cluster that is not well.

    A file of expectations that cannot be used has a line, too: the job stays ready.
    """
    if not snapshot.clusters:
        return "No cluster is watched.\n"
    share = "" if snapshot.shard.is_all else f"{shard_sentence(snapshot.shard)}\n"
    troubled = [each for each in snapshot.clusters if not each.ready or each.is_stale(now_ms) or each.is_late(now_ms)]
    lines = [f"{visible(each.cluster)}: {cluster_sentence(each, now_ms)}\n" for each in troubled]
    problems = {each.expectations.problem for each in snapshot.clusters if each.expectations is not None}
    lines += [f"{escaped(each)}\n" for each in sorted(filter(None, problems))]
    return share + ("ready\n" if snapshot.is_ready(now_ms) else "") + "".join(lines)


def shard_sentence(shard: Shard) -> str:
    """Which groups are not here, as a sentence.

    >>> shard_sentence(Shard(number=2, of=3))
    'Shard 2 of 3: other jobs watch the other groups.'
    """
    return f"Shard {shard.number} of {shard.of}: other jobs watch the other groups."

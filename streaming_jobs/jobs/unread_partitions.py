"""What is said of the partitions of a cluster's logs that cannot be read now, and of the brokers that lead them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from monitor.collectors.kafka.leader_table import Place
from monitor.collectors.kafka.log_ends import Silence
from monitor.messages.formatting import counted
from monitor.messages.notification import utc


def unread_sentences(topic: str, silent: Mapping[Place, Silence]) -> dict[int, str]:
    """Why each partition of a topic that is silent is not read, for its groups.

    >>> unread_sentences("t", {("t", 3): Silence(reason="broker 2 (b2:9092) does not answer", since_ms=0)})
    {3: 'Partition 3 of t has not been read since 1970-01-01 00:00:00 UTC: broker 2 (b2:9092) does not answer.'}
    """
    return {
        partition: f"Partition {partition} of {topic} has not been read since {utc(silence.since_ms)}:"
        f" {silence.reason}."
        for (of, partition), silence in sorted(silent.items())
        if of == topic
    }


def unread_problem(cluster: str, counts: Mapping[str, int], silent: Mapping[Place, Silence]) -> str | None:
    """The same for the cluster, a sentence for each topic and reason; None: all partitions are read.

    >>> silent = {("t", 3): Silence(reason="broker 2 (b2:9092) does not answer", since_ms=0)}
    >>> unread_problem("prod", {"t": 50}, silent)
    'Cluster prod: broker 2 (b2:9092) does not answer; 1 of 50 partitions of t has not been read since 1970-01-01 \
00:00:00 UTC.'
    """
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for (topic, _), silence in sorted(silent.items()):
        found[topic, silence.reason].append(silence.since_ms)
    told = [
        f"{reason}; {len(since)} of {counted(counts.get(topic, 0), 'partition')} of {topic}"
        f" {'has' if len(since) == 1 else 'have'} not been read since {utc(min(since))}"
        for (topic, reason), since in found.items()
    ]
    return f"Cluster {cluster}: {'. '.join(told)}." if told else None

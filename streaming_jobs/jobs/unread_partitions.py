"""The report on the partitions of a cluster's logs that cannot be read now, and on the brokers that lead them."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from monitor.collectors.kafka.leader_table import Place
from monitor.collectors.kafka.log_ends import NOBODY_ANSWERS
from monitor.collectors.kafka.silence import Silence
from monitor.messages.formatting import counted
from monitor.messages.notification import utc
from monitor.readiness.repeated_warning import RepeatedWarning
from streaming_jobs.buckets.batch_context import Unread

log = logging.getLogger(__name__)

CLOCKS_MS: Final = 1_000
"""Both instants come from two clocks, read one after the other. A start takes longer than this."""

LOGGED_AFTER_MS: Final = 3_000
"""A leader that moves is away for a second or two."""


def unread_partitions(topic: str, silent: Mapping[Place, Silence], first_evaluated_ms: int | None) -> dict[int, Unread]:
    """Why each partition of a topic that is silent is not read, for its groups. It is a part of a sentence.

    Args:
        topic: the topic.
        silent: the partitions that cannot be read, of all topics.
        first_evaluated_ms: when this process first evaluated groups: what was silent before was never read by it.

    >>> silent = {("t", 3): Silence(reason="broker 2 (b2:9092) does not answer", since_ms=0)}
    >>> unread_partitions("t", silent, first_evaluated_ms=0)[3].sentence
    'Partition 3 of t has not been read since 1970-01-01 00:00:00 UTC: broker 2 (b2:9092) does not answer'
    """
    return {
        partition: Unread(
            sentence=f"Partition {partition} of {topic} has not been read since {utc(silence.since_ms)}:"
            f" {silence.reason}",
            since_ms=silence.since_ms,
            was_read=first_evaluated_ms is not None and first_evaluated_ms <= silence.since_ms + CLOCKS_MS,
        )
        for (of, partition), silence in sorted(silent.items())
        if of == topic
    }


def unread_problem(cluster: str, counts: Mapping[str, int], silent: Mapping[Place, Silence]) -> str | None:
    """The same for the cluster, a sentence for each topic and reason; None: all are read, or no broker answers at all.

    >>> silent = {("t", 3): Silence(reason="broker 2 (b2:9092) does not answer", since_ms=0)}
    >>> unread_problem("prod", {"t": 50}, silent)
    'Cluster prod: 1 of 50 partitions of t has not been read since 1970-01-01 00:00:00 UTC: broker 2 (b2:9092) does \
not answer.'
    """
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for (topic, _), silence in sorted(silent.items()):
        if silence.reason != NOBODY_ANSWERS:
            found[topic, silence.reason].append(silence.since_ms)
    told = [
        f"{len(since)} of {counted(counts.get(topic, 0), 'partition')} of {topic}"
        f" {'has' if len(since) == 1 else 'have'} not been read since {utc(min(since))}: {reason}"
        for (topic, reason), since in found.items()
    ]
    return f"Cluster {cluster}: {'. '.join(told)}." if told else None


class UnreadLog:
    """Logs that partitions are not read, once it has lasted for a moment, and that all of them are read again."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._since_ms: int | None = None
        self._warnings = RepeatedWarning()

    def look(self, problem: str | None, passed_ms: int) -> None:
        """Take the sentence of now (``unread_problem``). To be called now and then.

        Args:
            problem: the sentence; None: all partitions are read.
            passed_ms: now, by a clock that only goes forward.
        """
        if problem is None:
            if self._warnings.end():
                log.info("Cluster %s: all partitions of its logs are read again", self._cluster)
            self._since_ms = None
            return
        self._since_ms = passed_ms if self._since_ms is None else self._since_ms
        if passed_ms - self._since_ms < LOGGED_AFTER_MS:
            return
        sentence = f"{problem} Their groups are not evaluated until then."
        if (line := self._warnings.line(sentence, passed_ms, "unread")) is not None:
            log.warning("%s", line, extra={"cluster": self._cluster})

"""Tell what findings open, change and close, in the cluster's findings topic; at least once, whatever dies."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Final, NamedTuple

from monitor.collectors.kafka.findings_topic import FindingsTopic, sentence_of
from monitor.config import ClusterSettings
from monitor.detection.finding_changes import Ledger, alike_in, alike_records, cluster_records
from monitor.model import FindingOutdated, FindingRecord, FindingScope, GroupSummary, Shard
from monitor.model.cluster_findings import ClusterFinding
from monitor.readiness.repeated_warning import RepeatedWarning
from streaming_jobs.driver.finding_links import with_link
from streaming_jobs.ingest.sharding import watches
from streaming_jobs.runtime.clock import monotonic_ms

log = logging.getLogger(__name__)

FIRST_PAUSE_MS: Final = 10_000
LONGEST_PAUSE_MS: Final = 300_000
MAX_RECORDS_PER_WRITE: Final = 5_000
"""How many records are written before it is waited for them: what is there need not be written again."""
CLOSE_LIMIT_S: Final = 2.0


class _Judged(NamedTuple):
    """All groups of the job, and the findings of the cluster itself, as of an instant."""

    groups: Sequence[GroupSummary]
    findings: Sequence[ClusterFinding]
    now_ms: int


class FindingsPublisher:
    """The way out for the findings of one job in one cluster. ``tell`` is for one micro-batch after the other.

    What is open is known from the topic itself, which is read before the first writing, and again after an error: it
    may have been deleted. Records are written before their micro-batch is done: if the job dies, the next one repeats
    that, and finds in the topic what was published. While the topic cannot be written, news wait in memory.
    Micro-batches continue, and one that tries again takes some seconds more.
    """

    def __init__(
        self, cluster: ClusterSettings, shard: Shard, name: str | None = None, external_url: str | None = None
    ) -> None:
        """Prepare. ``cluster`` has the topic; ``name`` is the cluster that the findings are of (None: the same).

        ``external_url`` is the address of the page (None: records have no link).
        """
        self._external_url = external_url
        self._cluster = cluster
        self._name = cluster.name if name is None else name
        self._shard = shard
        self._topic = FindingsTopic(cluster)
        self._ledger: Ledger | None = None
        self._topic_is_known = False
        self._waiting: list[FindingRecord | FindingOutdated] = []
        self._pause_ms = FIRST_PAUSE_MS
        self._not_before_ms = 0
        self._busy = threading.Lock()
        self._closed = False
        self.problem: str | None = None
        """Why nothing is written now, as a sentence."""
        self._warnings = RepeatedWarning()

    @property
    def is_on(self) -> bool:
        """Whether the cluster has such a topic."""
        return bool(self._cluster.findings_topic)

    def publish(self, groups: Sequence[GroupSummary], now_ms: int, findings: Sequence[ClusterFinding] = ()) -> None:
        """Tell what is new, now that all groups of the job have been judged; ``findings`` are those of the cluster."""
        with self._busy:
            if self.is_on and not self._closed:
                self._publish(_Judged(groups, findings, now_ms))

    def close(self) -> None:
        """Write no more, and close the connection, unless a thread is writing: then the end of the process does."""
        self._closed = True
        if self._busy.acquire(timeout=CLOSE_LIMIT_S):
            self._topic.close()
            self._busy.release()

    def _publish(self, judged: _Judged) -> None:
        if self._ledger is not None:
            self._apply_changes(self._ledger, judged)
        if monotonic_ms() < self._not_before_ms:
            return
        try:
            if not self._topic_is_known:
                self._read(judged)
            self._write()
        except Exception as error:  # whatever it is, reading and judging go on
            self._back_off(error)
        else:
            self._pause_ms, self.problem = FIRST_PAUSE_MS, None

    def _read(self, judged: _Judged) -> None:
        """Start again with the records of the topic, and those that wait to be published there."""
        waiting = [record for record in self._waiting if isinstance(record, FindingRecord)]
        self._ledger = Ledger([*filter(self._is_own, self._topic.read()), *waiting])
        self._topic_is_known = True
        self._apply_changes(self._ledger, judged)

    def _write(self) -> None:
        while self._waiting:
            self._topic.write(map(self._with_link, self._waiting[:MAX_RECORDS_PER_WRITE]))
            del self._waiting[:MAX_RECORDS_PER_WRITE]

    def _with_link(self, record: FindingRecord | FindingOutdated) -> FindingRecord | FindingOutdated:
        return with_link(record, self._external_url) if isinstance(record, FindingRecord) else record

    def _apply_changes(self, ledger: Ledger, judged: _Judged) -> None:
        shard, alike = self._shard.number, alike_in(judged.groups, ledger.open_alike())
        of_cluster = cluster_records(self._name, judged.findings, judged.now_ms, shard)
        of_alike = alike_records(self._name, alike.values(), judged.now_ms, shard)
        self._waiting += ledger.news(judged.groups, judged.now_ms, (*of_cluster, *of_alike), alike)
        self._waiting += ledger.take_outdated(judged.now_ms)

    def _is_own(self, record: FindingRecord) -> bool:
        """Whether it is of this job; also what a shard published of no single group, if there are fewer shards now."""
        if record.cluster != self._name:
            return False
        if record.scope is not FindingScope.GROUP:
            return (record.shard - self._shard.number) % self._shard.of == 0
        return watches(self._shard, record.group)

    def _back_off(self, error: Exception) -> None:
        sentence = sentence_of(self._cluster, error)
        if self.problem is None:  # each failure after a success is an event of its own
            self._warnings.end()
            if (line := self._warnings.line(sentence, monotonic_ms())) is not None:
                log.warning("%s", line, extra={"cluster": self._name})
        self.problem = sentence
        self._topic.close()
        self._topic_is_known = False
        self._not_before_ms = monotonic_ms() + self._pause_ms
        self._pause_ms = min(2 * self._pause_ms, LONGEST_PAUSE_MS)

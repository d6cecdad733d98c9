"""Send the findings of a cluster to the webhook, in a thread of its own: at least once, in their order.

They come from the findings topic, and the position there is committed when the receiver has accepted them. While the
receiver is away, or the job, they wait in the topic.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

from monitor.config import WebhookSettings
from monitor.config.receiver import address_without_path
from monitor.messages.names import shown, shown_group
from monitor.metrics.process_metrics import ProcessMetrics
from monitor.model import FindingRecord
from monitor.push.cloud_event import CloudEvent, EventError, SkipReason, finding_event, require_own
from monitor.push.webhook import Attempt, Result, Webhook, pause_s
from streaming_jobs.driver.finding_links import with_link

log = logging.getLogger(__name__)

READ_WAIT_MS: Final = 500
END_LIMIT_S: Final = 2.0
SKIPPED_LINE_S: Final = 3_600.0
"""The least time between two log lines about skipped records: writers to the topic could fill the log."""


class Feed(Protocol):
    """Where findings come from: see monitor.collectors.kafka.findings_feed."""

    def read(self, wait_ms: int) -> list[FindingRecord]:
        """The next records."""

    def take_unreadable(self) -> int:
        """How many records were no findings since the last call."""

    def commit(self) -> None:
        """Keep that everything that was read is done with."""

    def renew(self) -> None:
        """Keep the position for longer, while nothing is done with."""

    def close(self) -> None:
        """Close the connection."""


class FindingsOf(NamedTuple):
    """Whose findings a topic has, by name: those of its cluster, and of what this cluster carries."""

    cluster: str
    carried: tuple[str, ...] = ()


class FindingsWebhook:
    """Sends from ``start`` until ``request_stop``. A failure in it is logged and counted, and watching continues."""

    def __init__(  # noqa: PLR0913, PLR0917 -- the last two have defaults
        self,
        topic: FindingsOf,
        settings: WebhookSettings,
        feed: Feed,
        process: ProcessMetrics,
        pause: Callable[[int, float | None], float] = pause_s,
        external_url: str | None = None,
    ) -> None:
        """Prepare; nothing starts yet.

        Args:
            topic: whose findings the topic has.
            settings: the receiver.
            feed: the records of that topic.
            process: counts the attempts.
            pause: gives the time (s) to wait after so many failures in a row.
            external_url: the address of the page; None: events have no link.
        """
        self._external_url = external_url
        self._cluster = topic.cluster
        self._names = frozenset({topic.cluster, *topic.carried})
        self._receiver = address_without_path(settings.url or "")
        self._webhook = Webhook(settings)
        self._feed = feed
        self._process = process
        self._pause_s = pause
        self._stopping = threading.Event()
        self._failures = 0
        self._skipped = 0
        self._skipped_line_s: float | None = None
        for reason in SkipReason:  # a rate needs the series before its first increase
            process.count_skipped(topic.cluster, reason.value, 0)
        self._thread = threading.Thread(target=self._run, name=f"webhook of {topic.cluster}", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def request_stop(self) -> None:
        """Begin to end, and return at once. An event that is being sent is sent again by the next start."""
        self._stopping.set()

    def await_end(self) -> None:
        """Return when it has ended, or after two seconds: a receiver may be silent for longer."""
        self._thread.join(END_LIMIT_S)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._forward()
            except Exception as error:  # whatever it is, watching continues
                self._feed.close()
                self._wait(f"{type(error).__name__}: {shown(str(error))}", None)
        self._feed.close()

    def _forward(self) -> None:
        """Send the next records, and commit them; those that are left at a stop are not committed."""
        records = self._feed.read(READ_WAIT_MS)
        self._process.count_skipped(self._cluster, SkipReason.UNREADABLE.value, self._feed.take_unreadable())
        if not all(event is None or self._is_done_with(event) for event in map(self._event, records)):
            return
        self._feed.commit()
        self._note_success()

    def _event(self, record: FindingRecord) -> CloudEvent | None:
        """The event of a record; None: it has none, and must not hold up those behind it."""
        try:
            require_own(record, self._names)
            return finding_event(with_link(record, self._external_url))
        except EventError as error:
            self._report_skipped(record, error)
            return None

    def _report_skipped(self, record: FindingRecord, error: EventError) -> None:
        """Count it. Log the first skipped record, and later at most one in an hour, with the number of the others."""
        self._process.count_skipped(self._cluster, error.reason.value)
        now_s = time.monotonic()
        if self._skipped_line_s is not None and now_s - self._skipped_line_s < SKIPPED_LINE_S:
            self._skipped += 1
            return
        others = f" ({self._skipped} others were not sent since the last such line)" if self._skipped else ""
        text = "Cluster %s: a record of the findings topic about the group %s is not sent to the webhook: %s%s"
        log.warning(text, self._cluster, shown_group(record.group), error, others, extra={"group": record.group})
        self._skipped, self._skipped_line_s = 0, now_s

    def _is_done_with(self, event: CloudEvent) -> bool:
        """Try until the receiver has accepted or rejected the event; False: stopped before that."""
        while not self._stopping.is_set():
            attempt = self._attempt(event)
            if attempt.result is Result.FAILED:
                self._wait(attempt.problem, attempt.retry_after_s)
                self._feed.renew()
                continue
            if attempt.result is Result.REJECTED:
                log.warning("%s rejected the event %s for good: %s", self._receiver, event.id, attempt.problem)
            self._note_success()
            return True
        return False

    def _attempt(self, event: CloudEvent) -> Attempt:
        began_s = time.perf_counter()
        attempt = self._webhook.send(event)
        self._process.observe_delivery(self._cluster, attempt.result.value, time.perf_counter() - began_s)
        return attempt

    def _wait(self, problem: str, retry_after_s: float | None) -> None:
        if not self._failures:
            text = "Cluster %s: findings wait for the webhook %s, which is tried again: %s"
            log.warning(text, self._cluster, self._receiver, problem)
        self._failures += 1
        self._stopping.wait(self._pause_s(self._failures, retry_after_s))

    def _note_success(self) -> None:
        if self._failures:
            log.info("Cluster %s: findings are sent to the webhook %s again", self._cluster, self._receiver)
        self._failures = 0


def stop_all(webhooks: Sequence[FindingsWebhook]) -> None:
    """End all of them at the same time."""
    for webhook in webhooks:
        webhook.request_stop()
    for webhook in webhooks:
        webhook.await_end()

"""Each record of the findings topic that the webhook skips is counted by its reason, also without a log line."""

from __future__ import annotations

import msgspec

from monitor.config import WebhookSettings
from monitor.metrics.process_metrics import ProcessMetrics
from monitor.model import FindingRecord
from streaming_jobs.driver.findings_webhook import FindingsOf, FindingsWebhook, stop_all
from tests.push.webhook_receiver import webhook_receiver
from tests.streaming_jobs.driver.test_findings_webhook import finding, ids
from tests.support.job_process import eventually


class Passes:
    """A feed with one pass of records, some of which were unreadable."""

    def __init__(self, *records: FindingRecord, unreadable: int) -> None:
        self._records, self._unreadable = list(records), unreadable

    def read(self, wait_ms: int) -> list[FindingRecord]:
        records, self._records = self._records, []
        return records

    def take_unreadable(self) -> int:
        found, self._unreadable = self._unreadable, 0
        return found

    def commit(self) -> None: ...

    def renew(self) -> None: ...

    def close(self) -> None: ...


def skipped(process: ProcessMetrics) -> dict[str, str]:
    lines = [
        line for line in process.text().splitlines() if line.startswith("groupwatch_webhook_skipped_records_total{")
    ]
    return {line.partition('reason="')[2].partition('"')[0]: line.rpartition(" ")[2] for line in lines}


def test_skipped_records_are_counted_by_reason():
    """Two name another cluster; one has another id, one an unknown kind, one a time that no event can have."""
    own, process = finding("payments"), ProcessMetrics()
    feed = Passes(
        finding("payments", cluster="prod"),
        finding("orders", cluster="prod"),
        msgspec.structs.replace(own, id="0" * 32),
        msgspec.structs.replace(own, kind="all clear"),
        finding("payments", "opened", 2**63 - 1),
        own,
        unreadable=4,
    )
    with webhook_receiver() as receiver:
        settings = WebhookSettings.model_validate({"url": receiver.url})
        webhook = FindingsWebhook(FindingsOf("c"), settings, feed, process)
        assert skipped(process) == {"foreign": "0", "forged": "0", "unreadable": "0"}
        webhook.start()
        try:
            receiver.wait_for(1)
            eventually(lambda: skipped(process)["unreadable"] != "0", "the count")
        finally:
            stop_all([webhook])
        assert ids(receiver) == ["payments opened"]
    assert skipped(process) == {"foreign": "2", "forged": "3", "unreadable": "4"}

"""The address of the page in the records of findings: that of this groupwatch, whatever a record had."""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from monitor.model import FindingRecord
from monitor.web.views.addresses import page_url


def with_link(record: FindingRecord, external_url: str | None) -> FindingRecord:
    """The record with the address of its page. It has none where ``external_url`` is not set."""
    return replace(
        record, page_url=UNSET if external_url is None else page_url(external_url, record.cluster, record.group)
    )

"""A finding as a CloudEvent, and its signature by Standard Webhooks. Pure.

The event is CloudEvents 1.0 in the structured JSON format. The signature is the scheme ``v1`` of the specification
"Standard Webhooks": HMAC-SHA256 over the id, the time and the body, so that a receiver can refuse old and foreign ones.
"""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final
from urllib.parse import quote

import msgspec

from monitor.detection.finding_changes import id_of
from monitor.findings.alike import ALIKE_REASONS
from monitor.findings.cluster import ROWS
from monitor.findings.table import FINDINGS
from monitor.model import FindingKind, FindingNews, FindingRecord, FindingScope, Value

MEDIA_TYPE: Final = "application/cloudevents+json; charset=utf-8"

LATEST_MS: Final = 253_402_300_799_999
"""The last instant that an RFC 3339 time can have: the end of the year 9999."""

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")
"""Those of groupwatch are 32 hexadecimal digits. An id is sent in a header, and must not contain a dot there."""


_KNOWN: Final = frozenset(
    [
        *((FindingScope.GROUP, spec.kind.value, str(spec.reason)) for spec in FINDINGS),
        *((FindingScope.CLUSTER, spec.kind.value, str(spec.reason)) for spec in ROWS),
        *((FindingScope.ALIKE, FindingKind.UNATTENDED.value, reason) for reason in ALIKE_REASONS),
    ]
)


class SkipReason(StrEnum):
    """Why a record of the findings topic is not sent; the values are labels of a metric."""

    FOREIGN = "foreign"
    """It is about a cluster whose findings are not in the topic."""
    FORGED = "forged"
    """groupwatch cannot have written it."""
    UNREADABLE = "unreadable"
    """It is no record of a finding."""


class EventError(Exception):
    """A record that groupwatch has not written, and that no event can have; the text is the reason as a clause."""

    def __init__(self, text: str, reason: SkipReason = SkipReason.FORGED) -> None:
        super().__init__(text)
        self.reason = reason


class CloudEvent(Value, omit_defaults=False):
    """The members of the JSON object. ``id`` is the same if the event is sent again."""

    id: str
    source: str
    type: str
    subject: str
    time: str
    data: FindingRecord
    specversion: str = "1.0"
    datacontenttype: str = "application/json"


def finding_event(record: FindingRecord) -> CloudEvent:
    """What happened to a finding, as an event.

    The source and the subject are the cluster and the group, percent-encoded: a name may have any character, and these
    attributes may not. A subject is never empty, so that of a finding of a cluster is the cluster. That of alike groups
    is the pattern of their names.

    Raises:
        EventError: the id or the time is none of groupwatch's.
    """
    if _ID.fullmatch(record.id) is None:
        raise EventError("its id is not one of groupwatch's")
    if not 0 <= record.at_ms <= LATEST_MS:
        raise EventError("its time is out of range")
    return CloudEvent(
        id=f"{record.id}-{record.at_ms}-{record.event.value}",
        source=f"/groupwatch/clusters/{_quoted_name(record.cluster)}",
        type=f"groupwatch.finding.{record.event.value}",
        subject=_quoted_name(record.group or record.pattern or record.cluster),
        time=f"{datetime.fromtimestamp(record.at_ms / 1000, UTC):%Y-%m-%dT%H:%M:%S}.{record.at_ms % 1000:03}Z",
        data=record,
    )


def require_own(record: FindingRecord, clusters: Collection[str]) -> None:
    """Return if groupwatch can have written the record to a topic that carries the findings of these clusters.

    Who may write to the topic of one cluster could otherwise open and close the incidents of another, with the
    signature of groupwatch. A closing may be of a finding that only an earlier version knew.

    Raises:
        EventError: it names another cluster, or an unknown finding, or its id is not made of these names.
    """
    if record.cluster not in clusters:
        raise EventError("it names a cluster whose findings are not in this topic", SkipReason.FOREIGN)
    if record.event is not FindingNews.CLOSED and (record.scope, record.kind, record.reason) not in _KNOWN:
        raise EventError("its kind and reason are not those of a finding")
    if record.id != id_of(record) or (record.group and record.scope is not FindingScope.GROUP):
        raise EventError("its id is not that of its cluster, group, kind and reason")


def event_body(event: CloudEvent) -> bytes:
    """The event in the structured JSON format."""
    return msgspec.json.encode(event)


def signed_headers(event_id: str, body: bytes, key: bytes | None, now_ms: int) -> Mapping[str, str]:
    """The headers of a delivery: its id and time, and their signature if there is a key.

    >>> sorted(signed_headers("a", b"{}", None, 1_500))
    ['webhook-id', 'webhook-timestamp']
    """
    sent_s = str(now_ms // 1000)
    headers = {"webhook-id": event_id, "webhook-timestamp": sent_s}
    if key is None:
        return headers
    signed = hmac.digest(key, b".".join((event_id.encode(), sent_s.encode(), body)), "sha256")
    return {**headers, "webhook-signature": f"v1,{base64.b64encode(signed).decode()}"}


def _quoted_name(name: str) -> str:
    return quote(name, safe="", errors="replace")

"""The delivery of events to a webhook, by HTTP POST; and what a response means."""

from __future__ import annotations

import http.client
import math
import time
from collections.abc import Callable
from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Final, NamedTuple
from urllib.error import HTTPError
from urllib.request import OpenerDirector, Request

from monitor.config import ConfigError, WebhookSettings
from monitor.deadline import Deadline, DeadlineError
from monitor.outgoing_http import CaFileError, failure, http_opener, trusting
from monitor.push.cloud_event import MEDIA_TYPE, CloudEvent, event_body, signed_headers

TIMEOUT_S: Final = 10.0
"""So long a receiver may be silent."""

LIMIT_S: Final = 30.0
"""So long an attempt may take as a whole, from the connection to the end of the response."""

FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 300.0

REJECTED: Final = frozenset({400, 413, 422})
"""The statuses by which a receiver says that it will never accept this event."""


class Result(StrEnum):
    """What became of an attempt."""

    DELIVERED = "delivered"
    FAILED = "failed"
    """It will be tried again."""
    REJECTED = "rejected"
    """It will not be."""


class Attempt(NamedTuple):
    """An attempt, with the problem as a clause, and the time that the receiver asks to wait (None: it does not)."""

    result: Result
    problem: str = ""
    retry_after_s: float | None = None


def status_meaning(status: int, retry_after: str | None = None, now_ms: int = 0) -> Attempt:
    """What a status says of an event, at that time (ms since the epoch): ``Retry-After`` may be a date.

    >>> status_meaning(204).result.value, status_meaning(422).result.value
    ('delivered', 'rejected')
    >>> status_meaning(503, "20")
    Attempt(result=<Result.FAILED: 'failed'>, problem='it responded with status 503', retry_after_s=20.0)
    """
    if 200 <= status < 300:
        return Attempt(Result.DELIVERED)
    problem = f"it responded with status {status}"
    if status in REJECTED:
        return Attempt(Result.REJECTED, problem)
    return Attempt(Result.FAILED, problem, _requested_pause_s(retry_after or "", now_ms))


def _requested_pause_s(retry_after: str, now_ms: int) -> float | None:
    """The pause of a ``Retry-After`` (RFC 9110): seconds, or a date; None: it is neither.

    >>> _requested_pause_s("20", 0), _requested_pause_s("Thu, 01 Jan 1970 00:01:00 GMT", 15_000)
    (20.0, 45.0)
    """
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after)
    try:
        at = parsedate_to_datetime(retry_after)
        return max(0.0, at.replace(tzinfo=at.tzinfo or UTC).timestamp() - now_ms / 1000)
    except (ValueError, TypeError, IndexError, OverflowError):  # a text that is no date
        return None


def pause_s(failures: int, retry_after_s: float | None) -> float:
    """The pause after so many failed attempts in a row: 1 s, doubled each time, or what the receiver asks for.

    >>> [pause_s(failures, None) for failures in (1, 2, 3, 20)], pause_s(1, 20.0), pause_s(1, 1e9)
    ([1.0, 2.0, 4.0, 300.0], 20.0, 300.0)
    """
    own = math.ldexp(FIRST_PAUSE_S, min(failures - 1, 30))
    return min(LONGEST_PAUSE_S, max(own, retry_after_s or 0.0))


class Webhook:
    """Sends events to one receiver. Secrets are looked up at each attempt."""

    def __init__(self, settings: WebhookSettings, now_ms: Callable[[], int] | None = None) -> None:
        self._settings = settings
        self._now_ms = now_ms or _system_ms

    def send(self, event: CloudEvent) -> Attempt:
        """Try once to deliver an event."""
        body = event_body(event)
        try:
            request = self._request(event.id, body)
            with Deadline(LIMIT_S) as deadline:
                return self._meaning(request, self._opener(deadline))
        except (ConfigError, DeadlineError) as error:
            return Attempt(Result.FAILED, str(error))
        except (OSError, http.client.HTTPException) as error:
            return Attempt(Result.FAILED, f"it {failure(error)}")

    def _meaning(self, request: Request, opener: OpenerDirector) -> Attempt:
        try:
            with opener.open(request, timeout=TIMEOUT_S) as response:
                return status_meaning(response.status)
        except HTTPError as error:
            with error:
                return status_meaning(error.code, error.headers.get("Retry-After"), self._now_ms())

    def _request(self, event_id: str, body: bytes) -> Request:
        own = {"Content-Type": MEDIA_TYPE, "User-Agent": "groupwatch"}
        signed = signed_headers(event_id, body, self._settings.resolved_secret(), self._now_ms())
        headers = {**self._settings.resolved_headers(), **own, **signed}
        return Request(self._settings.url or "", data=body, headers=headers, method="POST")  # noqa: S310, RUF100 -- checked

    def _opener(self, deadline: Deadline) -> OpenerDirector:
        try:
            return http_opener(trusting(self._settings.ca_file), deadline)
        except CaFileError as error:
            raise ConfigError(f"webhook.ca_file {self._settings.ca_file} cannot be used.") from error


def _system_ms() -> int:
    return time.time_ns() // 1_000_000

"""One delivery to a receiver, and what its response means."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.config.webhook import WebhookSettings
from monitor.demo.servers.ports import free_ports
from monitor.push.cloud_event import finding_event, signed_headers
from monitor.push.webhook import Result, Webhook
from tests.protocol.test_findings_topic import RECORD
from tests.push.webhook_receiver import Receiver, webhook_receiver

EVENT = finding_event(RECORD)
SECRET, KEY = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3", b"0123456789abcdef01234567"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with webhook_receiver() as running:
        yield running


def webhook(url: str, **more: object) -> Webhook:
    return Webhook(WebhookSettings.model_validate({"url": url, **more}), lambda: 1_700_000_000_999)


def test_an_event_is_posted_with_its_signature_and_the_headers_of_the_settings(receiver: Receiver, tmp_path: Path):
    token = tmp_path / "token"
    token.write_text("tiger\n", encoding="utf-8")
    headers = {"Authorization": f"Bearer ${{file:{token}}}"}
    assert webhook(receiver.url, secret=SECRET, headers=headers).send(EVENT).result is Result.DELIVERED
    (sent,) = receiver.requests
    assert sent.headers["content-type"] == "application/cloudevents+json; charset=utf-8"
    assert sent.headers["authorization"] == "Bearer tiger"
    assert json.loads(sent.body)["id"] == sent.headers["webhook-id"] == "00ff-3-opened"
    signed = signed_headers("00ff-3-opened", sent.body, KEY, 1_700_000_000_999)
    assert signed.items() <= sent.headers.items()


def test_without_a_secret_nothing_is_signed(receiver: Receiver):
    webhook(receiver.url).send(EVENT)
    assert "webhook-signature" not in receiver.requests[0].headers


@pytest.mark.parametrize(
    ("status", "result"),
    [
        *((status, Result.DELIVERED) for status in (200, 202, 204)),
        *((status, Result.REJECTED) for status in (400, 413, 422)),
        *((status, Result.FAILED) for status in (301, 307, 401, 403, 404, 408, 410, 429, 500, 503)),
    ],
)
def test_a_status_delivers_rejects_or_is_tried_again(receiver: Receiver, status: int, result: Result):
    receiver.statuses = [status]
    attempt = webhook(receiver.url).send(EVENT)
    assert attempt.result is result
    assert str(status) in attempt.problem or result is Result.DELIVERED
    assert len(receiver.requests) == 1, "a redirection is not followed"


@pytest.mark.parametrize(
    ("retry_after", "pause"),
    [
        ("20", 20.0),
        ("Tue, 14 Nov 2023 22:14:20 GMT", 59.001),
        ("Tuesday, 14-Nov-23 22:14:20 GMT", 59.001),
        ("Tue Nov 14 22:14:20 2023", 59.001),
        ("Tue, 14 Nov 2023 22:13:00 GMT", 0.0),
        *((wrong, None) for wrong in ("soon", "-1", "1.5", "Tue, 99 Nov 2023 22:14:20 GMT", "Mon, 1 Jan 99999999 0:0")),
    ],
)
def test_a_receiver_may_ask_for_a_pause_by_seconds_or_by_a_date(receiver: Receiver, retry_after, pause):
    """The time is 2023-11-14 22:13:20.999 UTC."""
    receiver.statuses, receiver.retry_after = [503], retry_after
    assert webhook(receiver.url).send(EVENT).retry_after_s == (None if pause is None else pytest.approx(pause))


def test_a_receiver_that_is_away_is_a_failure():
    (port,) = free_ports(1)
    attempt = webhook(f"http://127.0.0.1:{port}").send(EVENT)
    assert (attempt.result, "Connection refused" in attempt.problem) == (Result.FAILED, True)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"ca_file": "/none"}, "webhook.ca_file /none cannot be used."),
        ({"secret": "short"}, "webhook.secret should have at least 16 bytes; those of base64 count decoded."),
        ({"secret": "${file:/none}"}, "webhook.secret refers to the file /none, which cannot be read"),
        ({"headers": {"x-a": "geh\u00efm"}}, "webhook.headers.x-a should be printable ASCII."),
    ],
)
def test_a_secret_that_cannot_be_used_is_told_without_it_and_nothing_is_sent(receiver: Receiver, more, problem):
    attempt = webhook(receiver.url, **more).send(EVENT)
    assert attempt.result is Result.FAILED
    assert attempt.problem.startswith(problem)
    assert "geh" not in attempt.problem
    assert receiver.requests == []

"""Debian's Prometheus and Alertmanager as the demo and the tests run them: an alert goes all the way, nothing stays."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from monitor.demo.servers.ports import listening
from monitor.demo.servers.prometheus import EmbeddedAlertmanager, EmbeddedPrometheus, program
from monitor.java_runtime.errors import ProgramNotFound, ServerFailed
from tests.support.answering import Answer, answering
from tests.support.job_process import eventually
from tests.support.programs import required

RULES = """
groups:
  - name: test
    rules:
      - alert: Scraped
        expr: up == 1
        labels: {severity: warning}
"""


def read(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=10) as response:
        return json.load(response)


@contextmanager
def webhook(told: list[dict[str, Any]]) -> Iterator[str]:
    """The address of a receiver that keeps what it is told."""

    def keep(_path: str, body: bytes) -> Answer:
        told.append(json.loads(body))
        return Answer()

    with answering(keep) as address:
        yield f"http://{address}/"


def test_an_alert_of_a_rule_reaches_alertmanager_and_whom_it_tells():
    required("prometheus", "prometheus")
    required("prometheus-alertmanager", "prometheus-alertmanager")
    told: list[dict[str, Any]] = []
    with (
        webhook(told) as address,
        EmbeddedAlertmanager(webhook=address) as alertmanager,
        EmbeddedPrometheus([alertmanager.address], RULES, alertmanager) as prometheus,
    ):
        eventually(lambda: told, "the alert at the webhook")
        (alert,) = read(f"{alertmanager.url}/api/v2/alerts")
        folder = prometheus.data_dir
    assert alert["labels"]["alertname"] == told[0]["alerts"][0]["labels"]["alertname"] == "Scraped"
    assert not folder.exists()
    assert not listening(prometheus.port)
    assert not listening(alertmanager.port)


def test_a_rule_file_that_prometheus_refuses_is_an_error_with_what_it_said(tmp_path: Path):
    required("prometheus", "prometheus")
    prometheus = EmbeddedPrometheus([], "groups: [{name: g, rules: [{alert: A, expr: 'up =='}]}]", data_dir=tmp_path)
    with pytest.raises(ServerFailed, match="the Prometheus ended while starting") as failure:
        prometheus.start()
    assert "could not parse expression" in str(failure.value)


def test_a_program_that_is_not_installed_is_told_with_the_package_that_brings_it():
    with pytest.raises(ProgramNotFound, match=r"^no-such-program is not installed; Debian's package such brings it$"):
        program("no-such-program", "no-other", package="such")

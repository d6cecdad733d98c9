"""The demo's Prometheus and Alertmanager where they are not installed: told in a sentence, and the demo goes on."""

from __future__ import annotations

from monitor.alert_rules import DEMO, rules_file
from streaming_jobs.jobs.demo.alerting import DemoAlerting


def test_where_they_are_not_installed_the_package_is_told_and_the_demo_goes_on(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    told: list[str] = []
    with DemoAlerting("127.0.0.1:9464", rules_file(DEMO), told.append) as alerting:
        assert alerting.addresses == ()
    assert told[-1] == (
        "prometheus-alertmanager is not installed; Debian's package prometheus-alertmanager brings it. "
        "The demo continues without Prometheus and Alertmanager."
    )
    assert list(tmp_path.iterdir()) == []


def test_where_they_are_not_wanted_nothing_is_said():
    told: list[str] = []
    with DemoAlerting("127.0.0.1:9464", None, told.append) as alerting:
        assert alerting.addresses == ()
    assert told == []

"""For how long brokers keep committed offsets: what a collector asks, and what it makes of the answers."""

from __future__ import annotations

from typing import Any

from kafka.admin import ConfigResource
from kafka.errors import RequestTimedOutError

from monitor.collectors.kafka import offsets_retention
from monitor.collectors.kafka.offsets_retention import OffsetsRetentionReader
from monitor.model.expiry import OffsetsRetention

WEEK = {"offsets.retention.minutes": "10080", "offsets.retention.check.interval.ms": "600000"}
KNOWN = OffsetsRetention(7 * 86_400_000, 600_000)


class Brokers:
    """A cluster whose brokers return these configs; none to a user who may not describe them. It counts requests."""

    def __init__(self, configs: dict[str, str] | None) -> None:
        self.configs, self.asked = configs, 0

    def describe_cluster(self) -> dict[str, Any]:
        return {"brokers": [{"broker_id": 7}, {"broker_id": 3}]}

    def describe_configs(self, resources: list[ConfigResource], config_filter: str) -> dict[str, Any]:
        self.asked += 1
        (resource,) = resources
        assert (resource.name, config_filter) == ("3", "all")
        if self.configs is None:
            raise RequestTimedOutError
        return {"broker": {"3": {name: {"value": value} for name, value in self.configs.items()}}}


def test_they_are_read_in_one_request_and_again_only_after_minutes(monkeypatch):
    brokers, reader = Brokers(WEEK), OffsetsRetentionReader()
    assert [reader.read(brokers) for _ in range(3)] == [KNOWN] * 3
    assert brokers.asked == 1
    now_s = offsets_retention.time.monotonic()
    monkeypatch.setattr(offsets_retention.time, "monotonic", lambda: now_s + 301)
    brokers.configs = WEEK | {"offsets.retention.minutes": "1440"}
    assert reader.read(brokers) == OffsetsRetention(86_400_000, 600_000)


def test_without_the_permission_the_retention_is_unknown_and_not_seven_days():
    assert OffsetsRetentionReader().read(Brokers({})) == OffsetsRetention(None)


def test_a_broker_that_does_not_respond_changes_nothing_that_is_known(monkeypatch):
    brokers, reader = Brokers(WEEK), OffsetsRetentionReader()
    reader.read(brokers)
    now_s = offsets_retention.time.monotonic()
    monkeypatch.setattr(offsets_retention.time, "monotonic", lambda: now_s + 301)
    brokers.configs = None
    assert reader.read(brokers) == KNOWN
    assert OffsetsRetentionReader().read(brokers) is None, "nothing is told, as it was not refused either"

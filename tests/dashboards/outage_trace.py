"""The metrics of a real job while its cluster is away, scraped as Prometheus would: a fixture of the alerts.

``python -m tests.dashboards.outage_trace`` records it anew (13 minutes), into ``tests/fixtures/outage/metrics.json``.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.support.brokers import SOON_BACK
from tests.support.clients import commit, create_topic, produce
from tests.support.job_process import JobProcess, Samples, running

FILE: Final = Path(__file__).parents[1] / "fixtures" / "outage" / "metrics.json"
EVERY_S: Final = 15
BEFORE, AWAY, AFTER = 8, 32, 12
"""Scrapes: two minutes of a cluster that is read, eight without it, three when it is back."""

NAMES: Final = (
    "groupwatch_up",
    "groupwatch_ready",
    "groupwatch_shards",
    "groupwatch_last_evaluation_timestamp_seconds",
    "groupwatch_catalog_timestamp_seconds",
    "groupwatch_input_lag_records",
    "groupwatch_evaluation_errors_total",
    "groupwatch_findings_up",
    "groupwatch_recording_up",
    "groupwatch_collector_up",
    "groupwatch_collector_last_success_timestamp_seconds",
    "groupwatch_group_lag",
    "groupwatch_group_state",
    "groupwatch_group_unattended_seconds",
    "groupwatch_group_consumed_records_per_second",
)
"""What the alerts ask about; the first is there in every scrape of a job that lives."""


def record(folder: Path) -> dict[str, Any]:
    """Each series with its value at each scrape, None where it was not there; times count from the first scrape."""
    settings = BrokerSettings(heap_mb=384, offsets_topic_partitions=2, properties=SOON_BACK)
    with EmbeddedKafka(settings) as kafka:
        create_topic(kafka.bootstrap_servers, "read", 1)
        produce(kafka.bootstrap_servers, "read", {0: 3})
        commit(kafka.bootstrap_servers, "reads", "read", {0: 3})
        with running(JobProcess(folder, {"c": {"bootstrap_servers": kafka.bootstrap_servers}})) as job:
            job.await_metric("groupwatch_group_lag", 0, group="reads")
            began_s = time.time()
            scrapes = scraped(job, began_s, 0, BEFORE)
            kafka.kill()
            scrapes += scraped(job, began_s, BEFORE, AWAY)
            kafka.start()
            scrapes += scraped(job, began_s, BEFORE + AWAY, AFTER)
    names = sorted({name for scrape in scrapes for name in scrape})
    return {
        "every_s": EVERY_S,
        "away_s": BEFORE * EVERY_S,
        "back_s": (BEFORE + AWAY) * EVERY_S,
        "series": {name: [scrape.get(name) for scrape in scrapes] for name in names},
    }


def scraped(job: JobProcess, began_s: float, first: int, count: int) -> list[dict[str, float]]:
    """What is asked for at these times."""
    found = []
    for number in range(first, first + count):
        time.sleep(max(0.0, began_s + number * EVERY_S - time.time()))
        found.append(values_in(job.metrics(), began_s))
    return found


def values_in(samples: Samples, began_s: float) -> dict[str, float]:
    return {
        written(name, sample.labels): sample.value - began_s if name.endswith("_timestamp_seconds") else sample.value
        for name in NAMES
        for sample in samples.all(name)
    }


def written(name: str, labels: dict[str, str]) -> str:
    """A series in promtool's notation."""
    return f"{name}{{{', '.join(f'{label}={json.dumps(value)}' for label, value in labels.items())}}}"


def recorded() -> dict[str, str]:
    """The series of the fixture, in promtool's notation."""
    trace: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return {
        name: " ".join("_" if value is None else f"{value:.3f}" for value in values)
        for name, values in trace["series"].items()
    }


def main() -> None:
    """Write the fixture."""
    with tempfile.TemporaryDirectory(prefix="groupwatch-outage-") as folder:
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_text(json.dumps(record(Path(folder)), indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{FILE}\n")


if __name__ == "__main__":
    main()

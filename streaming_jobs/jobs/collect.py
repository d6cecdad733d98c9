"""The collectors alone, as a command: no Spark and no Java. A job elsewhere reads what they write.

A deployment that runs them so sets ``collect = false`` for the job, in the table of what they collect.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from monitor.checks.config_checks import load_settings, require_startable
from monitor.collectors.configured import ConfiguredCollectors, MakeReader
from monitor.collectors.errors import CollectorError
from monitor.collectors.kafka.preflight import check_carrier
from monitor.collectors.passes.health import PassCounter
from monitor.config import SYSTEM_TABLES, ClusterSettings, ConfigError, Settings
from monitor.metrics.collector_samples import collectors_exposition
from monitor.metrics.process_metrics import ProcessMetrics
from monitor.model import CollectorHealth
from monitor.web.collect_app import create_collect_app
from monitor.web.server import ListenError
from streaming_jobs.jobs.collector_log import CollectorLog
from streaming_jobs.jobs.pushing import text_push
from streaming_jobs.jobs.serving import http_server
from streaming_jobs.runtime.clock import now_ms
from streaming_jobs.runtime.lifetime import Lifetime

log = logging.getLogger(__name__)

KINDS: Final = ("kafka", *SYSTEM_TABLES, "spark")
"""What ``--only`` may name: the tables ``clusters``, ``rocketmq``, ``zookeeper`` and ``spark_queries``."""

CANNOT_COLLECT: Final = (ConfigError, CollectorError, ListenError)
"""Errors whose text is the whole story: what is not as it must be, and where."""

END_LIMIT_S: Final = 2.0
"""How long a pass that is under way may hold up the end of the command."""


def run_collect(config: Path | None, only: Sequence[str] = (), port: int | None = None) -> None:
    """Run the collectors of a configuration until SIGINT or SIGTERM.

    Args:
        config: the configuration file; None: variables only.
        only: which of them, words of KINDS, also several in one text, separated by commas; none: all.
        port: where metrics are served; None: the configuration's.

    Raises:
        ConfigError, CollectorError, ListenError: they cannot start (CANNOT_COLLECT).
    """
    settings = load_settings(config, for_job=False)
    Lifetime().run(partial(_collect, settings, chosen_kinds(only), port))


def _collect(settings: Settings, kinds: Sequence[str], port: int | None, lifetime: Lifetime) -> None:
    require_startable(settings, for_job=False)
    collecting = Collectors(settings, kinds)
    for carrier in collecting.carriers:
        lifetime.go_on()
        check_carrier(carrier)
    app = create_collect_app(collecting.health, collecting.process, settings.metrics.cluster_label)
    with http_server(app, settings.http, port) as server, text_push(collecting.text, collecting.process, settings):
        log.info("The metrics are %s/metrics", server.url)
        collecting.run(lifetime.stopping)
        log.info("Stopping")


def chosen_kinds(only: Sequence[str]) -> tuple[str, ...]:
    """The words of KINDS that ``--only`` names, all of them if it names none.

    >>> chosen_kinds(["spark,kafka"])
    ('kafka', 'spark')

    Raises:
        ConfigError: another word.
    """
    named = {word.strip() for text in only for word in text.split(",")}
    if not named <= set(KINDS):
        raise ConfigError(f"--only should be one of {', '.join(KINDS)}, or several of them separated by commas.")
    return tuple(kind for kind in KINDS if kind in named or not named)


class Collectors:
    """The chosen collectors of a configuration."""

    def __init__(self, settings: Settings, kinds: Sequence[str], readers: MakeReader | None = None) -> None:
        """Prepare them; they connect when they run. ``readers``: see ConfiguredCollectors.

        Raises:
            ConfigError: the configuration has nothing of these kinds.
        """
        self.process = ProcessMetrics(settings.metrics.cluster_label)
        """What the process says of itself, and of their passes."""
        self._settings = settings
        self._make = ConfiguredCollectors(settings, now_ms, readers)
        self.carriers: tuple[ClusterSettings, ...] = ()
        """The Kafka clusters that they write to, each with its events topic: several are one cluster's."""
        collectors: list[PassCounter] = []
        carriers: dict[tuple[str, str], ClusterSettings] = {}
        for kind in kinds:
            for carrier, made in self._create_collectors(kind):
                carriers[carrier.name, carrier.events_topic] = carrier
                collectors.append(made)
        if not collectors:
            raise ConfigError(f"Nothing to collect: the configuration has no {' and no '.join(kinds)}.")
        self._collectors = tuple(collectors)
        self.carriers = tuple(carriers.values())

    def health(self) -> tuple[CollectorHealth, ...]:
        """How they go."""
        return tuple(collector.health() for collector in self._collectors)

    def text(self) -> str:
        """What a scrape in Prometheus' text format gets now."""
        label = self._settings.metrics.cluster_label
        return self.process.text() + collectors_exposition(self.health(), label=label)

    def run(self, stopping: threading.Event) -> None:
        """Run them until ``stopping``; return soon after it, also if one of them waits for an answer."""
        threads = [
            threading.Thread(target=collector.run, args=(stopping,), name=f"collector-{number}", daemon=True)
            for number, collector in enumerate(self._collectors)
        ]
        for collector in self._collectors:
            collector.after_pass = self._after_pass(collector)
        for thread in threads:
            thread.start()
        stopping.wait()
        deadline = time.monotonic() + END_LIMIT_S
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _after_pass(self, collector: PassCounter) -> Callable[[], None]:
        tell = CollectorLog(collector)

        def after_pass() -> None:
            tell()
            self.process.observe_pass(collector.health())

        return after_pass

    def _create_collectors(self, kind: str) -> Iterator[tuple[ClusterSettings, PassCounter]]:
        match kind:
            case "kafka":
                for cluster in self._settings.clusters.values():
                    carrier = self._settings.carrier_of(cluster)
                    yield carrier, self._make.topic_collector(cluster)
                    yield from ((carrier, made) for made in self._make.group_collectors(cluster))
            case "spark":
                for queries in self._settings.spark_queries.values():
                    yield self._settings.carrier_of(queries), self._make.query_collector(queries)
            case _:
                for system in self._settings.systems_in(kind).values():
                    yield self._settings.carrier_of(system), self._make.system_collector(system)

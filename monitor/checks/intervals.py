"""Intervals that are as long as an alert waits: what is read or judged so seldom grows too old every time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from monitor.config import SYSTEM_TABLES, Settings
from monitor.metrics.staleness import CATALOG_OLD_S, COLLECTOR_OLD_S, EVALUATION_OLD_S, OLD_FOR_S
from monitor.model import Value


class _Alert(Value):
    """An alert that is shipped, and the age in seconds beyond which it is pending."""

    name: str
    age_s: int

    @property
    def limit_s(self) -> int:
        """The age in seconds at which it fires."""
        return self.age_s + OLD_FOR_S


_EVALUATION: Final = _Alert("GroupwatchEvaluationOld", EVALUATION_OLD_S)
_CATALOG: Final = _Alert("GroupwatchCatalogOld", CATALOG_OLD_S)
_COLLECTOR: Final = _Alert("GroupwatchCollectorOld", COLLECTOR_OLD_S)


def seldom_judged(settings: Settings) -> Iterator[str]:
    """A trigger so long that an alert fires before every batch."""
    yield from _told("spark.trigger_s", settings.trigger_s, _EVALUATION)


def seldom_read(settings: Settings) -> Iterator[str]:
    """Intervals of collectors so long that an alert fires before every pass."""
    for cluster in settings.clusters.values():
        yield from _told(
            f"clusters.{cluster.name}.collect_interval_s", cluster.collect_interval_s, _CATALOG, _COLLECTOR
        )
    for table in SYSTEM_TABLES:
        for name, system in settings.systems_in(table).items():  # their readings list their topics, too
            yield from _told(f"{table}.{name}.interval_s", system.interval_s, _CATALOG, _COLLECTOR)
    for name, queries in settings.spark_queries.items():
        yield from _told(f"spark_queries.{name}.interval_s", queries.interval_s, _COLLECTOR)


def _told(key: str, interval_s: float, *alerts: _Alert) -> Iterator[str]:
    fire = " and ".join(f"{alert.name} (beyond {alert.limit_s} s)" for alert in alerts if interval_s >= alert.limit_s)
    if fire:
        yield f"{key} is {interval_s:g} s: {fire} will fire repeatedly without a fault."

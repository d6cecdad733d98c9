"""The clusters that do not answer at the start: the job starts without them, and its collectors try again."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from monitor.checks.connectivity import AT_ONCE
from monitor.collectors.errors import ClusterAway, NotYetReadable
from monitor.collectors.kafka.preflight import check
from monitor.collectors.kafka_client.connection import CONNECT_LIMIT_S
from monitor.config import ClusterSettings, Settings
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.runtime.lifetime import Lifetime

log = logging.getLogger(__name__)


def find_away(
    settings: Settings, lifetime: Lifetime, *, strict: bool, limit_s: float = CONNECT_LIMIT_S
) -> dict[str, str]:
    """Why each Kafka cluster that does not answer within ``limit_s`` seconds is away, by its name; each is logged.

    Raises:
        CollectorError, ConfigError: a cluster cannot be watched as it is configured, or none answers, or (``strict``)
            one does not.
        Stopped: the command was stopped.
    """
    lifetime.go_on()
    clusters = tuple(settings.clusters.values())
    with ThreadPoolExecutor(AT_ONCE) as pool:
        reasons = tuple(pool.map(partial(_reason_away, limit_s=limit_s), clusters, map(settings.carrier_of, clusters)))
    lifetime.go_on()
    away = {cluster.name: reason for cluster, reason in zip(clusters, reasons, strict=True) if reason is not None}
    if away and (strict or len(away) == len(clusters)):
        raise ClusterAway(" ".join(dict.fromkeys(away.values())))
    for name, reason in away.items():
        log.warning("%s Starting without it; it is watched once it answers.", reason, extra={"cluster": name})
    return away


def show_away(settings: Settings, store: SnapshotStore, away: Mapping[str, str]) -> None:
    """Show the reason for these clusters, and for the systems whose events they carry."""
    carriers = {name: name for name in settings.clusters}
    carriers |= {system.name: settings.carrier_of(system).name for system in settings.systems}
    for watched, carrier in carriers.items():
        if carrier in away:
            store.report_problem(watched, away[carrier], is_away=True)


def _reason_away(cluster: ClusterSettings, carrier: ClusterSettings, *, limit_s: float) -> str | None:
    try:
        check(cluster, limit_s, carrier)
    except NotYetReadable as missing:
        log.warning("%s Waiting for it.", missing, extra={"cluster": cluster.name})
    except ClusterAway as error:
        return str(error)
    return None

"""What the job sends of its own accord, as the settings want it: metrics to a collector, findings to a webhook."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from monitor.collectors.kafka.findings_feed import FindingsFeed
from monitor.config import ClusterSettings, Settings
from monitor.metrics.process_metrics import ProcessMetrics
from monitor.metrics.version import installed_version
from streaming_jobs.driver.findings_webhook import FindingsOf, FindingsWebhook, stop_all
from streaming_jobs.driver.snapshot_store import SnapshotStore

if TYPE_CHECKING:
    from monitor.push.attributes import Convention


def metrics_push(store: SnapshotStore, settings: Settings) -> AbstractContextManager[object]:
    """Push what the store serves, for the time of a ``with`` block; nothing, if no endpoint is set."""

    def text() -> str:
        from monitor.push.pusher import served_text  # noqa: PLC0415 -- its packages are an extra

        return served_text(store.read(), store.process)

    return text_push(text, store.process, settings)


def text_push(text: Callable[[], str], process: ProcessMetrics, settings: Settings) -> AbstractContextManager[object]:
    """The same for any text that a scrape would get."""
    if not settings.otlp.is_on:
        return nullcontext()
    from monitor.push.pusher import Pusher  # noqa: PLC0415 -- as above

    resource = {
        "service.name": "groupwatch",
        "service.version": installed_version(),
        "service.instance.id": f"{socket.gethostname()}:{settings.http.port}",
    }
    return Pusher(settings.otlp, text, process, resource, _convention(settings))


def _convention(settings: Settings) -> Convention | None:
    """How attributes are named; None: as the labels are."""
    from monitor.push.attributes import Convention  # noqa: PLC0415 -- as above

    if settings.otlp.attributes == "labels":
        return None
    zookeeper = {each.name: each.system for each in settings.zookeeper.values()}
    systems = dict.fromkeys(settings.rocketmq, "rocketmq") | zookeeper
    return Convention(systems, settings.metrics.cluster_label, keeps_labels=settings.otlp.attributes == "both")


def _webhook(cluster: ClusterSettings, settings: Settings, process: ProcessMetrics) -> FindingsWebhook:
    feed = FindingsFeed(cluster, settings.webhook.group)
    topic, url = carried_findings(cluster, settings), settings.http.external_url
    return FindingsWebhook(topic, settings.webhook, feed, process, external_url=url)


def carried_findings(cluster: ClusterSettings, settings: Settings) -> FindingsOf:
    """Whose findings the topic of a cluster has."""
    watched = [*settings.clusters.values(), *settings.systems]
    carried = [each.name for each in watched if each is not cluster and settings.carrier_of(each).name == cluster.name]
    return FindingsOf(cluster.name, tuple(carried))


@contextmanager
def findings_delivery(store: SnapshotStore, settings: Settings) -> Iterator[None]:
    """Send the findings of all clusters to the webhook, for the time of a ``with`` block; nothing, if it has no url.

    Of jobs that share the groups, only the first sends: all of them write to the same topics.
    """
    is_wanted = settings.webhook.is_on and settings.shard.is_first
    carriers = [cluster for cluster in settings.clusters.values() if not cluster.via]
    wanted = [cluster for cluster in carriers if is_wanted and cluster.findings_topic]
    webhooks = [_webhook(cluster, settings, store.process) for cluster in wanted]
    for webhook in webhooks:
        webhook.start()
    try:
        yield
    finally:
        stop_all(webhooks)

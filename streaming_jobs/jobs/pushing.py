"""The push of the metrics of a job or of collectors, as the settings want it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from monitor.config import Settings
from monitor.metrics.process_metrics import ProcessMetrics
from monitor.metrics.version import installed_version
from streaming_jobs.driver.snapshot_store import SnapshotStore


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
    return Pusher(settings.otlp, text, process, resource)

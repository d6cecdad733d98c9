"""The push of the job's metrics, as the settings want it."""

from __future__ import annotations

import socket
from contextlib import AbstractContextManager, nullcontext

from monitor.config import Settings
from monitor.metrics.version import installed_version
from streaming_jobs.driver.snapshot_store import SnapshotStore


def metrics_push(store: SnapshotStore, settings: Settings) -> AbstractContextManager[object]:
    """Push what the store serves, for the time of a ``with`` block; nothing, if no endpoint is set."""
    if not settings.otlp.is_on:
        return nullcontext()
    from monitor.push.pusher import Pusher, served_text  # noqa: PLC0415 -- its packages are an extra

    resource = {
        "service.name": "groupwatch",
        "service.version": installed_version(),
        "service.instance.id": f"{socket.gethostname()}:{settings.http.port}",
    }
    return Pusher(settings.otlp, lambda: served_text(store.read(), store.process), store.process, resource)

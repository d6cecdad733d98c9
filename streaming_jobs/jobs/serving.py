"""The HTTP server as the settings want it."""

from __future__ import annotations

from starlette.applications import Starlette

from monitor.config import HistorySettings
from monitor.config.http import HttpSettings
from monitor.history.apart.past_process import PastProcess
from monitor.web.app import create_app
from monitor.web.http.access_files import AccessFiles
from monitor.web.server import HttpServer
from streaming_jobs.driver.snapshot_store import SnapshotStore


def http_server(
    source: SnapshotStore | Starlette,
    settings: HttpSettings,
    port: int | None = None,
    history: HistorySettings | None = None,
) -> HttpServer:
    """Serve this as the settings say; ``port`` goes before theirs. ``history`` says where the recording is."""
    past = None if history is None else _past(history)
    app = source if isinstance(source, Starlette) else _app(source, past, settings.external_url)
    files = AccessFiles(web_config_file=settings.web_config_file, token_file=settings.token_file)
    at_stop = (lambda: None) if past is None else past.close
    chosen = settings.port if port is None else port
    return HttpServer(app, settings.bind, chosen, files, path=settings.external_path, at_stop=at_stop)


def _app(store: SnapshotStore, past: PastProcess | None, external_url: str | None) -> Starlette:
    return create_app(store, process=store.process, past=past, external_url=external_url)


def _past(history: HistorySettings) -> PastProcess | None:
    if history.folder is None:
        return None
    return PastProcess(history.folder, groups=history.groups)

"""The HTTP server as the settings want it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from starlette.applications import Starlette

from monitor.config import ConfigError, HistorySettings
from monitor.config.expectations import load_expectations
from monitor.config.http import HttpSettings
from monitor.expectations.expectation import Expectations
from monitor.history.apart.past_process import PastProcess
from monitor.web.app import create_app
from monitor.web.http.access_files import AccessFiles
from monitor.web.server import HttpServer
from monitor.web.views.deployment import Deployment
from streaming_jobs.driver.snapshot_store import SnapshotStore


def http_server(
    source: SnapshotStore | Starlette,
    settings: HttpSettings,
    port: int | None = None,
    history: HistorySettings | None = None,
    expectations: Path | None = None,
) -> HttpServer:
    """Serve this as the settings say; ``port`` goes before theirs.

    ``history`` says where the recording is, and ``expectations`` is the file of these: it is read for each request.
    """
    past = None if history is None else _past(history)
    app = source if isinstance(source, Starlette) else _app(source, past, _deployment(settings, expectations))
    files = AccessFiles(web_config_file=settings.web_config_file, token_file=settings.token_file)
    at_stop = (lambda: None) if past is None else past.close
    chosen = settings.port if port is None else port
    return HttpServer(app, settings.bind, chosen, files, path=settings.external_path, at_stop=at_stop)


def _app(store: SnapshotStore, past: PastProcess | None, deployment: Deployment) -> Starlette:
    return create_app(store, process=store.process, past=past, deployment=deployment)


def _deployment(settings: HttpSettings, expectations: Path | None) -> Deployment:
    expected = None if expectations is None else partial(_read_expectations, expectations)
    return Deployment(external_url=settings.external_url, expected=expected)


def _read_expectations(file: Path) -> Expectations:
    try:
        return load_expectations(file)
    except ConfigError as error:
        raise ValueError(" ".join(error.problems)) from error


def _past(history: HistorySettings) -> PastProcess | None:
    if history.folder is None:
        return None
    return PastProcess(history.folder, groups=history.groups)

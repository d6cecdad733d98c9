"""The HTTP server as the settings want it."""

from __future__ import annotations

from starlette.applications import Starlette

from monitor.config.http import HttpSettings
from monitor.web.http.access_files import AccessFiles
from monitor.web.server import HttpServer
from monitor.web.views.snapshot_source import Source


def http_server(source: Source | Starlette, settings: HttpSettings, port: int | None = None) -> HttpServer:
    """Serve this as the settings say; ``port`` goes before theirs."""
    files = AccessFiles(web_config_file=settings.web_config_file, token_file=settings.token_file)
    return HttpServer(source, settings.bind, settings.port if port is None else port, files)

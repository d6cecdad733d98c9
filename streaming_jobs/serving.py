"""The HTTP server as the settings want it."""

from __future__ import annotations

from starlette.applications import Starlette

from monitor.config.http import HttpSettings
from monitor.metrics.access_files import AccessFiles
from monitor.metrics.found import Source
from monitor.metrics.server import HttpServer


def http_server(source: Source | Starlette, settings: HttpSettings, port: int | None = None) -> HttpServer:
    """Serve this as the settings say; ``port`` goes before theirs."""
    files = AccessFiles(web_config_file=settings.web_config_file, token_file=settings.token_file)
    return HttpServer(source, settings.bind, settings.port if port is None else port, files)

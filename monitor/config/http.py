"""Where the page, the metrics and the API are served, and what says who may read them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from monitor.config.section import Section


def _as_path(given: object) -> object:
    """A text as a path; anything else, and the empty text, as it is: it is then told to be none."""
    return Path(given) if isinstance(given, str) and given else given


FilePath = Annotated[Path, BeforeValidator(_as_path), Field(strict=True)]


class HttpSettings(Section):
    """The address of the metrics, the status page and the API, and the files that control access."""

    bind: str = Field(default="127.0.0.1", min_length=1)
    """The address or host name to listen on. The default accepts only connections from this machine; "0.0.0.0" and "::"
    are all addresses."""

    port: int = Field(default=9464, ge=0, le=65535)
    """The port to listen on; 0 takes a free one. The default is OpenTelemetry's port for metrics."""

    web_config_file: FilePath | None = None
    """A web configuration file in the format of Prometheus and its exporters (YAML): TLS, client certificates, users
    with bcrypt hashes. By default there is neither TLS nor a password. It is read again when it, or a file in it,
    changes."""

    token_file: FilePath | None = None
    """A file of bearer tokens, one a line, each with full access. Several tokens let you rotate one after the other. It
    is read again when it changes. By default there are none."""

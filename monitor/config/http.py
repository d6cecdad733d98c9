"""Where the page, the metrics and the API are served, and what says who may read them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, field_validator

from monitor.config.receiver import is_web_address
from monitor.config.section import Section

OWN_PATHS: Final = frozenset(
    {
        "api", "groups", "healthz", "help", "icon.svg", "libraries", "metrics", "page.js", "readyz", "report",
        "style.css", "timeline", "topics",
    }
)  # fmt: skip
"""The first piece of every path that groupwatch serves: a path prefix must begin with another one."""

_PREFIX: Final = re.compile(r"(/[A-Za-z0-9_-][A-Za-z0-9._~-]*)*")
"""No piece begins with a dot: clients take ``.`` and ``..`` out of a path."""


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

    external_url: str | None = Field(default=None, min_length=1)
    """The address under which people open the page, for example `https://ops.example.com/groupwatch`. It begins each
    link that leaves groupwatch: in findings, at the webhook, and in alerts. With a path, the page is served under that
    path too, whether or not the proxy removes it. Not set: nothing has a link to the page."""

    web_config_file: FilePath | None = None
    """A web configuration file in the format of Prometheus and its exporters (YAML): TLS, client certificates, users
    with bcrypt hashes. By default there is neither TLS nor a password. It is read again when it, or a file in it,
    changes."""

    token_file: FilePath | None = None
    """A file of bearer tokens, one a line, each with full access. Several tokens let you rotate one after the other. It
    is read again when it changes. By default there are none."""

    @field_validator("external_url")
    @classmethod
    def _is_external_url(cls, given: str | None) -> str | None:
        if given is None:
            return None
        url = given.rstrip("/")
        if not is_web_address(url) or not _PREFIX.fullmatch(urlsplit(url).path):
            raise ValueError(
                "should be like https://ops.example.com/groupwatch: a scheme (http or https), a host, and perhaps a "
                "port and a plain path, without a user, a query and a fragment"
            )
        first = urlsplit(url).path.split("/")[1:2]
        if OWN_PATHS.intersection(first):
            raise ValueError(f"should have another path: groupwatch itself serves /{first[0]}")
        return url

    @property
    def external_path(self) -> str:
        """The path prefix of ``external_url``, without a slash at its end; "": there is none."""
        return urlsplit(self.external_url or "").path

"""The section ``[otlp]``: whether, where and how metrics are pushed to an OpenTelemetry collector."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, field_validator, model_validator

from monitor.config.client import ClientProperties, as_client_properties
from monitor.config.errors import ConfigError
from monitor.config.http import FilePath
from monitor.config.section import Section

GRPC: Final = "grpc"

_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class OtlpSettings(Section):
    """The push of metrics to an OpenTelemetry collector ([metrics.md](metrics.md#opentelemetry)), beside `/metrics`."""

    endpoint: str | None = Field(default=None, min_length=1)
    """The address of the collector: `http://HOST:PORT` or `https://HOST:PORT`, without a user. A collector usually
    listens on 4317 for `grpc` and on 4318 for `http/protobuf`. For the latter, a path replaces `/v1/metrics`. Not set:
    nothing is pushed. It needs the extra `otlp`."""
    protocol: Literal["grpc", "http/protobuf"] = "grpc"
    """The protocol of OTLP."""
    interval_s: float = Field(default=60.0, ge=1, le=3_600, allow_inf_nan=False)
    """Time between the starts of two pushes. The default is OpenTelemetry's own."""
    headers: Annotated[ClientProperties, BeforeValidator(as_client_properties)] = ClientProperties()
    """A table of headers to send, such as `authorization`. A value may contain `${env:NAME}` and `${file:/path}`. They
    are resolved at each push, so a rotated secret needs no restart. No value is ever shown."""
    ca_file: FilePath | None = None
    """CA certificates (PEM) of the collector's certificate, for `https`. Not set: the machine's own."""

    @field_validator("endpoint")
    @classmethod
    def _is_address(cls, given: str | None) -> str | None:
        if given is not None and not _is_web_address(given):
            raise ValueError("should be http://HOST:PORT or https://HOST:PORT, without a user")
        return given

    @field_validator("headers")
    @classmethod
    def _have_names(cls, given: ClientProperties) -> ClientProperties:
        if not all(map(_HEADER.fullmatch, given)):
            raise ValueError("should have names of HTTP headers")
        return given

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.endpoint is not None and self.protocol == GRPC and urlsplit(self.endpoint).path.strip("/"):
            raise ValueError("endpoint should have no path with the protocol grpc")
        return self

    @property
    def is_on(self) -> bool:
        """Whether anything is pushed."""
        return self.endpoint is not None

    @property
    def url(self) -> str:
        """Where the exporter sends metrics: with the usual path, where there is to be one."""
        endpoint = (self.endpoint or "").rstrip("/")
        return f"{endpoint}/v1/metrics" if self.protocol != GRPC and not urlsplit(endpoint).path else endpoint

    def resolved_headers(self) -> Mapping[str, str]:
        """The headers with their references looked up now, with names in lower case, as gRPC wants them.

        Raises:
            ConfigError: a reference leads nowhere, or a value cannot be sent; without the value.
        """
        found = self.headers.resolve("otlp.headers")
        if wrong := [name for name, value in found.items() if not (value.isascii() and value.isprintable())]:
            raise ConfigError(*(f"otlp.headers.{name} should be printable ASCII." for name in wrong))
        return {name.lower(): value.strip() for name, value in found.items()}


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    has_extras = bool(parts.query or parts.fragment or parts.username is not None or parts.password is not None)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0 and not has_extras

"""The section ``[otlp]``: whether, where and how metrics are pushed to an OpenTelemetry collector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from monitor.config.client import ClientProperties
from monitor.config.http import FilePath
from monitor.config.receiver import Headers, is_web_address, resolve_headers
from monitor.config.section import Section

GRPC: Final = "grpc"
USUAL_PATH: Final = "/v1/metrics"


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
    attributes: Literal["labels", "messaging", "both"] = "labels"
    """The names of attributes. `labels`: those of the labels on `/metrics`. `messaging`: those of OpenTelemetry's
    semantic conventions in place of `group`, `topic`, `partition` and `client_id`, and `messaging.system`. `both`: the
    labels and those."""
    headers: Headers = ClientProperties()
    """A table of headers to send, such as `authorization`. A value may contain `${env:NAME}` and `${file:/path}`. They
    are resolved at each push, so a rotated secret needs no restart. No value is ever shown."""
    ca_file: FilePath | None = None
    """CA certificates (PEM) of the collector's certificate, for `https`. Not set: the machine's own."""

    @field_validator("endpoint")
    @classmethod
    def _is_address(cls, given: str | None) -> str | None:
        if given is not None and not is_web_address(given):
            raise ValueError("should be http://HOST:PORT or https://HOST:PORT, without a user")
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
        return f"{endpoint}{USUAL_PATH}" if self.protocol != GRPC and not urlsplit(endpoint).path else endpoint

    def resolved_headers(self) -> Mapping[str, str]:
        """The headers with their references looked up now, with names in lower case, as gRPC wants them.

        Raises:
            ConfigError: a reference leads nowhere, or a value cannot be sent; without the value.
        """
        return resolve_headers(self.headers, "otlp.headers")

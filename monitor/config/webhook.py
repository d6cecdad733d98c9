"""The section ``[webhook]``: whether and where findings are sent as CloudEvents."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Final

from pydantic import Field, field_validator

from monitor.config.client import ClientProperties
from monitor.config.errors import ConfigError
from monitor.config.http import FilePath
from monitor.config.receiver import Headers, is_web_address, resolve_headers
from monitor.config.section import Section
from monitor.config.systems import Secret

SHORTEST_SECRET: Final = 16
"""A shorter secret (in bytes) could be guessed from a signature."""

SECRET_PREFIX: Final = "whsec_"
"""A secret that begins so is base64, as Standard Webhooks has it; any other counts as it is."""


class WebhookSettings(Section):
    """The delivery of findings as CloudEvents ([findings.md](findings.md#the-webhook)), from the findings topics."""

    url: str | None = Field(default=None, min_length=1)
    """The address of the receiver: `http://HOST:PORT/PATH` or `https://HOST:PORT/PATH`, without a user and a query. Not
    set: no finding is sent."""
    secret: Secret = None
    """The secret of signatures: preferably a reference `${env:NAME}` or `${file:/path}`. It is `whsec_` and padded
    base64, or any other text, which counts as it is. It has at least 16 bytes; those of base64 count decoded. It is
    looked up at each delivery. Not set: events are not signed."""
    headers: Headers = ClientProperties()
    """A table of headers to send, such as `authorization`. A value may contain `${env:NAME}` and `${file:/path}`. They
    are resolved at each delivery. No value is ever shown."""
    ca_file: FilePath | None = None
    """CA certificates (PEM) of the receiver's certificate. Not set: the machine's own."""
    group: str = Field(default="groupwatch.webhook", min_length=1, max_length=249)
    """The consumer group in which the position in the findings topic is committed. Two deployments that watch the same
    cluster need different ones."""

    @field_validator("url")
    @classmethod
    def _is_address(cls, given: str | None) -> str | None:
        if given is not None and not is_web_address(given):
            raise ValueError("should be http://HOST:PORT/PATH or https://HOST:PORT/PATH, without a user and a query")
        return given

    @property
    def is_on(self) -> bool:
        """Whether findings are sent."""
        return self.url is not None

    def resolved_headers(self) -> Mapping[str, str]:
        """The headers with their references looked up now. Raises like ``resolve_headers``."""
        return resolve_headers(self.headers, "webhook.headers")

    def resolved_secret(self) -> bytes | None:
        """The key of signatures, looked up now; None: there is none.

        Raises:
            ConfigError: the reference leads nowhere, or the secret is no base64 or too short.
        """
        if self.secret is None:
            return None
        key = _key(self.secret.resolve("webhook.secret"))
        if len(key) < SHORTEST_SECRET:
            raise ConfigError(
                f"webhook.secret should have at least {SHORTEST_SECRET} bytes; those of base64 count decoded."
            )
        return key


def _key(secret: str) -> bytes:
    if not secret.startswith(SECRET_PREFIX):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):  # the latter: not in ASCII
        raise ConfigError(f"webhook.secret begins with {SECRET_PREFIX}, so the rest should be padded base64.") from None

"""Why an exporter of OpenTelemetry gave up: it returns no reason, but logs one.

Here it becomes a text that can be shown.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from opentelemetry.sdk.environment_variables import OTEL_EXPORTER_OTLP_HEADERS, OTEL_EXPORTER_OTLP_METRICS_HEADERS
from opentelemetry.util.re import parse_env_headers

from monitor.config.client import HIDDEN
from monitor.model.escaping import escaped
from monitor.push.collector_session import UnusableResponseError

LONGEST_REASON: Final = 300

FILTERING: Final = logging.getLogger("opentelemetry.exporter.otlp.proto.grpc.exporter")
"""This logger drops what it logged in the last 20 s, although each push needs its reason."""

logging.getLogger("opentelemetry.util.re").setLevel(logging.CRITICAL)  # it logs a wrong header of the environment whole


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """The text with each secret hidden, also where only the part after its first space is in the text.

    >>> [without_secrets(text, ["Bearer tiger"]) for text in ("wrong: Bearer tiger", "no tiger here")]
    ['wrong: [hidden]', 'no [hidden] here']
    """
    parts = {part.strip() for secret in secrets for part in (secret, secret.partition(" ")[2])} - {""}
    if not parts:
        return text
    longest_first = sorted(parts, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), HIDDEN, text, flags=re.IGNORECASE)


def environment_headers() -> Iterator[str]:
    """The values of the headers that OpenTelemetry's exporters also send: those of the environment."""
    for name in (OTEL_EXPORTER_OTLP_HEADERS, OTEL_EXPORTER_OTLP_METRICS_HEADERS):
        yield from parse_env_headers(os.environ.get(name, ""), liberal=True).values()


class _Kept(logging.Handler):
    """Keeps what is logged as texts that can be shown."""

    def __init__(self, secrets: Iterable[str]) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []
        self._secrets = tuple(secrets)

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(escaped(without_secrets(_reason(record), self._secrets))[:LONGEST_REASON])


def _reason(record: logging.LogRecord) -> str:
    arguments = record.args if isinstance(record.args, tuple) else ()
    own = [str(each) for each in arguments if isinstance(each, UnusableResponseError)]
    return own[0] if own else record.getMessage()


@contextmanager
def export_reasons(secrets: Iterable[str]) -> Iterator[list[str]]:
    """What the exporters log meanwhile, in place of the log: escaped, short and without the secrets.

    The first one is the cause. A server may repeat the headers of a request in its response, which is then logged.
    """
    logger, kept = logging.getLogger("opentelemetry.exporter"), _Kept(secrets)
    propagated, filters = logger.propagate, FILTERING.filters
    logger.addHandler(kept)
    logger.propagate, FILTERING.filters = False, []
    try:
        yield kept.texts
    finally:
        logger.removeHandler(kept)
        logger.propagate, FILTERING.filters = propagated, filters

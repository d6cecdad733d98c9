"""What the distribution's extras install, and what to say where a command needs one of them and it is missing."""

from __future__ import annotations

from typing import Final

from monitor.model.installing import how_to_install

JOB_MODULES: Final = frozenset(
    {
        "pyspark",
        "py4j",
        "prometheus_client",
        "uvicorn",
        "pyarrow",
        "pandas",
        "google.protobuf",
        "kazoo",
        "bcrypt",
        "yaml",
        "deltalake",
        "cryptography",
    }
)
"""The modules that groupwatch imports from the distributions of the extra ``job``."""

MCP_MODULES: Final = frozenset({"mcp", "mcp_types"})
"""Likewise of the extra ``mcp``."""

OTLP_MODULES: Final = frozenset({"opentelemetry.sdk", "opentelemetry.exporter", "grpc", "requests"})
"""Likewise of the extra ``otlp``."""


def missing_extra(module: str | None) -> str | None:
    """The sentence for a module that cannot be imported; None: no extra would install it.

    >>> missing_extra("pyspark.sql")
    "This command needs the packages of the job: run pip install '.[job]' in a clone of groupwatch, or use its image."
    >>> missing_extra("mcp.server")
    "This command needs the official SDK of MCP: run pip install '.[mcp]' in a clone of groupwatch."
    >>> missing_extra("monitor.nothing") is None
    True
    """
    parts = (module or "").split(".")
    names = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
    if names & MCP_MODULES:
        return f"This command needs the official SDK of MCP: {how_to_install('mcp')}."
    if names & OTLP_MODULES:
        return f"A push needs the exporters of OpenTelemetry: {how_to_install('otlp')}."
    if names & JOB_MODULES or names == {"google"}:
        return f"This command needs the packages of the job: {how_to_install('job')}."
    return None

"""What the distribution's extras install, and what to say where a command needs one of them and it is missing."""

from __future__ import annotations

from typing import Final, NamedTuple

from monitor.model.installing import how_to_install


class Extra(NamedTuple):
    """An extra: who needs it, and the modules that groupwatch imports from its distributions."""

    name: str
    needed: str
    modules: frozenset[str]


JOB: Final = Extra("job", "This command needs the packages of the job", frozenset({"pyspark", "py4j", "pandas"}))
COLLECT: Final = Extra(
    "collect",
    "This command needs the packages of the collectors",
    frozenset({"prometheus_client", "uvicorn", "google.protobuf", "kazoo", "bcrypt", "yaml", "cryptography"}),
)
HISTORY: Final = Extra(
    "history", "A recording is read by packages of its own", frozenset({"pyarrow", "deltalake", "arro3"})
)
MCP: Final = Extra("mcp", "This command needs the official SDK of MCP", frozenset({"mcp", "mcp_types"}))
OTLP: Final = Extra(
    "otlp",
    "A push needs the exporters of OpenTelemetry",
    frozenset({"opentelemetry.sdk", "opentelemetry.exporter", "grpc", "requests"}),
)
EXTRAS: Final = (JOB, COLLECT, HISTORY, MCP, OTLP)

_INCLUDED: Final = (COLLECT, HISTORY)
"""The extra of the job has these, too."""
_COMMANDS_OF_THE_JOB: Final = frozenset({"run", "prepare", "demo"})


def missing_extra(module: str | None, command: str = "") -> str | None:
    """The sentence for a module that a command cannot import; None: no extra would install it.

    >>> missing_extra("kazoo.client", "collect")
    "This command needs the packages of the collectors: install groupwatch again with the extra collect (in a clone: \
pip install '.[collect]'), or use its image."
    >>> missing_extra("kazoo.client", "run")
    "This command needs the packages of the job: install groupwatch again with the extra job (in a clone: \
pip install '.[job]'), or use its image."
    >>> missing_extra("monitor.nothing") is None
    True
    """
    parts = (module or "").split(".")
    names = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
    found = COLLECT if names == {"google"} else next((each for each in EXTRAS if names & each.modules), None)
    if found in _INCLUDED and command in _COMMANDS_OF_THE_JOB:
        found = JOB
    return None if found is None else f"{found.needed}: {how_to_install(found.name)}."

"""What the distribution's extra ``job`` installs, and what to say where a command needs it and it is missing."""

from __future__ import annotations

from typing import Final

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
"""The modules that groupwatch imports from the distributions of the extra."""


def missing_extra(module: str | None) -> str | None:
    """The sentence for a module that cannot be imported; None: the extra would not install it.

    >>> missing_extra("pyspark.sql")
    "This command needs the packages of the job: install 'groupwatch[job]'."
    >>> missing_extra("monitor.nothing") is None
    True
    """
    parts = (module or "").split(".")
    names = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
    if not names & JOB_MODULES and names != {"google"}:
        return None
    return "This command needs the packages of the job: install 'groupwatch[job]'."

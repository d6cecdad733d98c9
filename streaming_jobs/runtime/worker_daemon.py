"""The process that Spark's Python workers are forked from: what they need is imported once, and its memory shared.

Spark's own daemon forks workers that each import pandas, pyarrow and groupwatch for themselves: 0.7 s of CPU and 60 MB
a worker.
"""

from __future__ import annotations

import gc
import os
from importlib import import_module
from types import SimpleNamespace
from typing import Final

from streaming_jobs.runtime.archives import leave_out_archives

NEEDED: Final = ("pandas", "pyspark.worker", "streaming_jobs.buckets.processor", "streaming_jobs.ingest.decoding")
"""The modules of a worker."""


def collect_young_garbage_only() -> None:
    """Let workers look for garbage after a task where there can be some: among what is new.

    PySpark's daemon has every object of a worker looked at after each task, and a worker keeps the states of its
    buckets from one micro-batch to the next. Python itself still looks at all of them whenever many are new.
    """
    daemon = import_module("pyspark.daemon")
    daemon.gc = SimpleNamespace(collect=lambda: gc.collect(1))  # type: ignore[attr-defined] # its name for the module
    gc.collect()
    gc.freeze()  # what was imported stays, and stays shared with the workers


def main() -> None:
    """Prepare, then fork workers as Spark asks for them."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no threads before a fork, and none are needed after it
    leave_out_archives()
    for name in NEEDED:
        import_module(name)
    collect_young_garbage_only()
    import_module("pyspark.daemon").manager()


if __name__ == "__main__":
    main()

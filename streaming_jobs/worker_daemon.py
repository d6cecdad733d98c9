"""The process that Spark's Python workers are forked from: what they need is imported once, and its memory shared.

Spark's own daemon forks workers that each import pandas, pyarrow and groupwatch for themselves: 0.7 s of CPU and 60 MB
a worker.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no threads before a fork, and none that are wanted after it

import pyspark.worker
from pyspark.daemon import manager

import streaming_jobs.bucket_processor
import streaming_jobs.decoding

__all__ = ["manager", "pyspark", "streaming_jobs"]

if __name__ == "__main__":
    manager()  # type: ignore[no-untyped-call]  # PySpark's own

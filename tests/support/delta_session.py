"""The process of tests.support.delta_spark: one session, and the programs that are asked for, one after the other."""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from io import StringIO
from select import select
from typing import Final

from pyspark.sql import SparkSession

from monitor.java_runtime.jars import job_jars
from streaming_jobs.runtime.session import DELTA, create_session, stop_session
from tests.support.job_process import BRIEF_JVM, DRIVER_JVM

IDLE_S: Final = 240
"""Where nobody has asked for so long, it ends: it holds 0.7 GB, and its worker may have other tests."""


@contextmanager
def delta_session() -> Iterator[SparkSession]:
    """A session of this process."""
    spark = create_session("local[2]", 2, job_jars(is_recorded=True), {**DELTA, DRIVER_JVM: BRIEF_JVM})
    try:
        yield spark
    finally:
        stop_session(spark, 20)


def answer(spark: SparkSession, asked: str) -> str:
    """What a program failed with, what it gave and what it logged, as a line of JSON."""
    module, arguments = json.loads(asked)
    logged = StringIO()
    handler = logging.StreamHandler(logged)
    logging.getLogger().addHandler(handler)
    failure, value = None, None
    try:
        value = import_module(module).run(spark, *arguments)
    except Exception:
        failure = traceback.format_exc()
    finally:
        logging.getLogger().removeHandler(handler)
    return json.dumps([failure, value, logged.getvalue()]) + "\n"


def main() -> None:
    """Answer each line of the input until it ends, or until nobody has asked for a while."""
    logging.getLogger().setLevel(logging.INFO)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a program prints is no answer
    with delta_session() as spark:
        while select([sys.stdin.fileno()], [], [], IDLE_S)[0] and (asked := sys.stdin.readline()):
            answers.write(answer(spark, asked))
            answers.flush()


if __name__ == "__main__":
    main()

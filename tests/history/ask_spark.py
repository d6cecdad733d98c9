"""Queries to a recording by Spark SQL: ``python -m tests.history.ask_spark FOLDER`` reads them as JSON, answers so."""

from __future__ import annotations

import json
import sys

from pyspark.sql import Row

from monitor.java_runtime.jars import job_jars
from streaming_jobs.runtime.session import DELTA, create_session, stop_session
from tests.support.job_process import BRIEF_JVM, DRIVER_JVM


def plain(row: Row) -> list[str | int | float | None]:
    """The values of a row as JSON has them."""
    return [each if each is None or isinstance(each, str | int) else float(each) for each in row]


def main() -> None:
    """Ask each query of views of the tables."""
    asked = json.load(sys.stdin)
    spark = create_session("local[2]", 2, job_jars(is_recorded=True), {**DELTA, DRIVER_JVM: BRIEF_JVM})
    for name in asked["tables"]:
        spark.sql(f"CREATE TEMPORARY VIEW {name} USING delta OPTIONS (path '{sys.argv[1]}/{name}')")
    answers = {question: list(map(plain, spark.sql(query).collect())) for question, query in asked["queries"].items()}
    sys.stdout.write(json.dumps(answers))
    stop_session(spark, 20)


if __name__ == "__main__":
    main()

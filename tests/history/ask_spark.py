"""Queries to a recording by Spark SQL: a program of tests.support.delta_spark."""

from __future__ import annotations

from pyspark.sql import Row, SparkSession

Value = str | int | float | None


def plain(row: Row) -> list[Value]:
    """The values of a row as JSON has them."""
    return [each if each is None or isinstance(each, str | int) else float(each) for each in row]


def run(spark: SparkSession, folder: str, tables: list[str], queries: dict[str, str]) -> dict[str, list[list[Value]]]:
    """The answers to the queries of views of the tables."""
    session = spark.newSession()  # its views are its own
    for name in tables:
        session.sql(f"CREATE TEMPORARY VIEW {name} USING delta OPTIONS (path '{folder}/{name}')")
    return {question: list(map(plain, session.sql(query).collect())) for question, query in queries.items()}

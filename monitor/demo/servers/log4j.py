"""Configurations of log4j."""

from __future__ import annotations


def log4j1_properties(level: str, *quiet: str) -> str:
    """The text of log4j.properties of version 1: everything from ``level`` on goes to standard output.

    Args:
        level: As "INFO".
        quiet: The loggers of which only warnings matter.
    """
    return (
        f"log4j.rootLogger={level}, out\n"
        "log4j.appender.out=org.apache.log4j.ConsoleAppender\n"
        "log4j.appender.out.layout=org.apache.log4j.PatternLayout\n"
        "log4j.appender.out.layout.ConversionPattern=%d{ISO8601} %-5p %m (%c)%n\n"
        + "".join(f"log4j.logger.{name}=WARN\n" for name in quiet)
    )

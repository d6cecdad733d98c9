"""Typed instants in a time zone."""

from __future__ import annotations

import os
from datetime import UTC, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from monitor.cli.answering import now_ms
from monitor.cli.errors import SourceError
from monitor.cli.sources.source import answering
from monitor.history.instants import instant_text, is_relative, read_instant
from monitor.messages.names import shown


def instant_in_zone(text: str, zone_name: str | None, at_ms: int | None = None) -> str:
    """An instant as a source takes it: what depends on the zone becomes a time in UTC. Without a zone, it stays.

    Args:
        text: the instant as a person types it.
        zone_name: the name of a time zone, or ``local``; None: UTC.
        at_ms: now; None: as the machine's clock has it.

    Raises:
        SourceError: it is no instant, or there is no such zone.
    """
    if zone_name is None:
        return text
    zone = time_zone(zone_name)
    if is_relative(text):
        return text
    with answering():
        return instant_text(read_instant(text, now_ms() if at_ms is None else at_ms, zone))


def time_zone(name: str) -> tzinfo:
    """The time zone of this name; ``local`` is that of the machine.

    Raises:
        SourceError: there is none.
    """
    if name.upper() == "UTC":
        return UTC
    try:
        return _local() if name == "local" else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise SourceError(
            f"There is no time zone {shown(name)}: give a name such as Europe/Berlin, local, or UTC."
        ) from None


def _local() -> tzinfo:
    """The zone of the variable TZ, else of the machine."""
    if name := os.environ.get("TZ", "").removeprefix(":"):
        return ZoneInfo(name)
    file = Path("/etc/localtime")
    if not file.exists():
        return UTC
    with file.open("rb") as rules:
        return ZoneInfo.from_file(rules, key="local")

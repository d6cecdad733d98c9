"""How far a recording reaches: until its newest portion, unless a backlog was read or the clock was ahead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from monitor.history.delta_tables import DeltaRecording
from monitor.history.recorded import EVENTS_VERSION, NotRecordedError
from monitor.history.tables import EVENTS, REACH, Table
from streaming_jobs.recording.arrow import arrow_schema


def append(folder: Path, table: Table, *rows: dict[str, Any]) -> None:
    known = {"cluster": "k", "day": "1970-01-01"}
    written = pa.Table.from_pylist([known | row for row in rows], arrow_schema(table.columns))
    write_deltalake(str(folder / table.name), written, mode="append", partition_by=["cluster", "day"])


def portion(recorded_ms: int) -> dict[str, Any]:
    times = {"recorded_ms": recorded_ms, "first_ms": recorded_ms, "last_ms": recorded_ms}
    return times | {"entity": "pass", "name": "", "version": EVENTS_VERSION, "events": b"\x90"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    append(tmp_path, EVENTS, portion(1_000), portion(9_000))
    return tmp_path


def reach_ms(folder: Path) -> int:
    return DeltaRecording(str(folder)).reach_ms("k")


def test_it_reaches_its_newest_portion(folder: Path):
    assert reach_ms(folder) == 9_000


def test_while_a_backlog_is_read_it_reaches_what_was_complete_before(folder: Path):
    append(folder, REACH, {"recorded_ms": 2_000, "until_ms": 1_500})
    assert reach_ms(folder) == 1_500
    append(folder, REACH, {"recorded_ms": 9_500, "until_ms": None})
    assert reach_ms(folder) == 9_000
    append(folder, REACH, {"cluster": "other", "recorded_ms": 9_900, "until_ms": 1_000})
    assert reach_ms(folder) == 9_000


def test_before_the_logs_were_read_to_their_ends_nothing_is_known(folder: Path):
    append(folder, REACH, {"recorded_ms": 500, "until_ms": 0})
    with pytest.raises(NotRecordedError, match=r"^The logs of cluster k have not been read to their ends yet\.$"):
        reach_ms(folder)


def test_it_reaches_no_further_than_its_events_whatever_clock_dated_the_portion(folder: Path):
    """The clock was five hours ahead when an older groupwatch recorded what had happened at 9 s."""
    append(folder, EVENTS, portion(18_000_000) | {"first_ms": 2_000, "last_ms": 9_500})
    assert reach_ms(folder) == 69_500

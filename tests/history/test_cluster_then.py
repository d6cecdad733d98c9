"""All groups of a cluster at an instant: each as it is when asked for alone."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from monitor.detection.evaluation_input import only_concerned
from monitor.history.past import RecordedPast
from monitor.history.recorded import EVENTS_VERSION, NotRecordedError, RecordedRow, decode_events
from monitor.history.replay import inputs_at
from monitor.history.tables import EVENTS, day_of
from monitor.model import Entity
from monitor.snapshot_file import all_lines, find_inputs
from streaming_jobs.recording.arrow import arrow_schema
from tests.history.memory import MemoryRecording
from tests.history.test_story import HISTORY, START, commit, row

OTHER = row(Entity.GROUP, "h", 20, [commit(20, 0, 7)])
RECORDING = MemoryRecording([*HISTORY.every_row, OTHER])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recording of the stories, and one more group, in a folder."""
    folder = tmp_path_factory.mktemp("history")
    written = pa.Table.from_pylist([as_columns(each) for each in RECORDING.every_row], arrow_schema(EVENTS.columns))
    write_deltalake(str(folder / EVENTS.name), written, partition_by=["cluster", "day"])
    return folder


def as_columns(own: RecordedRow) -> dict[str, object]:
    times = [event.at_ms for event in decode_events(own)]
    place = {"cluster": "c", "day": day_of(own.recorded_ms), "recorded_ms": own.recorded_ms, "entity": own.entity.value}
    told = {"first_ms": min(times), "last_ms": max(times), "version": EVENTS_VERSION, "events": own.events}
    return {"name": own.name, "position": own.position} | place | told


@pytest.mark.parametrize("second", [30, 70, 100, 260])
def test_each_group_is_as_when_asked_for_alone(folder: Path, second: int):
    at_ms = START + second * 1_000
    lines = b"".join(all_lines(RecordedPast(str(folder)).clusters(at_ms))).splitlines(keepends=True)
    for group in ("g", "h"):
        alone = inputs_at(RECORDING, "c", group, at_ms)
        assert alone is not None
        assert only_concerned(find_inputs(lines, "c", group)) == alone


def test_an_instant_that_is_not_recorded_is_refused(folder: Path):
    with pytest.raises(NotRecordedError, match=r"^The recording of cluster c reaches until "):
        RecordedPast(str(folder)).clusters(START + 10_000_000)

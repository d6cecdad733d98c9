"""How many members a recorded group needed, as a report has it."""

from __future__ import annotations

import pytest

from monitor.detection.thresholds.overrides import DetectionRules, ScaleEntry
from monitor.history.recorded import RecordedSettings
from monitor.history.report.assemble import group_report
from monitor.history.report.document import report_document
from monitor.history.report.facts import IncidentReport
from monitor.model.scaling import ScaleHold, ScaleTarget
from tests.history.incidents import Made, ms
from tests.history.memory import MemoryRecording

ASKS = RecordedSettings(DetectionRules(scales=(ScaleEntry("g", ScaleTarget()),)))
LENGTH_S = 600


def slow() -> MemoryRecording:
    """60 records a second come into each of 6 partitions. a and b own three each, and read 40 a second in each."""
    made = Made(LENGTH_S)
    made.poll(partitions=lambda _: 6, ends=lambda second, _: 60 * second)
    made.assign(5, 1, {"a": [0, 1, 2], "b": [3, 4, 5]})
    for second in range(10, LENGTH_S + 1, 5):
        for partition in range(6):
            made.commit(second, partition, 40 * second)
    return made.recording()


def report(settings: RecordedSettings | None, since_s: int = 0) -> IncidentReport:
    found = group_report(MemoryRecording(slow().every_row, settings=settings), "c", "g", ms(since_s), ms(LENGTH_S))
    assert found is not None
    return found


def test_a_report_has_the_number_since_how_fast_members_read_is_known():
    """A member reads 120 records a second: two partitions bring 120, more than the headroom leaves, so it takes six."""
    found = [(each.from_ms, each.scaling.wanted_members, each.scaling.hold) for each in report(ASKS).needed]
    assert found == [
        (ms(5), None, None),  # the lag is not known yet
        (ms(10), None, None),  # nor what comes in
        (ms(60), None, None),  # and the group has just come
        (ms(90), 6, None),
    ]
    assert report(ASKS).needed[-1].scaling.capacity_per_s == pytest.approx(120)


def test_a_group_that_was_there_before_the_report_is_known():
    found = report(ASKS, since_s=30).needed
    assert [(each.from_ms, each.scaling.wanted_members, each.scaling.hold) for each in found] == [
        (ms(30), None, None),  # what comes in is known after a minute
        (ms(60), 2, ScaleHold.CAPACITY),
        (ms(90), 6, None),
    ]


def test_the_document_has_a_section_with_the_numbers():
    [section] = [each for each in report_document(report(ASKS)).sections if each.heading == "Members needed"]
    assert section.text == (
        "An entry [[scale]] asks that no record waits longer than 1 min. At 02:15:30.0: Lag: 10,800 records. "
        "Incoming: 360 records/s. A member reads: 120 records/s (2 measurements)."
    )
    assert section.headings == ("time", "members", "needed", "why")
    assert section.rows[-1] == (
        "02:15:30.0",
        "2",
        "6",
        "6 members are enough to read all that waits within 1 min.",
    )


def test_without_an_entry_there_is_none():
    found = report(None)
    assert found.needed == ()
    assert "Members needed" not in [each.heading for each in report_document(found).sections]

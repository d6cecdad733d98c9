"""The chart of owners: who had a partition when, where nobody had it, and where several had it."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from monitor.charts.owners import MOST_OWNERS, MOST_PARTITIONS, owners_chart
from monitor.charts.values import OwnersChart, OwnerSpan, TimeRange
from tests.charts.test_lag_chart import AT, HOSTILE, RANGE, SVG


def drawn(*spans: OwnerSpan) -> ET.Element:
    return ET.fromstring(owners_chart(OwnersChart(RANGE, spans)))


def test_a_partition_has_a_bar_for_each_owner_and_marks_where_there_is_none_or_are_two():
    """A range of 1,000 s: owned for a half of it, without an owner for 300 s, and twice for 200 s."""
    root = drawn(
        OwnerSpan("orders 0", ("a",), AT, AT + 500_000),
        OwnerSpan("orders 0", (), AT + 500_000, AT + 800_000),
        OwnerSpan("orders 0", ("a", "b"), AT + 800_000, AT + 1_000_000),
    )
    bars = [
        (each.get("class"), each.get("x"), each.get("width")) for each in root.findall(f"./{SVG}svg/{SVG}g/{SVG}rect")
    ]
    assert bars == [
        ("chart-owner chart-owner-0", "0.000%", "50.000%"),
        ("chart-orphan", "50.000%", "30.000%"),
        ("chart-owner chart-double", "80.000%", "20.000%"),
    ]
    assert [each.text for each in root.findall(f"./{SVG}svg/{SVG}g/{SVG}text")] == ["orders 0", "#1", "no owner", "2"]
    assert [each.text for each in root.findall(f"./{SVG}svg/{SVG}g/{SVG}title")] == [
        "orders 0: a, 2026-11-22 02:14:00 UTC to 2026-11-22 02:22:20 UTC",
        "orders 0: no owner, 2026-11-22 02:22:20 UTC to 2026-11-22 02:27:20 UTC",
        "orders 0: a, b, 2026-11-22 02:27:20 UTC to 2026-11-22 02:30:40 UTC",
    ]
    assert root.findtext(f"{SVG}desc") == "1 partition. For some time, 1 had no owner, and 1 had several owners."
    assert [each.text for each in root.iter(f"{SVG}text")][-2:] == ["#1 a", "#2 b"]


def test_of_many_partitions_those_with_something_to_see_are_shown_and_the_others_counted():
    """The last of 50 had no owner, and the one before two: 48 others stay, of which 38 are shown."""
    calm = [OwnerSpan(f"t {n}", ("a",), AT, RANGE.until_ms) for n in range(48)]
    changed = [OwnerSpan("t 48", (name,), AT + n, RANGE.until_ms) for n, name in enumerate("ab")]
    root = drawn(*calm, *changed, OwnerSpan("t 49", (), AT, RANGE.until_ms))
    texts = [each.text or "" for each in root.iter(f"{SVG}text")]
    names = [text for text in texts if text.startswith("t ")]
    assert names == [f"t {n}" for n in (*range(38), 48, 49)]
    assert len(names) == MOST_PARTITIONS
    assert texts[-1] == "10 more partitions not shown"


def test_owners_that_change_all_the_time_are_counted():
    """300 changes, one every three seconds: two in each of the 150 parts of the range."""
    span = TimeRange(AT, AT + 900_000)
    spans = [OwnerSpan("t 0", ("ab"[n % 2],), AT + n * 3_000, AT + n * 3_000 + 3_000) for n in range(300)]
    root = ET.fromstring(owners_chart(OwnersChart(span, spans)))
    bars = [each.text or "" for each in root.findall(f"./{SVG}svg/{SVG}g/{SVG}title")]
    assert len(bars) == 150
    assert bars[0] == "t 0: 2 changes of the owner, 2026-11-22 02:14:00 UTC to 2026-11-22 02:14:06 UTC"


def test_many_owners_are_counted_and_each_bar_still_names_its_own():
    spans = [OwnerSpan(f"t {n}", (f"m{n}",), AT, RANGE.until_ms) for n in range(MOST_OWNERS + 3)]
    root = drawn(*spans)
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert texts[-1] == "and 3 more members"
    assert f"#{MOST_OWNERS} m{MOST_OWNERS - 1}" in texts
    assert f"#{MOST_OWNERS + 1} m{MOST_OWNERS}" not in texts
    last = f"t {MOST_OWNERS + 2}: m{MOST_OWNERS + 2}, "
    assert any((each.text or "").startswith(last) for each in root.iter(f"{SVG}title"))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_names(name: str):
    def chart(text: str) -> str:
        return owners_chart(OwnersChart(RANGE, (OwnerSpan(text, (text,), AT, RANGE.until_ms, text),)))

    found, plain = ET.fromstring(chart(name)), ET.fromstring(chart("orders"))
    assert [each.tag for each in found.iter()] == [each.tag for each in plain.iter()]
    assert not any(char in chart(name) for char in "\x00\x1b\u202e\udcff")


def test_nothing_known_is_an_empty_chart():
    assert drawn().findtext(f"{SVG}desc") == "0 partitions. For some time, 0 had no owner, and 0 had several owners."
    assert TimeRange(5, 5).place(5) == 0

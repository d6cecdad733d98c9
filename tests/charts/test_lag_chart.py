"""The chart of a lag: places by arithmetic, names that try to be elements, and what is left out."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from monitor.charts.lag import FLOOR, MOST_ROWS, PLOT, lag_chart
from monitor.charts.style import STYLE
from monitor.charts.values import LagAt, LagChart, Mark, Span, TimeRange, Zoom
from monitor.model.findings import Severity

AT = 1_795_313_640_000  # 2026-11-22 02:14 UTC
RANGE = TimeRange(AT, AT + 1_000_000)
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>alert(1)</script>",
    '"><svg onload="x">',
    "a\x00b\x1b[2J",
    "\u202egnitset",
    "\udcff",
    "]]>",
    "&amp;",
)


def drawn(chart: LagChart, **options: object) -> ET.Element:
    return ET.fromstring(lag_chart(chart, **options))  # type: ignore[arg-type]


def titles(root: ET.Element, path: str) -> list[str]:
    return [each.text or "" for each in root.findall(f"{path}/{SVG}title")]


def test_the_line_is_at_its_time_and_height_and_interrupted_where_the_lag_is_unknown():
    """A range of 1,000 s; the axis goes to 100. A quarter of the time is 2,500 of the 10,000 parts of the box."""
    points = (LagAt(AT, 0), LagAt(AT + 250_000, 100), LagAt(AT + 500_000, None), LagAt(AT + 1_000_000, 50))
    lines = [each.get("points") for each in drawn(LagChart(RANGE, points)).iter(f"{SVG}polyline")]
    top, middle = FLOOR - PLOT, FLOOR - PLOT / 2
    assert lines == [f"0,{FLOOR}.0 2500,{top}.0", f"9990,{middle} 10010,{middle}"]


def test_time_before_the_recording_is_not_drawn_as_a_lag_of_0():
    """It begins after a quarter of the chart. A first point near the start leaves nothing out."""
    late = LagChart(TimeRange(0, 4_000_000), (LagAt(1_000_000, 5), LagAt(4_000_000, 5)))
    text = lag_chart(late)
    (piece,) = re.findall(r'<rect class="chart-unrecorded"[^>]*>', text)
    assert 'x="0"' in piece
    assert 'width="25.000%"' in piece
    assert ">not recorded</text>" in text
    assert "Nothing of the group is recorded before 1970-01-01 00:16:40 UTC." in text
    early = LagChart(TimeRange(0, 4_000_000), (LagAt(10_000, 5), LagAt(4_000_000, 5)))
    assert "recorded" not in lag_chart(early, with_style=False)


def test_a_part_without_points_is_not_recorded_and_one_without_a_lag_is_unknown_and_no_line_crosses_either():
    """A range of 1,000 s: points each 100 s until 300, from 600 on again, and no lag from 800 to 900."""
    times = {0: 5, 100: 5, 200: 5, 300: 5, 600: 5, 700: 5, 800: None, 900: None, 1_000: 5}
    points = tuple(LagAt(AT + second * 1_000, lag) for second, lag in times.items())
    chart = LagChart(RANGE, points, spans=(Span(AT, AT + 1_000, Severity.CRITICAL, "Orphaned", ""),), apart_ms=200_000)
    pieces = [each for each in drawn(chart).iter(f"{SVG}rect") if each.get("class") == "chart-unrecorded"]
    assert [(each.get("x"), each.get("width")) for each in pieces] == [("30.000%", "30.000%"), ("80.000%", "20.000%")]
    recorded, unknown = (float(each.get("height") or 0) for each in pieces)
    assert recorded > unknown == FLOOR
    text = lag_chart(chart)
    assert (">not recorded</text>" in text, ">lag unknown</text>" in text) == (True, True)
    assert "Nothing of the group is recorded from 2026-" in text
    assert "The lag is unknown in a part of the time." in text
    assert len(list(drawn(chart).iter(f"{SVG}polyline"))) == 3


def test_bars_are_cut_at_the_range_and_have_the_color_of_their_severity():
    spans = (
        Span(AT - 5_000, AT + 100_000, Severity.CRITICAL, "Orphaned", "No owner.", "/then"),
        Span(AT + 500_000, AT + 750_000, Severity.INFO, "Imbalance", "Uneven."),
        Span(AT + 2_000_000, AT + 3_000_000, Severity.INFO, "Later", "Not here."),
    )
    root = drawn(LagChart(RANGE, spans=spans))
    bars = {kind: root.find(f".//{SVG}rect[@class='chart-{kind}']") for kind in ("critical", "info")}
    assert {kind: (bar.get("x"), bar.get("width")) for kind, bar in bars.items() if bar is not None} == {
        "critical": ("0.000%", "10.000%"),
        "info": ("50.000%", "25.000%"),
    }
    assert titles(root, f".//{SVG}a[@href='/then']") == [
        "Orphaned (critical), 2026-11-22 02:13:55 UTC to 2026-11-22 02:15:40 UTC: No owner."
    ]
    assert "Later" not in "".join(root.itertext())


def test_marks_that_would_cover_each_other_are_one_and_listed_in_its_title():
    marks = [Mark(AT + 500_000 + n, f"Rebalance to generation {n}.") for n in range(5)]
    root = drawn(LagChart(RANGE, marks=[*marks, Mark(AT + 800_000, "Rebalance to generation 9.")]))
    assert len(root.findall(f".//{SVG}line[@class='chart-mark chart-many']")) == 1
    assert len(root.findall(f".//{SVG}line[@class='chart-mark']")) == 1
    many = next(title for title in titles(root, f".//{SVG}g") if "generation 0" in title)
    assert many.count("Rebalance to") == 3
    assert many.endswith("And 2 more.")


def test_findings_of_a_storm_are_drawn_together_as_bad_as_the_worst():
    """Of 300 in a half of the range, 4 start in each of its 75 parts."""
    spans = [
        Span(AT + n * 1_666, AT + n * 1_666 + 500, Severity.CRITICAL if n == 6 else Severity.INFO, "Drift", f"No. {n}.")
        for n in range(300)
    ]
    root = drawn(LagChart(RANGE, spans=spans))
    bars = [title for title in titles(root, f"{SVG}g") if title.startswith("Drift")]
    assert len(bars) == 75
    assert bars[0] == ("Drift (info), 2026-11-22 02:14:00 UTC to 2026-11-22 02:14:07 UTC: 5 times, first: No. 0.")
    assert bars[1].startswith("Drift (critical), ")


def test_an_image_has_no_links_and_a_chart_with_links_is_no_image():
    """What is in an image is not shown to screen readers."""
    assert drawn(LagChart(RANGE)).get("role") == "img"
    linked = drawn(LagChart(RANGE, zooms=(Zoom(AT, AT + 500_000, "Zoom in", "/part"),)))
    assert linked.get("role") == "group"
    assert titles(linked, f".//{SVG}a[@href='/part']") == ["Zoom in"]


def test_the_chart_says_what_it_shows():
    points = (LagAt(AT, 7), LagAt(AT + 1_000, 1_200), LagAt(AT + 2_000, 1))
    root = drawn(LagChart(RANGE, points))
    assert root.findtext(f"{SVG}title") == (
        "Lag, rebalances and findings from 2026-11-22 02:14:00 UTC to 2026-11-22 02:30:40 UTC"
    )
    assert root.findtext(f"{SVG}desc") == (
        "The lag was 7 records at first, at most 1,200 records, and 1 record at last. 0 rebalances, 0 findings."
    )
    assert (drawn(LagChart(RANGE)).findtext(f"{SVG}desc") or "").startswith("No lag is known.")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_stay_texts(name: str):
    """The text is XML again, with the same elements, and no character that cannot be seen."""

    def chart(text: str) -> str:
        span = Span(AT, AT + 1, Severity.WARNING, text, text, text)
        return lag_chart(
            LagChart(RANGE, marks=(Mark(AT, text, text),), spans=(span,), zooms=(Zoom(AT, AT + 1, text, text),))
        )

    found, plain = ET.fromstring(chart(name)), ET.fromstring(chart("orders"))
    assert [each.tag for each in found.iter()] == [each.tag for each in plain.iter()]
    assert [sorted(each.keys()) for each in found.iter()] == [sorted(each.keys()) for each in plain.iter()]
    assert not any(char in chart(name) for char in "\x00\x1b\u202e\udcff")


def test_its_style_is_in_it_unless_the_page_has_it():
    assert STYLE in "".join(drawn(LagChart(RANGE)).itertext())
    assert drawn(LagChart(RANGE), with_style=False).find(f".//{SVG}style") is None
    assert drawn(LagChart(RANGE), width_px=800).get("width") == "800"


def test_the_worst_findings_are_nearest_to_the_lag():
    spans = [
        Span(AT + n, AT + 5, severity, label, "Something.")
        for n, (severity, label) in enumerate(
            [
                (Severity.INFO, "info"),
                (Severity.WARNING, "late"),
                (Severity.CRITICAL, "worst"),
                (Severity.WARNING, "info"),
            ]
        )
    ]
    texts = [each.text for each in drawn(LagChart(RANGE, spans=spans)).findall(f"{SVG}text[@class='chart-name']")]
    assert texts == ["worst", "info", "late"]


def test_many_kinds_of_findings_are_counted():
    spans = [Span(AT, AT + 1, Severity.INFO, f"kind {n}", "Something.") for n in range(MOST_ROWS + 2)]
    root = drawn(LagChart(RANGE, spans=spans))
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert "and 2 more kinds of findings" in texts
    assert f"kind {MOST_ROWS}" not in texts

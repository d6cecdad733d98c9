"""``python -m tests.autoscaling.picture FILE.json docs/images/scaling.svg``: groupwatch beside the best of KEDA.

A row for each load: on the left the pods over time, beside those that the load needs at least, on the right the age of
the oldest unread record, with the target. KEDA's best is the variant to which the run compares groupwatch.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

from monitor.charts.axes import number_ticks
from monitor.charts.svg import add, add_text, new_chart, to_text
from tests.autoscaling.loop import GROUPWATCH
from tests.autoscaling.outcome import Cost, best_of
from tests.autoscaling.times import CAPACITY

WIDTH: Final = 960
LEFT: Final = 40
GAP: Final = 70
PANEL: Final = (WIDTH - LEFT - GAP - 20) // 2
PLOT: Final = 120
ROW: Final = 216
TOP: Final = 60
"""Of a row: its title and its legend."""

BLUE: Final = "#0072b2"
ORANGE: Final = "#d55e00"
GRAY: Final = "#8a8f96"
"""After Okabe and Ito; groupwatch, KEDA, and what neither has chosen."""


@dataclass(frozen=True)
class Line:
    """A line of a panel: its points (s, value), and how it is drawn."""

    points: Sequence[tuple[float, float]]
    color: str
    dashes: str = ""
    is_stepped: bool = False


@dataclass(frozen=True)
class Panel:
    """A plot with its place, its unit and its lines."""

    x: float
    y: float
    title: str
    duration_s: float
    lines: Sequence[Line]
    marks: Sequence[tuple[float, float]] = ()
    """From when until when something besides records happens (s)."""

    @property
    def ticks(self) -> tuple[int, ...]:
        """Round values from 0, the last of which is the top."""
        highest = max((value for line in self.lines for _, value in line.points), default=0.0)
        return number_ticks(max(1, math.ceil(highest)))

    def place(self, at_s: float, value: float) -> str:
        """Where a point is drawn."""
        x = self.x + PANEL * min(1.0, at_s / self.duration_s)
        return f"{x:.1f},{self.y + PLOT * (1 - value / self.ticks[-1]):.1f}"


def picture(loads: Sequence[dict[str, Any]]) -> str:
    """The SVG of some loads, as the run has written them."""
    names = ", ".join(each["load"] for each in loads)
    title = "The pods of groupwatch and of KEDA's best, and the age of the oldest unread record"
    root = new_chart(ROW * len(loads) + 10, title, f"The loads {names}.", has_links=False)
    root.set("viewBox", f"0 0 {WIDTH} {ROW * len(loads) + 10}")
    for number, load in enumerate(loads):
        _draw_load(root, load, number * ROW)
    return to_text(root, WIDTH, with_style=True) + "\n"


def compared_variants(load: dict[str, Any]) -> list[tuple[str, str]]:
    """groupwatch, if it is there, and the best of KEDA's variants, with their colors."""
    keda = {name: Cost(**each) for name, each in load["costs"].items() if name.startswith("keda")}
    found = [(GROUPWATCH, BLUE)] if GROUPWATCH in load["samples"] else []
    return found + ([(best_of(keda), ORANGE)] if keda else [])


def _draw_load(root: ET.Element, load: dict[str, Any], top: int) -> None:
    chosen = compared_variants(load)
    samples = load["samples"]
    marks = [(each["from_s"], each["until_s"]) for each in load["incidents"]]
    first = samples[chosen[0][0]]
    needed = Line(_points(first, lambda each: each["produced_per_s"] / CAPACITY), GRAY, "4 3")
    target = Line([(0.0, load["target_s"]), (load["duration_s"], load["target_s"])], GRAY, "4 3")
    pods = [Line(_points(samples[name], _replicas), color, is_stepped=True) for name, color in chosen]
    ages = [Line(_points(samples[name], _age), color) for name, color in chosen]
    duration_s, y = load["duration_s"], top + TOP
    add_text(root, load["load"], "chart-name", x=LEFT, y=top + 18, font_size=14, font_weight=600)
    _draw_legend(root, load, chosen, top + 16)
    right = LEFT + PANEL + GAP
    _draw_panel(root, Panel(LEFT, y, "pods (dashes: needed at least)", duration_s, [needed, *pods], marks))
    _draw_panel(
        root, Panel(right, y, "age of the oldest record, s (dashes: target)", duration_s, [target, *ages], marks)
    )


def _replicas(sample: dict[str, Any]) -> float:
    return float(sample["replicas"])


def _age(sample: dict[str, Any]) -> float:
    return float(sample["age_s"])


def _points(samples: Sequence[dict[str, Any]], value: Callable[[dict[str, Any]], float]) -> list[tuple[float, float]]:
    return [(each["at_s"], value(each)) for each in samples]


def _draw_legend(root: ET.Element, load: dict[str, Any], chosen: Sequence[tuple[str, str]], y: int) -> None:
    x = LEFT + 180
    for name, color in chosen:
        cost = load["costs"][name]
        words = (
            f"{name}: {cost['above_target_s']:.0f} s above the target, {cost['rebalances']} rebalances, "
            f"{cost['consumer_s'] / 60:.0f} consumer-minutes"
        )
        add(root, "line", x1=x, x2=x + 18, y1=y - 4, y2=y - 4, stroke=color, stroke_width=3)
        add_text(root, words, x=x + 24, y=y, font_size=11)
        y += 15


def _draw_panel(root: ET.Element, panel: Panel) -> None:
    for since_s, until_s in panel.marks:
        start, end = (panel.x + PANEL * at_s / panel.duration_s for at_s in (since_s, until_s))
        add(root, "rect", "chart-unrecorded", x=f"{start:.1f}", width=f"{end - start:.1f}", y=panel.y, height=PLOT)
    for value in panel.ticks:
        height = panel.y + PLOT * (1 - value / panel.ticks[-1])
        add(root, "line", "chart-grid", x1=panel.x, x2=panel.x + PANEL, y1=height, y2=height)
        add_text(root, str(value), x=panel.x - 6, y=height + 4, text_anchor="end", font_size=11)
    add_text(root, panel.title, x=panel.x, y=panel.y - 12, font_size=11)
    for part in (0.0, 0.5, 1.0):
        label = f"{part * panel.duration_s:.0f} s"
        add_text(root, label, x=panel.x + part * PANEL, y=panel.y + PLOT + 16, text_anchor="middle", font_size=11)
    for line in panel.lines:
        _draw_line(root, panel, line)


def _draw_line(root: ET.Element, panel: Panel, line: Line) -> None:
    """A stepped line keeps a value until the next point."""
    places, last = [], None
    for at_s, value in line.points:
        if line.is_stepped and last is not None:
            places.append(panel.place(at_s, last))
        places.append(panel.place(at_s, value))
        last = value
    look = {"stroke_dasharray": line.dashes} if line.dashes else {}
    add(root, "polyline", points=" ".join(places), fill="none", stroke=line.color, stroke_width=1.8, **look)


def main() -> None:
    """Draw the loads of a file that ``tests.autoscaling.run`` has written."""
    parser = argparse.ArgumentParser(prog="python -m tests.autoscaling.picture", description=__doc__)
    parser.add_argument("json", type=Path)
    parser.add_argument("svg", type=Path)
    parser.add_argument("--load", nargs="+", help="only these; all by default")
    chosen = parser.parse_args()
    found = json.loads(chosen.json.read_text(encoding="utf-8"))
    loads = [each for name, each in found.items() if not chosen.load or name in chosen.load]
    chosen.svg.write_text(picture(loads), encoding="utf-8")


if __name__ == "__main__":
    main()

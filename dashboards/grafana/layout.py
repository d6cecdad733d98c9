"""A dashboard from bands of panels: a list of bands reads like a table of contents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Final

import msgspec
from grafana_foundation_sdk.builders.dashboard import Dashboard, Row
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import (
    AnnotationQuery,
    DashboardCursorSync,
    GridPos,
    VariableModel,
)
from grafana_foundation_sdk.models.dashboard import (
    Dashboard as Model,
)

from dashboards.grafana import variables
from dashboards.grafana.links import TAG, to_dashboards, to_groupwatch
from dashboards.grafana.panels import Panel

_WIDTH: Final = 24
"""Columns of Grafana's grid."""


class Band(msgspec.Struct, frozen=True):
    """Panels side by side, as wide as each other and ``height`` rows high (a row is about 30 pixels).

    A band with a heading begins a part of the dashboard.
    """

    height: int
    panels: tuple[Callable[[], Panel], ...]
    heading: str | None = None


class Board(msgspec.Struct, frozen=True):
    """A dashboard: its address (``uid``) stays what it is, so that links to it keep working."""

    uid: str
    title: str
    description: str
    variables: tuple[Callable[[], Builder[VariableModel]], ...]
    bands: tuple[Band, ...]
    annotations: tuple[Callable[[], Builder[AnnotationQuery]], ...] = ()


def built(board: Board) -> Model:
    """The dashboard as Grafana's model of it."""
    dashboard = (
        Dashboard(board.title)
        .uid(board.uid)
        .description(board.description)
        .tags([TAG])
        .editable()
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .time("now-1h", "now")
        .refresh("30s")
        .link(to_dashboards())
        .link(to_groupwatch())
    )
    for variable in (variables.datasources, *board.variables):
        dashboard.with_variable(variable())
    for annotation in board.annotations:
        dashboard.annotation(annotation())
    _fill(dashboard, board.bands)
    return dashboard.build()


def _fill(dashboard: Dashboard, bands: Sequence[Band]) -> None:
    """Every panel gets a number and a place of its own, from the top to the bottom."""
    numbers, top = count(1), 0
    for band in bands:
        if band.heading is not None:
            place = GridPos(h=1, w=_WIDTH, x=0, y=top)
            dashboard.with_row(Row(band.heading).id(next(numbers)).grid_pos(place))
            top += 1
        for panel, place in zip(band.panels, _places(band, top), strict=True):
            dashboard.with_panel(panel().id(next(numbers)).grid_pos(place))
        top += band.height


def _places(band: Band, top: int) -> Iterator[GridPos]:
    """From the left; columns that cannot be shared evenly go to the last panel."""
    width, rest = divmod(_WIDTH, len(band.panels))
    for number in range(len(band.panels)):
        is_last = number == len(band.panels) - 1
        yield GridPos(h=band.height, w=width + (rest if is_last else 0), x=number * width, y=top)

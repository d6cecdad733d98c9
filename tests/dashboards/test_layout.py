"""Where the panels of a dashboard stand: side by side over the whole width of Grafana's grid, which has 24 columns."""

from __future__ import annotations

from dashboards.grafana.layout import Band, Board, built
from dashboards.grafana.panels import Query, graph


def test_columns_that_cannot_be_shared_evenly_go_to_the_last_panel_of_a_band():
    """Of 24 columns, each of five panels gets four, and four are left; three panels get eight each."""

    def panel(name: str):
        return lambda: graph(name, "A text.", "short", Query(expr="up", legend="up"))

    bands = tuple(Band(height, tuple(map(panel, names))) for height, names in ((7, "abcde"), (5, "fgh")))
    board = Board(uid="u", title="A board", description="A text.", variables=(), bands=bands)
    places = [(place.x, place.w, place.y, place.h) for place in (each.grid_pos for each in built(board).panels or [])]
    assert places == [
        *((0, 4, 0, 7), (4, 4, 0, 7), (8, 4, 0, 7), (12, 4, 0, 7), (16, 8, 0, 7)),
        *((0, 8, 7, 5), (8, 8, 7, 5), (16, 8, 7, 5)),
    ]

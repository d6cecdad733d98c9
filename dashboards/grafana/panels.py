"""Panels in one style: what they show is their caller's, how they look is decided here.

People who cannot tell red from green can distinguish the colours, and no colour shows what the text does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

import msgspec
from grafana_foundation_sdk.builders import common as common_builders
from grafana_foundation_sdk.builders import stat as stat_builders
from grafana_foundation_sdk.builders import statetimeline as timeline_builders
from grafana_foundation_sdk.builders import table as table_builders
from grafana_foundation_sdk.builders import timeseries as graph_builders
from grafana_foundation_sdk.builders.dashboard import DashboardLink, ThresholdsConfig
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import common
from grafana_foundation_sdk.models.dashboard import (
    DashboardLink as Link,
)
from grafana_foundation_sdk.models.dashboard import (
    DataSourceRef,
    DataTransformerConfig,
    DynamicConfigValue,
    Threshold,
    ThresholdsMode,
    ValueMap,
    ValueMappingResult,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from dashboards.grafana.links import ROW, SERIES_LABEL, to_group, to_page, to_topic
from monitor.grafana.boards import DATASOURCE_VARIABLE

_DATASOURCE: Final = f"${{{DATASOURCE_VARIABLE}}}"
"""A person chooses it: panels, variables and annotations refer to the variable."""

NONE_KNOWN: Final = "None, or no data"
"""What a panel shows instead of data, unless it says more. No series is no good news: groupwatch may not be scraped."""

_EMPTY_CELL: Final = "–"  # noqa: RUF001 -- a dash, as on the page

MOST: Final = 25
"""Lines of a graph, at most: a browser cannot draw a thousand partitions, and no person could read them."""

ROWS: Final = 200
"""Rows of a table, at most."""

CALM: Final = "blue"
WARNING: Final = "orange"
BAD: Final = "dark-red"
NEUTRAL: Final = "light-blue"

Panel = graph_builders.Panel | stat_builders.Panel | table_builders.Panel | timeline_builders.Panel
"""A panel without its place."""

_PanelT = TypeVar("_PanelT", graph_builders.Panel, stat_builders.Panel, table_builders.Panel, timeline_builders.Panel)


class Query(msgspec.Struct, frozen=True):
    """A PromQL expression, and how its series are named: ``{{label}}`` is the value of a label."""

    expr: str
    legend: str


class Column(msgspec.Struct, frozen=True):
    """A column of a table: an instant query, the unit of its values, and from where on they are marked."""

    heading: str
    expr: str
    unit: str = "short"
    warn_from: float | None = None


class Meaning(msgspec.Struct, frozen=True):
    """The meaning of a number in a timeline."""

    text: str
    color: str


def datasource() -> DataSourceRef:
    """Where all data comes from."""
    return DataSourceRef(type_val="prometheus", uid=_DATASOURCE)


def graph(
    title: str, description: str, unit: str, *queries: Query, steps: bool = False, signed: bool = False
) -> graph_builders.Panel:
    """Lines over time. ``unit`` is Grafana's name of a unit; ``steps``: drawn as steps, for counts.

    ``signed``: values may be below 0; else the axis begins there, so that a line's height is its size.
    """
    panel = _begun(graph_builders.Panel(), title, description, unit).fill_opacity(10)
    if not signed:
        panel.min(0)
    panel.line_interpolation(common.LineInterpolation.STEP_AFTER if steps else common.LineInterpolation.LINEAR)
    panel.legend(
        common_builders.VizLegendOptions()
        .show_legend(True)
        .display_mode(common.LegendDisplayMode.LIST)
        .placement(common.LegendPlacement.BOTTOM)
    )
    panel.tooltip(common_builders.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI))
    panel.data_links(_links_of(SERIES_LABEL, [query.legend for query in queries]))
    for place, query in enumerate(queries):
        panel.with_target(_target(place, query.expr).range().legend_format(query.legend))
    return panel


def stat(title: str, description: str, unit: str, expr: str, *, marked: ThresholdsConfig) -> stat_builders.Panel:
    """One number: the newest, coloured by its size."""
    panel = _begun(stat_builders.Panel(), title, description, unit).thresholds(marked).no_value("unknown")
    panel.color_mode(common.BigValueColorMode.VALUE).graph_mode(common.BigValueGraphMode.NONE)
    panel.reduce_options(common_builders.ReduceDataOptions().calcs(["lastNotNull"]))
    return panel.with_target(_target(0, expr).instant().legend_format("__auto"))


def table(title: str, description: str, labels: Sequence[str], *columns: Column) -> table_builders.Panel:
    """A row for each combination of these labels, which every column's expression must have and no others.

    The rows begin with the largest value of the first column.
    """
    panel = _begun(table_builders.Panel(), title, description, columns[0].unit if columns else "none")
    panel.thresholds(unmarked()).sort_by(
        [common_builders.TableSortByFieldState().display_name(columns[0].heading).desc(True)]
    )
    panel.filterable(True)
    for place, column in enumerate(columns):
        panel.with_target(_target(place, column.expr).instant().format(PromQueryFormat.TABLE))
        panel.override_by_name(column.heading, _looks(column))
    for transformation in _joined(labels, columns):
        panel.with_transformation(transformation)
    if "group" in labels:
        panel.override_by_name("group", [_linked(to_group(ROW), to_page(ROW))])
    if "topic" in labels:
        panel.override_by_name("topic", [_linked(to_topic(ROW))])
    return panel


def timeline(title: str, description: str, query: Query, meanings: Sequence[Meaning]) -> timeline_builders.Panel:
    """A bar for each series, divided by the meaning of its number: the first meaning is that of 0."""
    panel = _begun(timeline_builders.Panel(), title, description, "none")
    panel.merge_values(True).show_value(common.VisibilityMode.AUTO).row_height(0.8).fill_opacity(80)
    panel.mappings([_value_map(meanings)]).data_links(_links_of(SERIES_LABEL, [query.legend]))
    return panel.with_target(_target(0, query.expr).range().legend_format(query.legend))


def unmarked() -> ThresholdsConfig:
    """No value is better than another."""
    return _thresholds(Threshold(value=None, color=NEUTRAL))


def marked_from(warning: float, bad: float | None = None) -> ThresholdsConfig:
    """Calm below a value, a warning from it on, and bad from the next on."""
    steps = [Threshold(value=None, color=CALM), Threshold(value=warning, color=WARNING)]
    return _thresholds(*steps, *([Threshold(value=bad, color=BAD)] if bad is not None else []))


def marked_below(bound: float) -> ThresholdsConfig:
    """Bad below a value, calm from it on."""
    return _thresholds(Threshold(value=None, color=BAD), Threshold(value=bound, color=CALM))


def _begun(panel: _PanelT, title: str, description: str, unit: str) -> _PanelT:
    return panel.title(title).description(description).unit(unit).datasource(datasource()).no_value(NONE_KNOWN)


def _target(place: int, expr: str) -> Dataquery:
    return Dataquery().ref_id(_ref_id(place)).expr(expr).datasource(datasource())


def _ref_id(place: int) -> str:
    return chr(ord("A") + place)


def _thresholds(*steps: Threshold) -> ThresholdsConfig:
    return ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(list(steps))


def _links_of(place: str, legends: Sequence[str]) -> list[Builder[Link]]:
    """Links for series that name their cluster and group."""
    named = all("{{cluster}}" in legend and "{{group}}" in legend for legend in legends)
    return [to_group(place), to_page(place)] if named else []


def _looks(column: Column) -> list[DynamicConfigValue]:
    looks = [DynamicConfigValue("unit", column.unit), DynamicConfigValue("noValue", _EMPTY_CELL)]
    if column.warn_from is not None:
        looks.append(DynamicConfigValue("thresholds", marked_from(column.warn_from).build()))
        looks.append(DynamicConfigValue("custom.cellOptions", {"type": "color-text"}))
    return looks


def _linked(*links: DashboardLink) -> DynamicConfigValue:
    built: list[Link] = [link.build() for link in links]
    return DynamicConfigValue("links", built)


def _joined(labels: Sequence[str], columns: Sequence[Column]) -> list[DataTransformerConfig]:
    """Rows with the same labels become one; then labels stand first, in their order, and values have headings.

    Grafana calls the values of a table's only query ``Value``, those of several ``Value #A``, ``Value #B`` and so on.
    """
    values = ["Value"] if len(columns) == 1 else [f"Value #{_ref_id(place)}" for place in range(len(columns))]
    organized: dict[str, object] = {
        "excludeByName": {"Time": True},
        "indexByName": {name: place for place, name in enumerate([*labels, *values])},
        "renameByName": {value: column.heading for value, column in zip(values, columns, strict=True)},
    }
    return [DataTransformerConfig("merge", options={}), DataTransformerConfig("organize", options=organized)]


def _value_map(meanings: Sequence[Meaning]) -> ValueMap:
    return ValueMap(
        {
            str(place): ValueMappingResult(text=meaning.text, color=meaning.color, index=place)
            for place, meaning in enumerate(meanings)
        }
    )

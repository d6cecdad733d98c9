"""What a person chooses at the top of a dashboard. Several values may be chosen, and at first all are."""

from __future__ import annotations

from collections.abc import Sequence

from grafana_foundation_sdk.builders.dashboard import DatasourceVariable, QueryVariable, TextBoxVariable
from grafana_foundation_sdk.models.dashboard import VariableOption, VariableRefresh, VariableSort

from dashboards.grafana.panels import datasource
from dashboards.queries import chosen
from monitor.grafana.boards import DATASOURCE_VARIABLE, PAGE_VARIABLE
from monitor.metrics import specs
from monitor.metrics.spec_types import MetricSpec

PAGE_ADDRESS = "http://127.0.0.1:9464"
"""The default address of groupwatch's page: where docker-compose.yml publishes it."""


def datasources() -> DatasourceVariable:
    """The Prometheus that all queries go to: at first Grafana's default one, else the first of its type."""
    return (
        DatasourceVariable(DATASOURCE_VARIABLE)
        .label("Data source")
        .type("prometheus")
        .current(VariableOption(text="default", value="default"))
    )


def clusters() -> QueryVariable:
    """All clusters that groupwatch knows, also those that it cannot read."""
    return _choice("cluster", "Cluster", specs.UP, ())


def groups() -> QueryVariable:
    """The groups of these clusters."""
    return _choice("group", "Group", specs.GROUP_INFO, ("cluster",))


def topics_of_groups() -> QueryVariable:
    """The topics for which these groups have committed offsets."""
    return _choice("topic", "Topic", specs.PARTITION_COMMITTED_OFFSET, ("cluster", "group"))


def topics() -> QueryVariable:
    """The topics of these clusters."""
    return _choice("topic", "Topic", specs.PARTITION_END_OFFSET, ("cluster",))


def readers() -> QueryVariable:
    """The groups that have committed offsets of these topics."""
    return _choice("group", "Group", specs.PARTITION_COMMITTED_OFFSET, ("cluster", "topic"))


def page_address() -> TextBoxVariable:
    """Where the links to groupwatch's own page lead."""
    return (
        TextBoxVariable(PAGE_VARIABLE)
        .label("groupwatch's page")
        .description("Address of the groupwatch page as your browser reaches it, without a trailing slash.")
        .default_value(PAGE_ADDRESS)
        .current(VariableOption(text=PAGE_ADDRESS, value=PAGE_ADDRESS))
    )


def _choice(label: str, title: str, family: MetricSpec, after: Sequence[str]) -> QueryVariable:
    """The values of a label of a family, where the variables before it have the chosen values."""
    query = f"label_values({chosen(family, after)}, {label})"
    return (
        QueryVariable(label)
        .label(title)
        .query({"query": query, "refId": label})
        .datasource(datasource())
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.ALPHABETICAL_CASE_INSENSITIVE_ASC)
        .multi(True)
        .include_all(True)
        .all_value(".*")
        .current(VariableOption(selected=True, text=["All"], value=["$__all"]))
    )

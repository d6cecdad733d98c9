"""Where dashboards lead: to each other, and to groupwatch's own page of a group.

A name may hold any character, so it is percent-encoded as one piece of the address.
"""

from __future__ import annotations

from typing import Final

from grafana_foundation_sdk.builders.dashboard import DashboardLink
from grafana_foundation_sdk.models.dashboard import DashboardLinkType

from monitor.grafana.boards import DATASOURCE_VARIABLE, PAGE_VARIABLE
from monitor.model.dashboard_uids import GROUP_UID, TOPICS_UID

TAG: Final = "groupwatch"
"""All dashboards have it; each links to all that have it."""

SERIES_LABEL: Final = "__field.labels"
"""In a link of a graph, the labels of the series that was clicked on."""

ROW: Final = "__data.fields"
"""In a link of a table, the columns of the row that was clicked on."""


def to_dashboards() -> DashboardLink:
    """To the other dashboards, with what was chosen here."""
    return DashboardLink("dashboards").type(DashboardLinkType.DASHBOARDS).tags([TAG]).include_vars(True).keep_time(True)


def to_groupwatch() -> DashboardLink:
    """To groupwatch's own page of all groups."""
    return DashboardLink("groupwatch's page").url(f"{_PAGE}/").icon("external link").target_blank(True)


def to_group(place: str) -> DashboardLink:
    """To the dashboard of the group that ``place`` (SERIES_LABEL or ROW) names."""
    chosen = f"var-cluster=${{{place}.cluster:percentencode}}&var-group=${{{place}.group:percentencode}}"
    return _to("Dashboard of the group", f"/d/{GROUP_UID}?{chosen}&{_KEPT}")


def to_page(place: str) -> DashboardLink:
    """To groupwatch's page of the group that ``place`` names: findings in sentences, and who should own what."""
    path = f"${{{place}.cluster:percentencode}}/${{{place}.group:percentencode}}"
    return _to("Page of the group", f"{_PAGE}/groups/{path}").target_blank(True)


def to_topic(place: str) -> DashboardLink:
    """To the dashboard of topics, with the topic that ``place`` names."""
    chosen = f"var-cluster=${{{place}.cluster:percentencode}}&var-topic=${{{place}.topic:percentencode}}"
    return _to("Dashboard of the topic", f"/d/{TOPICS_UID}?{chosen}&{_KEPT}")


_PAGE: Final = f"${{{PAGE_VARIABLE}:raw}}"
_KEPT: Final = (
    f"var-{DATASOURCE_VARIABLE}=${{{DATASOURCE_VARIABLE}:percentencode}}&"
    f"var-{PAGE_VARIABLE}=${{{PAGE_VARIABLE}:percentencode}}&${{__url_time_range}}"
)


def _to(title: str, url: str) -> DashboardLink:
    return DashboardLink(title).url(url)

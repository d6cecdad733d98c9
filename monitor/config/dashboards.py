"""The section ``[dashboards]``: what the dashboards of ``groupwatch dashboards`` have besides the shipped."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from monitor.config.client import as_texts
from monitor.config.section import Section
from monitor.model.dashboard_uids import checked_deployment_name


class DashboardsSettings(Section):
    """The dashboards that `groupwatch dashboards` writes ([dashboards.md](dashboards.md#in-your-grafana))."""

    name: Annotated[str, AfterValidator(checked_deployment_name)] | None = None
    """A name for this deployment, if one Grafana has the dashboards of several. Addresses, titles and objects have it,
    and `dashboard_url` of alerts leads there. At most 18 small letters, digits and hyphens."""
    datasource: str | None = Field(default=None, min_length=1)
    """The name or the uid of the Prometheus that is selected at first. Not set: Grafana's default data source."""
    folder: str = Field(default="groupwatch", min_length=1)
    """The folder in Grafana, for objects of Kubernetes."""
    instance_labels: Annotated[dict[str, str], BeforeValidator(as_texts)] = Field(default={})
    """A table of the labels of the Grafana that gets the dashboards, for `--format grafanadashboard`. Empty: the label
    `dashboards` is `grafana`, as in the examples of grafana-operator."""

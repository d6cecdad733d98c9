"""Links of an alert, as templates of Prometheus: to its runbook, to the page of its group, and to a dashboard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from monitor.alert_rules.rule import CLUSTER, GROUP, RUNBOOKS, AlertRule
from monitor.model.dashboard_uids import FLEET_UID, GROUP_UID, deployment_uid

_CLUSTER_PIECE: Final = "{{ or $labels.exported_cluster $labels.cluster | urlquery }}"
_GROUP_PIECE: Final = "{{ $labels.group | urlquery }}"
"""As parts of a query, where a space is a +."""


class Links(msgspec.Struct, frozen=True):
    """Where the runbooks, the page and Grafana are, without a slash at the end; None: unknown.

    ``deployment`` is the name that the dashboards of this deployment have, if any.
    """

    runbooks: str | None = None
    page: str | None = None
    grafana: str | None = None
    deployment: str | None = None


def link_annotations(rule: AlertRule, links: Links) -> Mapping[str, str]:
    """The annotations of a rule that lead somewhere.

    Without the address of the runbooks, ``runbook`` names the section of the file in this repository.
    """
    found = {"runbook" if links.runbooks is None else "runbook_url": rule.runbook(links.runbooks or RUNBOOKS)}
    if links.page is not None:
        found["page_url"] = f"{links.page}{_page(rule)}"
    if links.grafana is not None:
        found["dashboard_url"] = f"{links.grafana}{_dashboard(rule, links.deployment)}"
    return found


def _page(rule: AlertRule) -> str:
    if GROUP in rule.summary:
        return f"/groups/{_piece(_CLUSTER_PIECE)}/{_piece(_GROUP_PIECE)}"
    return f"/?cluster={_CLUSTER_PIECE}" if CLUSTER in rule.summary else "/"


def _dashboard(rule: AlertRule, deployment: str | None) -> str:
    if GROUP in rule.summary:
        group = deployment_uid(GROUP_UID, deployment)
        return f"/d/{group}?var-cluster={_CLUSTER_PIECE}&var-group={_GROUP_PIECE}"
    fleet = deployment_uid(FLEET_UID, deployment)
    return f"/d/{fleet}?var-cluster={_CLUSTER_PIECE}" if CLUSTER in rule.summary else f"/d/{fleet}"


def _piece(template: str) -> str:
    """A part of a query as a piece of a path: a space is not a +, and . and .. have the mark of groupwatch's pages."""
    spaced = template.replace(" }}", ' | reReplaceAll "[+]" "%20"')
    return f'{spaced} | reReplaceAll "^(~*[.]{{1,2}})$" "~$1" }}}}'

"""Dashboards as objects of Kubernetes: ConfigMaps for Grafana's sidecar, or GrafanaDashboards for its operator."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

import msgspec

from monitor.model.dashboard_uids import FLEET_UID, deployment_uid

FOLDER: Final = "groupwatch"
"""The folder in Grafana unless another one is chosen."""

_CONFIG_MAP: Final = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {prefix}-dashboard-{name}
  labels:
    app.kubernetes.io/name: groupwatch
    grafana_dashboard: "1"
  annotations:
    grafana_folder: {folder}
data:
  {prefix}-{name}.json: |
    {text}
"""

_DASHBOARD: Final = """\
apiVersion: grafana.integreatly.org/v1beta1
kind: GrafanaDashboard
metadata:
  name: {prefix}-{name}
  labels:
    app.kubernetes.io/name: groupwatch
spec:
  instanceSelector:
    matchLabels: {instances}
  folder: {folder}
  json: |
    {text}
"""


class ObjectOptions(msgspec.Struct, frozen=True):
    """What the objects say besides the dashboard: whose it is, the folder in Grafana, and the labels of the Grafana."""

    name: str | None = None
    folder: str = FOLDER
    instances: Mapping[str, str] = {}


def config_maps(boards: Mapping[str, str], options: ObjectOptions) -> Mapping[str, str]:
    """A ConfigMap for each dashboard, by its short name. The sidecar writes each to a file, so keys differ, too."""
    return _objects(_CONFIG_MAP, boards, options)


def grafana_dashboards(boards: Mapping[str, str], options: ObjectOptions) -> Mapping[str, str]:
    """A GrafanaDashboard of grafana-operator for each dashboard, by its short name."""
    return _objects(_DASHBOARD, boards, options)


def _objects(template: str, boards: Mapping[str, str], options: ObjectOptions) -> Mapping[str, str]:
    """Each as YAML, the dashboard in one line: etcd takes no object above 1.5 MB."""
    return {
        name: template.format(
            name=name,
            prefix=deployment_uid(FLEET_UID, options.name),
            folder=_plain_or_quoted(options.folder),
            instances=json.dumps(dict(options.instances)),
            text=json.dumps(json.loads(text), separators=(",", ":")),
        )
        for name, text in boards.items()
    }


def _plain_or_quoted(text: str) -> str:
    """A text of YAML: JSON's quotes are YAML's, but its pairs of surrogates are not. The shipped folder needs none."""
    return text if text == FOLDER else json.dumps(text, ensure_ascii=False)

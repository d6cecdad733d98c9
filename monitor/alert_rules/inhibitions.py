"""Which alerts are held back while another one is active: those that then tell nothing new."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

EQUAL: Final = "="
NOT_EQUAL: Final = "!="
MATCHES: Final = "=~"


class Matcher(msgspec.Struct, frozen=True):
    """A condition on a label, as Alertmanager has it."""

    name: str
    type: str
    value: str


class Inhibition(msgspec.Struct, frozen=True):
    """While an alert of ``source`` is active, those of ``target`` with the same ``equal`` labels do not notify."""

    source: tuple[Matcher, ...]
    target: tuple[Matcher, ...]
    equal: tuple[str, ...] = ()


_CLUSTER: Final = ("cluster", "exported_cluster")
_JOB: Final = (*_CLUSTER, "instance", "job")
_OF_GROUP: Final = Matcher("group", NOT_EQUAL, "")
_CRITICAL: Final = Matcher("severity", EQUAL, "critical")
_WARNING: Final = Matcher("severity", EQUAL, "warning")
_MILDER: Final = Matcher("severity", MATCHES, "warning|info")

INHIBITIONS: Final = (
    Inhibition((Matcher("alertname", EQUAL, "GroupwatchClusterUnread"), _CRITICAL), (_OF_GROUP,), _JOB),
    Inhibition(
        (Matcher("alertname", MATCHES, "GroupwatchNotReady|GroupwatchEvaluationOld"), _CRITICAL),
        (_OF_GROUP, _MILDER),
        _JOB,
    ),
    Inhibition(
        (Matcher("alertname", EQUAL, "GroupwatchDown"),), (Matcher("alertname", MATCHES, "Groupwatch.+"), _MILDER)
    ),
    Inhibition((_CRITICAL, _OF_GROUP), (_MILDER,), (*_CLUSTER, "group")),
    Inhibition((_WARNING, _OF_GROUP), (Matcher("severity", EQUAL, "info"),), (*_CLUSTER, "group")),
)
"""Those of ``dashboards/compose/alertmanager.yml``, which has the reasons."""


def alertmanager_config(cluster_label: str) -> str:
    """An AlertmanagerConfig (v1alpha1) with the inhibitions, for the Prometheus operator."""
    return "\n".join(_lines(cluster_label)) + "\n"


def _lines(cluster_label: str) -> Iterator[str]:
    yield from (
        "apiVersion: monitoring.coreos.com/v1alpha1",
        "kind: AlertmanagerConfig",
        "metadata:",
        "  name: groupwatch",
        "  labels:",
        "    app.kubernetes.io/name: groupwatch",
        "spec:",
        "  inhibitRules:",
    )
    for each in INHIBITIONS:
        yield "    - sourceMatch:"
        yield from map(_matcher, each.source)
        yield "      targetMatch:"
        yield from map(_matcher, each.target)
        if each.equal:
            yield f"      equal: [{', '.join(_with_label(name, cluster_label) for name in each.equal)}]"


def _matcher(matcher: Matcher) -> str:
    return f'        - {{name: {matcher.name}, matchType: "{matcher.type}", value: "{matcher.value}"}}'


def _with_label(name: str, cluster_label: str) -> str:
    return name.replace("cluster", cluster_label) if name in _CLUSTER else name

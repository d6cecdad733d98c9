"""The thresholds that a deployment chose, as the rules take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from monitor.config.alerts import AlertsSettings
from monitor.config.scale import ScaleSettings
from monitor.config.settings import DetectionOptions, Thresholds
from monitor.detection.thresholds.burrow import BurrowSettings
from monitor.detection.thresholds.overrides import DetectionRules, Override
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.model.alert_ages import AlertAge, AlertAges

BURROW: Final = "burrow_"
"""How the thresholds begin that are Burrow's own settings."""

RENAMED: Final = {"share_delivery_limit": "delivery_limit"}
"""Thresholds with another name in the rules."""


SHIPPED: Final = AlertsSettings()


def detection_rules(
    chosen: DetectionOptions, alerts: AlertsSettings = SHIPPED, scale: Sequence[ScaleSettings] = ()
) -> DetectionRules:
    """The thresholds of all groups, the ages of alerts, and whose members are counted, as a deployment configured."""
    ages = alert_ages(alerts)
    return DetectionRules(
        default=replace(detection_settings(chosen), alert_ages=ages),
        overrides=tuple(
            Override(
                groups=override.groups,
                cluster=override.cluster,
                settings=replace(detection_settings(chosen.with_override(override)), alert_ages=ages),
            )
            for override in chosen.overrides
        ),
        scales=tuple([each.entry() for each in scale]),
    )


def alert_ages(alerts: AlertsSettings) -> AlertAges:
    """The ages that a deployment has changed."""
    return tuple([AlertAge(each.alert, each.age_s) for each in alerts.overrides if each.age_s is not None])


def detection_settings(chosen: Thresholds) -> DetectionSettings:
    """The rules' thresholds in the rules' own units (ms), from what a deployment configured (s)."""
    given = dict(_as_rules_have(name, getattr(chosen, name)) for name in Thresholds.model_fields)
    of_burrow = [name for name in given if name.startswith(BURROW)]
    burrow = BurrowSettings(**{name.removeprefix(BURROW): given.pop(name) for name in of_burrow})
    return DetectionSettings(**given, burrow=burrow)


def _as_rules_have(name: str, given: Any) -> tuple[str, Any]:  # noqa: ANN401 -- of any threshold
    """The name of a threshold in the rules, and its value there.

    >>> _as_rules_have("skew_s", 1.5), _as_rules_have("skew_records", 7), _as_rules_have("handover_s", None)
    (('skew_ms', 1500), ('skew_records', 7), ('handover_ms', None))
    """
    if name.endswith("_s"):
        return f"{name.removesuffix('_s')}_ms", None if given is None else int(given * 1000)
    return RENAMED.get(name, name), given

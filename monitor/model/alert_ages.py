"""Ages of alerts that a deployment has changed, so that whatever shows a finding waits as long as its alert."""

from __future__ import annotations

from monitor.model.values import Value


class AlertAge(Value):
    """The age in seconds from which an alert fires, in place of the shipped one."""

    alert: str
    age_s: int


AlertAges = tuple[AlertAge, ...]
"""Each alert at most once. None: all ages are as shipped."""


def chosen_age_s(alert: str, shipped_s: int | None, ages: AlertAges) -> int | None:
    """The age of an alert: the chosen one, else the shipped one; None: it waits for no age.

    >>> ages = (AlertAge("GroupwatchLagOld", 120),)
    >>> chosen_age_s("GroupwatchLagOld", 600, ages), chosen_age_s("GroupwatchDrift", 900, ages)
    (120, 900)
    """
    return next((each.age_s for each in ages if each.alert == alert), shipped_s)

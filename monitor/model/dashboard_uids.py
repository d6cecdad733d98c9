"""The addresses (uids) of the dashboards in Grafana, which alerts link to, and those of a named deployment."""

from __future__ import annotations

import re
from typing import Final

FLEET_UID: Final = "groupwatch"
GROUP_UID: Final = "groupwatch-group"
TOPICS_UID: Final = "groupwatch-topics"
REBALANCES_UID: Final = "groupwatch-rebalances"
ITSELF_UID: Final = "groupwatch-itself"

_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,16}[a-z0-9])?")
"""Grafana takes 40 characters, and the longest uid takes 21 of them besides the hyphen. Kubernetes takes no others."""


def checked_deployment_name(given: str) -> str:
    """The name of a deployment, which uids of Grafana and names of Kubernetes' objects can begin with.

    Raises:
        ValueError: it is none; the text says what it should be.
    """
    if _NAME.fullmatch(given) is None:
        raise ValueError("should have at most 18 small letters, digits and hyphens, without a hyphen at either end")
    return given


def deployment_uid(uid: str, name: str | None) -> str:
    """The uid of a dashboard of the deployment with that name. No two deployments share one.

    >>> deployment_uid("groupwatch-group", "eu"), deployment_uid("groupwatch-group", None)
    ('eu-groupwatch-group', 'groupwatch-group')
    """
    return uid if name is None else f"{name}-{uid}"

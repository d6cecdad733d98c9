"""Whose a written dashboard is: an import or a file of the same name would replace that of another deployment."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

from monitor.grafana.boards import DATASOURCE_VARIABLE, PAGE_VARIABLE

_IN_YAML: Final = re.compile(r"^ +(\{.*\})$", re.MULTILINE)
"""The dashboard in an object of Kubernetes: a line of its text."""

_LABEL: Final = re.compile(r"label_values\(groupwatch_up, (\w+)\)")


class Owner(msgspec.Struct, frozen=True):
    """What differs between the dashboards of two deployments, and not between those of two versions."""

    uid: str
    page: str
    datasource: str
    cluster_label: str

    def __str__(self) -> str:
        """All of it, as the settings call it."""
        return ", ".join(self._parts())

    def difference(self, now: Owner) -> str:
        """The settings that are others now: as they are here, and as they are now."""
        pairs = [(here, there) for here, there in zip(self._parts(), now._parts(), strict=True) if here != there]
        return f"{', '.join(here for here, _ in pairs)}; now: {', '.join(there for _, there in pairs)}"

    def _parts(self) -> tuple[str, ...]:
        label = self.cluster_label
        return f"uid {self.uid}", f"page {self.page}", f"datasource {self.datasource}", f"label {label}"


def owner_of(text: str) -> Owner | None:
    """The owner of a dashboard, which is JSON or in an object of Kubernetes; None: it is none of groupwatch.

    >>> owner_of("{}") is None
    True
    """
    found = _IN_YAML.search(text)
    try:
        return _owner(json.loads(text if found is None else found[1]))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _owner(board: dict[str, Any]) -> Owner:
    variables = {each["name"]: each for each in board["templating"]["list"]}
    label = _LABEL.search(variables["cluster"]["query"]["query"])
    return Owner(
        uid=board["uid"],
        page=variables[PAGE_VARIABLE]["current"]["value"],
        datasource=variables[DATASOURCE_VARIABLE]["current"]["value"],
        cluster_label="" if label is None else label[1],
    )

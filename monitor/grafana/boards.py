"""The dashboards as a deployment chooses them. ``shipped`` has them as ``python -m dashboards`` writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from monitor.metrics.cluster_label import with_cluster_label
from monitor.model.cluster_label import CLUSTER_LABEL
from monitor.model.dashboard_uids import FLEET_UID, deployment_uid

SHIPPED: Final = Path(__file__).parent / "shipped"

PAGE_VARIABLE: Final = "groupwatch"
DATASOURCE_VARIABLE: Final = "datasource"
"""Variables whose first value a deployment may choose."""

_TITLE: Final = "groupwatch:"
_LINKS: Final = '"/d/'
"""How titles, and links to other dashboards, begin."""


class BoardOptions(msgspec.Struct, frozen=True):
    """Everything that a deployment chooses. The default gives the shipped dashboards.

    ``name`` is that of the deployment among others in the same Grafana. ``datasource`` is the name or the uid of the
    data source that is selected at first, ``page`` the address of groupwatch's page without a slash at its end.
    """

    name: str | None = None
    datasource: str | None = None
    page: str | None = None
    cluster_label: str = CLUSTER_LABEL


SHIPPED_OPTIONS: Final = BoardOptions()


def configured_boards(options: BoardOptions = SHIPPED_OPTIONS) -> Mapping[str, str]:
    """The JSON of each dashboard by its short name, such as ``fleet``."""
    return {
        file.stem: _board_text(file.read_text(encoding="utf-8"), options) for file in sorted(SHIPPED.glob("*.json"))
    }


def _board_text(text: str, options: BoardOptions) -> str:
    board = json.loads(with_cluster_label(text, options.cluster_label))
    if options.page is not None:
        _choose(board, PAGE_VARIABLE, options.page)
    if options.datasource is not None:
        _choose(board, DATASOURCE_VARIABLE, options.datasource)
    if options.name is None:
        return _json_text(board)
    _name(board, options.name)
    return _json_text(board).replace(f"{_LINKS}{FLEET_UID}", f"{_LINKS}{deployment_uid(FLEET_UID, options.name)}")


def _choose(board: dict[str, Any], variable: str, value: str) -> None:
    """Give a variable of the dashboard another first value. Grafana finds a data source by its uid or by its name."""
    for each in board["templating"]["list"]:
        if each["name"] == variable:
            each["current"] = {"text": value, "value": value}
            if each["type"] == "textbox":
                each["query"] = value


def _name(board: dict[str, Any], name: str) -> None:
    """The uid, the title and the tag of a named deployment: its dashboards list each other, and no others."""
    board["uid"] = deployment_uid(board["uid"], name)
    board["title"] = board["title"].replace(_TITLE, f"groupwatch {name}:", 1)
    board["tags"] = [deployment_uid(tag, name) for tag in board["tags"]]
    for link in board["links"]:
        link["tags"] = [deployment_uid(tag, name) for tag in link["tags"]]


def _json_text(board: Mapping[str, Any]) -> str:
    return json.dumps(board, indent=2) + "\n"

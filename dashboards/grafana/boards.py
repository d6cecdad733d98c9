"""All dashboards, and their text as Grafana provisions it."""

from __future__ import annotations

import json
from typing import Final

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from dashboards.grafana import fleet, group, itself, rebalances, topics
from dashboards.grafana.layout import Board, built

BOARDS: Final = {
    "fleet": fleet.BOARD,
    "group": group.BOARD,
    "rebalances": rebalances.BOARD,
    "topics": topics.BOARD,
    "itself": itself.BOARD,
}
"""By the name of the file."""


def board_file(board: Board) -> str:
    """The dashboard as JSON: the same text for the same board, so that a stale file can be detected."""
    return json.dumps(built(board), cls=JSONEncoder, indent=2) + "\n"

"""How old what groupwatch says of itself may become, in seconds.

Beyond, the alert rules that are shipped fire (docs/alerts.md), and check-config warns of settings that lead there.
"""

from __future__ import annotations

from typing import Final

EVALUATION_OLD_S: Final = 300
"""Since the groups of a cluster were judged. As long as a groupwatch may be away: it is as blind."""
CATALOG_OLD_S: Final = 600
"""Since the newest complete pass over the topics of a cluster began."""
COLLECTOR_OLD_S: Final = 900
"""Since a collector got everything."""
OLD_FOR_S: Final = 60
"""So long has it to be older."""

RECORDING_OLD_S: Final = 7_200
"""A recording is behind once it ends so many seconds ago: twice the longest time between two portions."""

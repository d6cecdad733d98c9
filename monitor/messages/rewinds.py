"""Committed offsets that went back, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from monitor.model import RewindCause

CAUSES: Final[Mapping[RewindCause, str]] = {
    RewindCause.DELETED: " after it had been deleted or had expired",
    RewindCause.RESET: " by a reset while the group had no members",
    RewindCause.REBALANCE: " with the first commit after a rebalance",
    RewindCause.OUT_OF_ORDER: " by two commits of its owner within a second",
    RewindCause.UNKNOWN: "",
}
"""How an offset went back: what follows "The committed offset went back from 9 to 5"."""

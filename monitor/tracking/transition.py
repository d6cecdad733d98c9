"""A group's step from one phase to the next."""

from __future__ import annotations

from msgspec.structs import replace

from monitor.model import GroupState
from monitor.tracking.phases import TRANSITIONS, Happened


def entered(state: GroupState, happened: Happened, at_ms: int) -> GroupState:
    """The state in the phase that the table gives; ``phase_ms`` moves only if the phase does."""
    phase = TRANSITIONS[state.phase, happened]
    return state if phase is state.phase else replace(state, phase=phase, phase_ms=at_ms)

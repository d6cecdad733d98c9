"""Static members that are replaced: one ``group.instance.id``, held by one member after another (KIP-345)."""

from __future__ import annotations

from typing import Final

from monitor.model.values import Value

RUN_GAP_MS: Final = 600_000
"""Replacements that are further apart are of two runs. Supervisors wait for less: Kubernetes for five minutes at
most."""


class StaticIdRun(Value, array_like=True):
    """The newest replacements of a static member that followed each other within RUN_GAP_MS.

    ``times`` counts them (0: a member with this id has left, and none has replaced it yet), ``first_ms`` and
    ``last_ms`` are when the first and the last were, ``longest_gap_ms`` is the longest time between two of them.
    """

    instance_id: str
    first_ms: int
    last_ms: int
    times: int = 0
    longest_gap_ms: int = 0

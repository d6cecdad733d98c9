"""Which thresholds a group is judged by: the default ones, or those that a pattern of its name chooses."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, TypeVar

from msgspec.structs import replace

from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.model import Value
from monitor.model.patterns import name_pattern
from monitor.model.scaling import ScaleTarget

REMEMBERED: Final = 100_000
"""Of how many groups the answer is kept: they are asked for in every micro-batch."""


class Override(Value):
    """Thresholds for the groups whose whole name matches an expression of RE2 (docs/decisions/0007).

    ``cluster`` None: in every cluster. ``settings`` are complete: what an override does not name, it has as default.
    """

    groups: str
    settings: DetectionSettings
    cluster: str | None = None


class ScaleEntry(Value):
    """An entry ``[[scale]]``: the groups whose whole name matches need as many members as ``target`` chooses."""

    groups: str
    target: ScaleTarget
    cluster: str | None = None


Entry = TypeVar("Entry", Override, ScaleEntry)


class DetectionRules(Value, cache_hash=True):
    """The thresholds of all groups. The first override that matches counts, and no other."""

    default: DetectionSettings = DetectionSettings()
    overrides: tuple[Override, ...] = ()
    scales: tuple[ScaleEntry, ...] = ()
    """The groups whose needed number of members is calculated; the first entry that matches counts."""

    def of(self, cluster: str, group: str) -> DetectionSettings:
        """The thresholds of a group.

        >>> patient = DetectionSettings(commit_silence_ms=600_000)
        >>> rules = DetectionRules(overrides=(Override(groups="batch-.*", settings=patient),))
        >>> rules.of("prod", "batch-1") == patient, rules.of("prod", "my-batch-1") == rules.default
        (True, True)

        Raises:
            PatternError: an expression cannot be read.
        """
        return _chosen(self, cluster, group) if self.overrides or self.scales else self.default


@lru_cache(maxsize=REMEMBERED)
def _chosen(rules: DetectionRules, cluster: str, group: str) -> DetectionSettings:
    override = _first(rules.overrides, cluster, group)
    scale = _first(rules.scales, cluster, group)
    settings = rules.default if override is None else override.settings
    return settings if scale is None else replace(settings, scale=scale.target)


def _first(entries: Iterable[Entry], cluster: str, group: str) -> Entry | None:
    """The first entry that is for a group."""
    here = (each for each in entries if each.cluster in (None, cluster))
    return next((each for each in here if name_pattern(each.groups).matches(group)), None)

"""Which thresholds a group is judged by: the default ones, or those that a pattern of its name chooses."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.model import Value
from monitor.model.patterns import name_pattern

REMEMBERED: Final = 100_000
"""Of how many groups the answer is kept: they are asked for in every micro-batch."""


class Override(Value):
    """Thresholds for the groups whose whole name matches an expression of RE2 (docs/decisions/0007).

    ``cluster`` None: in every cluster. ``settings`` are complete: what an override does not name, it has as default.
    """

    groups: str
    settings: DetectionSettings
    cluster: str | None = None


class DetectionRules(Value, cache_hash=True):
    """The thresholds of all groups. The first override that matches counts, and no other."""

    default: DetectionSettings = DetectionSettings()
    overrides: tuple[Override, ...] = ()

    def of(self, cluster: str, group: str) -> DetectionSettings:
        """The thresholds of a group.

        >>> patient = DetectionSettings(commit_silence_ms=600_000)
        >>> rules = DetectionRules(overrides=(Override(groups="batch-.*", settings=patient),))
        >>> rules.of("prod", "batch-1") == patient, rules.of("prod", "my-batch-1") == rules.default
        (True, True)

        Raises:
            PatternError: an expression cannot be read.
        """
        return _chosen(self, cluster, group) if self.overrides else self.default


@lru_cache(maxsize=REMEMBERED)
def _chosen(rules: DetectionRules, cluster: str, group: str) -> DetectionSettings:
    return next(
        (
            override.settings
            for override in rules.overrides
            if override.cluster in (None, cluster) and name_pattern(override.groups).matches(group)
        ),
        rules.default,
    )

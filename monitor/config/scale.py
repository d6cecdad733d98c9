"""The tables ``[[scale]]``: of which groups groupwatch says how many members they need (docs/autoscaling.md)."""

from __future__ import annotations

from typing import Final, Self

from pydantic import Field, field_validator, model_validator

from monitor.config.section import LONGEST_S, Section, checked_expression
from monitor.detection.thresholds.overrides import ScaleEntry
from monitor.model.scaling import ScaleTarget

_TARGET: Final = ScaleTarget()
MOST_MEMBERS: Final = 10_000


class ScaleSettings(Section):
    """Groups of which groupwatch says how many members they need ([autoscaling.md](autoscaling.md)).

    The first table that matches a group counts.
    """

    groups: str = Field(min_length=1)
    """The groups: a regular expression of RE2 for the whole name."""
    cluster: str | None = Field(default=None, min_length=1)
    """Only groups of the cluster with this name; not set: every cluster."""
    target_s: float = Field(default=_TARGET.target_ms / 1000, ge=1, le=LONGEST_S, allow_inf_nan=False)
    """The members are to read each record within this time: those that wait now, and those that come in."""
    headroom: float = Field(default=_TARGET.headroom, gt=0, le=1, allow_inf_nan=False)
    """What comes in for a member over `down_after_s`, at most ten minutes, may be at most this share of what it reads.
    The rest is for short peaks and for catching up."""
    min: int = Field(default=_TARGET.least, ge=1, le=MOST_MEMBERS)
    """The least number of members."""
    max: int | None = Field(default=None, ge=1, le=MOST_MEMBERS)
    """The largest number of members. Not set: the number of partitions, as members beyond it would be idle."""
    members_per_replica: int | None = Field(default=None, ge=1, le=MOST_MEMBERS)
    """How many members a replica (a pod) has. Not set: one, if each member has a host of its own; else the number of
    replicas is unknown."""
    down_after_s: float = Field(default=_TARGET.down_after_ms / 1000, ge=0, le=LONGEST_S, allow_inf_nan=False)
    """The number falls only once a lower one has been enough for this long."""

    @field_validator("groups")
    @classmethod
    def _is_an_expression(cls, given: str) -> str:
        return checked_expression(given)

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.max is not None and self.max < self.min:
            raise ValueError("should have a max that is at least its min")
        return self

    def entry(self) -> ScaleEntry:
        """As a value, in the units of the rules (ms)."""
        target = ScaleTarget(
            target_ms=int(self.target_s * 1000),
            headroom=self.headroom,
            least=self.min,
            most=self.max,
            members_per_replica=self.members_per_replica,
            down_after_ms=int(self.down_after_s * 1000),
        )
        return ScaleEntry(self.groups, target, self.cluster)

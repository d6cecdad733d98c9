"""Which groups are recorded, by their names."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from monitor.model.patterns import is_allowed
from monitor.model.values import Value

REMEMBERED: Final = 100_000
"""For how many groups the answer is kept: they are asked for in every portion."""


class GroupChoice(Value, cache_hash=True):
    """The groups whose names match an expression of ``allow`` (empty: all do), and none of ``deny``."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    @property
    def is_all(self) -> bool:
        """Whether every group is recorded."""
        return not self.allow and not self.deny

    def has(self, group: str) -> bool:
        """Whether the group is recorded."""
        return self.is_all or _has(self, group)


ALL: Final = GroupChoice()


@lru_cache(maxsize=REMEMBERED)
def _has(choice: GroupChoice, group: str) -> bool:
    return is_allowed(group, choice.allow, choice.deny)

"""What is expected of groups, as values: the entries of a file, and what they say together of one group."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from monitor.model import Value
from monitor.model.findings import Severity
from monitor.model.patterns import name_pattern


class MemberRange(Value):
    """How many members a group should have: at least ``least``, at most ``most`` (None: any number)."""

    least: int
    most: int | None = None

    def __contains__(self, members: int) -> bool:
        """Whether so many members are as expected.

        >>> 3 in MemberRange(2, 4), 5 in MemberRange(2, 4), 5 in MemberRange(2)
        (True, False, True)
        """
        return self.least <= members and (self.most is None or members <= self.most)

    def __str__(self) -> str:
        """As a person says it.

        >>> str(MemberRange(3, 3)), str(MemberRange(2, 4)), str(MemberRange(2))
        ('3', '2 to 4', 'at least 2')
        """
        if self.most is None:
            return f"at least {self.least:,}"
        return f"{self.least:,}" if self.least == self.most else f"{self.least:,} to {self.most:,}"


class Objective(Value):
    """For how much of the time an expectation should be met: ``percent`` of each ``window_days`` in a row."""

    percent: float
    window_days: int

    @property
    def budget(self) -> float:
        """The share of the time in which it need not be met: the error budget.

        >>> Objective(99.5, 30).budget
        0.005
        """
        return round(1 - self.percent / 100, 9)


class Expectation(Value):
    """What is expected of a group, or of the groups that match a pattern. None: nothing is expected of it.

    ``cluster`` None: in each cluster. ``protocol`` is in Kafka's words: classic, consumer, share or streams.
    ``static``: whether all members have an instance id, or (False) none has. ``max_share`` is how many partitions the
    largest member may have, as a multiple of what it would have in an optimal assignment. ``allow`` are findings that
    are allowed, as KIND or KIND/REASON. ``slo`` is for how much of the time all of this should be so.
    """

    groups: str
    cluster: str | None = None
    team: str | None = None
    exists: bool | None = None
    members: MemberRange | None = None
    protocol: str | None = None
    assignor: str | None = None
    static: bool | None = None
    max_lag_s: float | None = None
    max_share: float | None = None
    allow: tuple[str, ...] | None = None
    slo: Objective | None = None

    def is_of(self, cluster: str, group: str) -> bool:
        """Whether it is about this group.

        Raises:
            PatternError: its expression cannot be read.
        """
        return self.cluster in (None, cluster) and name_pattern(self.groups).matches(group)

    def allows(self, kind: str, reason: str) -> bool:
        """Whether a finding is allowed.

        >>> Expectation("etl", allow=("drift", "lag/behind")).allows("lag", "behind")
        True
        """
        return bool({kind, f"{kind}/{reason}"}.intersection(self.allow or ()))


_KEYS: Final = tuple(name for name in Expectation.__struct_fields__ if name not in {"groups", "cluster"})


class Expectations(Value, cache_hash=True):
    """The entries of a file, in its order. ``severity`` is that of the findings about groups that do not meet them."""

    entries: tuple[Expectation, ...]
    severity: Severity = Severity.WARNING

    def of(self, cluster: str, group: str) -> Expectation | None:
        """What is expected of one group: of each key, the first entry that matches and has it. None: nothing.

        >>> wide, narrow = Expectation(".*", team="data", max_lag_s=60), Expectation("orders", max_lag_s=5)
        >>> found = Expectations((narrow, wide)).of("prod", "orders")
        >>> found.team, found.max_lag_s
        ('data', 5)
        >>> Expectations((narrow,)).of("prod", "other") is None
        True
        """
        matching = [each for each in self.entries if each.is_of(cluster, group)]
        if not matching:
            return None
        values = {name: _first(matching, name) for name in _KEYS}
        return replace(matching[0], groups=group, cluster=cluster, **values)

    def source(self, cluster: str, group: str, key: str) -> Expectation | None:
        """The entry that says what is expected of a group in one key; None: none does.

        >>> wide, narrow = Expectation(".*", max_lag_s=60), Expectation("orders", team="data")
        >>> Expectations((narrow, wide)).source("prod", "orders", "max_lag_s") == wide
        True
        """
        matching = (each for each in self.entries if getattr(each, key) is not None and each.is_of(cluster, group))
        return next(matching, None)


def _first(entries: list[Expectation], name: str) -> object:
    return next((value for each in entries if (value := getattr(each, name)) is not None), None)

"""By how many partitions of the offsets topic the brokers place groups in it."""

from __future__ import annotations

from collections.abc import Mapping

from monitor.model.values import STATE_VERSION, Value


class LogPlaces(Value):
    """A group's records are in the partition ``hash(group) % partitions`` of the offsets topic.

    Brokers read the number of partitions when they start. Until they are restarted after the topic has grown, they
    place groups by the number ``before`` (0: it has not grown since the checkpoint began, or is known to be over).
    ``partitions`` 0: nothing is known, and a record counts wherever it is.
    """

    partitions: int = 0
    before: int = 0

    def in_force(self, ends: Mapping[int, int]) -> int:
        """By how many partitions groups are placed, by the ends of these: only then is anything in an added one.

        >>> LogPlaces(7, before=3).in_force({0: 5, 3: 0}), LogPlaces(7, before=3).in_force({0: 5, 6: 1})
        (3, 7)
        """
        is_used = any(end > 0 for partition, end in ends.items() if partition >= self.before)
        return self.partitions if not self.before or is_used else self.before


class GrownLog(Value):
    """By how many partitions groups were placed last, and, if these have grown, what that did to the groups.

    Of ``groups`` that there were, ``lost`` are those, sorted, whose place moved and that had committed offsets: the
    brokers do not find these. ``grown_ms`` is when that was seen, ``before`` the former number (0: never).
    """

    partitions: int
    before: int = 0
    grown_ms: int = 0
    groups: int = 0
    lost: tuple[str, ...] = ()
    version: int = STATE_VERSION

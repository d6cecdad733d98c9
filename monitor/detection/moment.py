"""The instant of an evaluation, and until when its verdict holds.

Between two changes of its inputs a verdict becomes another only at an instant that a rule compares with: a silence
becomes too long, a grace period ends. So rules compare instants and never subtract times, and the first instant that
has yet to come is that until which the verdict holds.
"""

from __future__ import annotations

from math import ceil, floor, inf


class Moment:
    """Now, in milliseconds since the epoch. ``next_ms`` is the first later instant that a rule compared with."""

    __slots__ = ("next_ms", "now_ms")

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.next_ms: float = inf

    def has_come(self, instant_ms: float) -> bool:
        """Whether it is the instant, or later. If not, it is remembered.

        >>> moment = Moment(1_000)
        >>> moment.has_come(999), moment.has_come(1_000), moment.has_come(3_000), moment.has_come(2_000)
        (True, True, False, False)
        >>> moment.next_ms
        2000
        """
        if instant_ms <= self.now_ms:
            return True
        if instant_ms < self.next_ms:
            self.next_ms = instant_ms if instant_ms == inf else ceil(instant_ms)
        return False

    def has_passed(self, instant_ms: float) -> bool:
        """Whether it is later than the instant.

        >>> Moment(1_000).has_passed(1_000), Moment(1_000).has_passed(999.5)
        (False, True)
        """
        return self.has_come(instant_ms if instant_ms == inf else floor(instant_ms) + 1)

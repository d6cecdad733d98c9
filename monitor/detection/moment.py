"""The instant of an evaluation, and when the next one would answer otherwise.

Between two changes of its inputs a verdict becomes another only when an instant comes that somebody has asked for: a
silence becomes too long, a grace period ends. So rules ask for instants and never subtract times, and what they have
asked says until when their answers hold.
"""

from __future__ import annotations

from math import ceil, floor, inf


class Moment:
    """Now, in milliseconds since the epoch. ``next_ms`` is the first instant after it that anybody has asked for."""

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

"""MetaQ's default strategy (``DefaultLoadBalanceStrategy`` of metamorphosis-client 1.4.6.2).

Properties:

1. Every partition has exactly one taker.
2. The shares differ by at most one; the first consumers of the list have the larger ones.
3. Each consumer takes a run of neighbouring partitions.

Steps: divide the partitions by the consumers, rounded down; as many of the first consumers as there are left over take
one more; go through both lists from the front.

>>> for share in Default().allocate(["0-0", "0-1", "1-0"], ["c0", "c1"], ask=["c0", "c1", "stranger"]):
...     print(share.client, share.queues)
c0 ('0-0', '0-1')
c1 ('1-0',)
stranger ()
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from monitor.assignors.errors import AssignorError
from monitor.assignors.metaq.strategy import Plan, Strategy


class Default(Strategy):
    """Cuts the partitions into runs. See the module for the rule."""

    name: ClassVar[str] = "default"

    def plan(self, partitions: Sequence[str], consumers: Sequence[str]) -> Plan:
        """See ``Strategy.plan``.

        Raises:
            AssignorError: there are no consumers.
        """
        if not consumers:
            raise AssignorError("ArithmeticException", "/ by zero")
        share, more = divmod(len(partitions), len(consumers))
        places = {consumer: place for place, consumer in reversed(list(enumerate(consumers)))}

        def take(consumer: str) -> Sequence[str]:
            place = places.get(consumer)
            if place is None:
                return ()
            start = place * share + min(place, more)
            return partitions[start : start + share + (place < more)]

        return take

"""MetaQ's consistent hashing (``ConsisHashStrategy`` of metamorphosis-client 1.4.6.2).

Properties:

1. Every partition has exactly one taker.
2. When a consumer comes or goes, only partitions that come to it or leave it move. There is no balance bound.
3. A consumer's partitions come in the order of a Java ``HashSet``.

Steps:

1. Each consumer has 160 points on a ring of 32 bits: MD5(consumer + "-" + number) for 40 numbers gives four each,
   little endian.
2. A partition goes to the consumer of the first point at or behind the first four bytes of its own MD5, round the ring.

Two points can fall together; the later consumer in the list then has it.

>>> for share in Consishash().allocate(["0-0", "0-1", "0-2", "1-0"], ["c0", "c1"], ask=["c0", "c1"]):
...     print(share.client, share.queues)
c0 ('0-2',)
c1 ('0-0', '0-1', '1-0')
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from hashlib import md5
from typing import ClassVar, Final

from monitor.assignors.errors import AssignorError
from monitor.assignors.java.order import hash_map_order
from monitor.assignors.metaq.strategy import Plan, Strategy

_DIGESTS: Final = 40


class Consishash(Strategy):
    """Puts consumers and partitions on a ring. See the module for the rule."""

    name: ClassVar[str] = "consishash"

    def plan(self, partitions: Sequence[str], consumers: Sequence[str]) -> Plan:
        """See ``Strategy.plan``.

        Raises:
            AssignorError: there are partitions but no consumers.
        """
        ring = {
            point: consumer
            for consumer in consumers
            for number in range(_DIGESTS)
            for point in struct.unpack("<4I", _digest(f"{consumer}-{number}"))
        }
        if partitions and not ring:
            raise AssignorError("NullPointerException")
        points = sorted(ring)
        taken: dict[str, list[str]] = defaultdict(list)
        for partition in partitions:
            place = bisect_left(points, struct.unpack_from("<I", _digest(partition))[0])
            taken[ring[points[place % len(points)]]].append(partition)
        return lambda consumer: hash_map_order(taken.get(consumer, ()))


def _digest(text: str) -> bytes:
    # Java writes a lone surrogate as "?", and so does Python with "replace".
    return md5(text.encode("utf-8", "replace"), usedforsecurity=False).digest()

"""The orders in which a ``java.util.HashMap`` of texts may iterate that was filled in an unknown order.

Keys of one place of the table come in the order in which they were put in, and those of different places in that of the
places. So only keys that share a place can come otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, islice, permutations, product

from monitor.assignors.java.order import hash_map_order, table_size
from monitor.assignors.java.text import string_hash

_WORD = 0xFFFF_FFFF


def bucket_orders(keys: Iterable[str], limit: int) -> Iterator[list[str]]:
    """Up to ``limit`` of the orders, without those of crowded places that become trees; the usual one comes first.

    >>> list(bucket_orders(["b", "q", "a"], 10))  # q and a have the same place
    [['q', 'a', 'b'], ['a', 'q', 'b']]
    """
    ordered = hash_map_order(keys)
    last = table_size(len(ordered)) - 1
    places = [list(shared) for _, shared in groupby(ordered, lambda key: _place(key, last))]
    orders = product(*(permutations(shared) for shared in places))
    return ([key for shared in order for key in shared] for order in islice(orders, limit))


def _place(key: str, last: int) -> int:
    hashed = string_hash(key) & _WORD
    return (hashed ^ hashed >> 16) & last

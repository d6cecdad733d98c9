"""A subscription as it is kept with a rebalance: by its first topics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

KEPT_TOPICS: Final = 8
"""Of so many topics of a subscription it is kept that they are its topics: enough to tell it from others."""


def first_topics(topics: Iterable[str]) -> tuple[str, ...]:
    """The first topics of a subscription in order, KEPT_TOPICS at most.

    >>> first_topics(["payments", "orders"]), len(first_topics(map(str, range(20))))
    (('orders', 'payments'), 8)
    """
    return tuple(sorted(set(topics))[:KEPT_TOPICS])

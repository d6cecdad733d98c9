"""That groups lost their committed offsets because the offsets topic has grown: one sentence for all of them."""

from __future__ import annotations

from typing import Final

from monitor.messages.formatting import counted, grouped
from monitor.messages.names import shown
from monitor.messages.notification import utc
from monitor.model import GrownLog

NAMED: Final = 5
"""So many groups are named; the others are counted."""


def growth_sentence(grown: GrownLog) -> str:
    """What the growth of the offsets topic did to the groups that lost committed offsets.

    >>> grown = GrownLog(partitions=7, before=3, grown_ms=0, groups=10, lost=("a", "b", "c", "d", "e", "f", "g"))
    >>> print(growth_sentence(grown))
    __consumer_offsets grew from 3 to 7 partitions, so 7 of 10 groups lost their committed offsets: a, b, c, d, e and \
2 more. The brokers have looked for them in other partitions since 1970-01-01 00:00:00 UTC.
    """
    names = ", ".join(map(shown, grown.lost[:NAMED]))
    more = len(grown.lost) - NAMED
    named = f"{names} and {grouped(more)} more" if more > 0 else names
    return (
        f"__consumer_offsets grew from {grown.before} to {grown.partitions} partitions, so "
        f"{grouped(len(grown.lost))} of {counted(grown.groups, 'group')} lost their committed offsets: {named}. "
        f"The brokers have looked for them in other partitions since {utc(grown.grown_ms)}."
    )

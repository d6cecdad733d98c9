"""Which verdicts stay as they are while time passes, so that a quiet group need not be judged again and again."""

from __future__ import annotations

from monitor.model import GroupVerdict


def is_settled(verdict: GroupVerdict) -> bool:
    """Whether the verdict holds, but for its instant, until the group or its topics change.

    Time enters a verdict by the age of a lag, by the rules about a lag, by the ages of findings, by those of handovers,
    which are findings once they are old, and by a rebalance that is under way: it becomes too long by time alone, and
    what a collector said of it becomes out of date. What was read of a group too soon after a change counts later. A
    group without any of these has nothing that grows older; of rebalances that are over, time only makes fewer count.
    Property tests hold the rules to this.
    """
    is_under_way = bool(verdict.handovers) or verdict.rebalancing_since_ms is not None or verdict.settles_ms is not None
    return not verdict.lag and not verdict.findings and not is_under_way

"""Which verdicts stay as they are while time passes, so that a quiet group need not be judged again and again."""

from __future__ import annotations

from monitor.model import GroupVerdict


def is_settled(verdict: GroupVerdict) -> bool:
    """Whether the verdict holds, but for its instant, until the group or its topics change.

    Time enters a verdict by the age of a lag, by the rules about a lag, by the ages of findings, and by those of
    handovers, which are findings once they are old: a group without these has nothing that grows older. A property
    test holds the rules to this.
    """
    return not verdict.lag and not verdict.findings and not verdict.handovers

"""The row of a finding: what is the same wherever it is found."""

from __future__ import annotations

from monitor.findings.advice import Advice, advice_of
from monitor.findings.order import Rank
from monitor.model import FindingKind, Library, Value
from monitor.model.findings import Severity


class FindingSpec(Value):
    """One finding that can be told, with all that is the same wherever it is found.

    ``rank`` is its place among all findings and has its severity, which is that of one that has lasted: its alert waits
    for that. ``advice`` is what a person can do first, as
    one text where it can be true of every group that has the finding; None: there is no general advice. ``mark`` are
    the short words beside a partition of it on the page of its group; None: it is not about partitions, or their number
    is in the words.

    ``jitters``: which partitions and members it is about changes with every commit, and is no news. Nor is a later
    beginning: what shows since when records wait is only kept for minutes, and what was told stays true.
    ``remembered``: its beginning is looked for in a bounded history (of hours, in a storm) and moves on with it in the
    end, which is no news.
    """

    kind: FindingKind
    reason: str
    rank: Rank
    advice: str | tuple[Advice, ...] | None = None
    mark: str | None = None
    jitters: bool = False
    remembered: bool = False

    @property
    def severity(self) -> Severity:
        """What somebody has to do: that of its rank."""
        return self.rank.severity

    def advice_for(self, kind: str, *, is_connect: bool = False, library: Library | None = None) -> str | None:
        """What a person can do first about it in a group of this kind; None: there is no general advice.

        ``is_connect``: its members are the workers of a Connect cluster. ``library``: that of the finding.
        """
        if self.advice is None or isinstance(self.advice, str):
            return self.advice
        return advice_of(self.advice, kind, is_connect=is_connect, library=library)

"""Which findings of a cluster's groups ended lately: what one evaluation had, and the next one has no more. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from monitor.findings.alerts import alert_kept_ms, settling_until_ms
from monitor.model import ClusterSnapshot, GroupSummary
from monitor.model.ended_findings import EndedFinding, EndedLately
from monitor.model.findings import SubordinateFinding

KEPT_MS: Final = 20 * 60_000
"""An alert fires for 5 or 15 minutes after the end of its finding, and a little longer until that is sent."""

MOST_ENDED: Final = 2_000
"""So many are remembered of a cluster, the newest: half a megabyte."""


class EndedFindings:
    """Remembers the findings of one cluster from evaluation to evaluation. Not safe to share by threads."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._seen: dict[str, GroupSummary] | None = None

    def after(
        self, groups: Sequence[GroupSummary], now_ms: int, before: EndedLately | None, served: Sequence[GroupSummary]
    ) -> EndedLately:
        """What ended lately, now that these are all groups.

        A group that cannot be evaluated keeps its findings until it can. Those that now follow from a finding of the
        cluster have not ended.

        Args:
            groups: all groups of the cluster, as just evaluated.
            now_ms: when they were.
            before: the answer of the time before, also of the run before; None: there is none.
            served: the groups that were served before the first evaluation of this run.
        """
        known = _with_findings(served) if self._seen is None else self._seen
        seen = _with_findings(groups)
        ended: list[EndedFinding] = []
        for name, last in known.items():
            newest = seen.get(name)
            if newest is not None and newest.unjudged is not None:
                seen[name] = last
            elif newest is not last:
                ended += _group_endings(last, newest, now_ms)
        self._seen = seen
        return _all_endings(ended, before or EndedLately(now_ms), seen, now_ms)


def ended_lately(ended: EndedLately, at_ms: int) -> EndedLately:
    """What of it is not too old at an instant of the cluster's clock."""
    return EndedLately(ended.known_ms, tuple([each for each in ended.findings if at_ms - each.ended_ms <= KEPT_MS]))


def ended_in_cluster(cluster: ClusterSnapshot, now_ms: int) -> EndedLately | None:
    """What ended lately in a cluster, which may have been evaluated long ago; None: that is not known.

    ``now_ms`` is by the machine's clock.
    """
    return None if cluster.ended is None else ended_lately(cluster.ended, now_ms - cluster.clock_behind_ms)


def in_group(ended: EndedLately, group: str) -> EndedLately:
    """What of it is about one group."""
    return EndedLately(ended.known_ms, tuple([each for each in ended.findings if each.group == group]))


def has_alert(ended: EndedFinding) -> bool:
    """Whether an alert can have fired about it when it ended."""
    return alert_kept_ms(ended.kind, ended.reason) > 0 and not ended.was_settling and not ended.was_subordinate


def alert_sentence(ended: EndedFinding, at_ms: int) -> str:
    """What is to be said of its alert at an instant of the cluster's clock; "": there is none, or it has ended too."""
    kept_ms = 0 if ended.was_subordinate else alert_kept_ms(ended.kind, ended.reason)
    if kept_ms and ended.was_settling:
        return "It was too young for its alert."
    return "Its alert may fire for some minutes more." if at_ms - ended.ended_ms < kept_ms else ""


def _with_findings(groups: Iterable[GroupSummary]) -> dict[str, GroupSummary]:
    return {each.group: each for each in groups if each.findings or each.subordinate or each.unjudged is not None}


def _names(group: GroupSummary | None) -> set[tuple[str, str]]:
    found = () if group is None else (*group.findings, *group.subordinate)
    return {(each.kind, each.reason) for each in found}


def _group_endings(last: GroupSummary, newest: GroupSummary | None, now_ms: int) -> Iterator[EndedFinding]:
    remaining = _names(newest)
    for each in (*last.findings, *last.subordinate):
        if (each.kind, each.reason) not in remaining:
            yield EndedFinding(
                group=last.group,
                kind=each.kind,
                reason=each.reason,
                since_ms=each.since_ms,
                ended_ms=now_ms,
                sentence=each.sentence,
                was_settling=settling_until_ms(each, now_ms) is not None,
                was_subordinate=isinstance(each, SubordinateFinding),
            )


def _all_endings(
    ended: Sequence[EndedFinding], before: EndedLately, seen: Mapping[str, GroupSummary], now_ms: int
) -> EndedLately:
    """All of them without what is too old or is there again. A cut moves the instant from which the list has all."""
    recent = ended_lately(before, now_ms).findings
    found = [*ended, *(each for each in recent if (each.kind, each.reason) not in _names(seen.get(each.group)))]
    known_ms = before.known_ms if len(found) <= MOST_ENDED else found[MOST_ENDED].ended_ms + 1
    return EndedLately(known_ms, tuple(found[:MOST_ENDED]))

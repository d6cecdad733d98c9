"""The lists of the API: groups, findings and client libraries, chosen, sorted and cut.

Pure, but for what it keeps of a snapshot.
"""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Final, Generic, TypeVar

import msgspec
from msgspec.structs import asdict, replace

from monitor.detection.finding_changes import finding_id
from monitor.findings.alerts import place_of, settling_until_ms
from monitor.findings.alike import alike_groups
from monitor.findings.table import spec_of
from monitor.messages.formatting import searchable
from monitor.model import ClusterSnapshot, Finding, FindingKind, GroupKind, GroupSummary, LibraryUse, Phase, Value
from monitor.topics.unused import Unused
from monitor.web.api.types import ClusterCondition, OpenFinding
from monitor.web.views.known_groups import KnownGroups
from monitor.web.views.overview import cluster_line
from monitor.web.views.topic_list import TopicSummary


def condition(cluster: ClusterSnapshot, now_ms: int) -> ClusterCondition:
    """The cluster's condition now."""
    line = cluster_line(cluster, now_ms)
    return ClusterCondition(
        cluster=cluster.cluster,
        ready=cluster.ready,
        stale=line.stale,
        late=line.late,
        sentence=line.sentence,
        groups=len(cluster.groups) if cluster.is_known else None,
        groups_with_findings=sum(bool(each.findings) for each in cluster.groups) if cluster.is_known else None,
        problem=cluster.problem,
        warning=line.warning,
        evaluated_ms=cluster.evaluated_ms,
        age_ms=cluster.age_ms(now_ms),
        batch_duration_ms=cluster.batch_duration_ms,
        input_lag=cluster.input_lag,
        catalog_ms=cluster.catalog_ms,
        decode_errors=sum(error.count for source in cluster.decode_errors for error in source.errors),
        evaluation_errors=cluster.evaluation_errors,
        warm_up=cluster.warm_up,
        collectors=cluster.collectors,
        findings=cluster.findings,
        alike=tuple(alike_groups(cluster.groups).values()) if cluster.is_known else (),
        carrier=cluster.carrier,
        unread=cluster.unread,
    )


Row = TypeVar("Row", GroupSummary, OpenFinding, LibraryUse, TopicSummary, Unused)
"""What a list consists of."""

_ENCODER: Final = msgspec.json.Encoder()
_AT_ONCE: Final = 500
"""So many rows are encoded while no other thread runs: a millisecond or two."""


class Order(StrEnum):
    """How groups are sorted. Those that are equal, and those of which the number is not known, come by name."""

    NAME = "name"
    """By cluster, then by group."""
    WORST = "worst"
    """The worst finding first (monitor.findings.order), the longest first."""
    LAG = "lag"
    """The largest first."""
    MEMBERS = "members"
    """The most first."""


class Wanted(Value):
    """Which rows to return. An empty choice takes all; ``search`` is a part of the group's name, in any case.

    ``after`` is the place of the last row that the client has.
    """

    clusters: tuple[str, ...] = ()
    search: str = ""
    problems: bool = False
    findings: tuple[FindingKind, ...] = ()
    kinds: tuple[GroupKind, ...] = ()
    teams: tuple[str, ...] = ()
    states: tuple[Phase, ...] = ()
    order: Order = Order.NAME
    limit: int | None = None
    after: Place | None = None


class Place(msgspec.Struct, frozen=True, order=True, array_like=True):
    """The place of a row in an order; also the place that it would have if it has gone meanwhile."""

    first: int
    second: int
    cluster: str
    group: str
    reason: str = ""


_CURSORS: Final = msgspec.json.Decoder(tuple[Order, Place])


class Cut(Value, Generic[Row]):
    """The rows up to the limit, how many match in all, and the place after which the next ones stand (None: none)."""

    rows: tuple[Row, ...]
    matching: int
    after: Place | None


class CursorError(Exception):
    """A cursor that no answer has given."""


def cursor(order: Order, place: Place) -> str:
    """A place as a client gives it back.

    >>> read_cursor(Order.LAG, cursor(Order.LAG, Place(0, -7, "main", "orders"))).group
    'orders'
    """
    sendable = replace(place, cluster=_sendable(place.cluster), group=_sendable(place.group))
    return base64.urlsafe_b64encode(_ENCODER.encode((order, sendable))).rstrip(b"=").decode("ascii")


def _sendable(name: str) -> str:
    """The name's bytes as characters: also of a name that JSON could not hold."""
    return name.encode("utf-8", "surrogatepass").decode("latin-1")


def _sent(name: str) -> str:
    return name.encode("latin-1").decode("utf-8", "surrogatepass")


def read_cursor(order: Order, text: str) -> Place:
    """The place.

    Raises:
        CursorError: the text is no cursor, or one of a list in another order.
    """
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        known, sent = _CURSORS.decode(data)
        place = replace(sent, cluster=_sent(sent.cluster), group=_sent(sent.group))
    except (ValueError, binascii.Error, msgspec.DecodeError) as error:
        raise CursorError("The cursor is invalid: no response has given it.") from error
    if known is not order:
        raise CursorError(f"The cursor is of a list that is sorted by {known.value}.")
    return place


class ApiLists:
    """The groups of some clusters at one time. What takes long is done once, when it is first needed."""

    def __init__(self, clusters: Sequence[ClusterSnapshot]) -> None:
        self._known = KnownGroups(clusters)
        self._orders: dict[Order, list[GroupSummary]] = {Order.NAME: self._known.by_name}

    def groups(self, wanted: Wanted) -> Cut[GroupSummary]:
        """The groups that match."""
        found = [each for each in self._sorted(wanted.order) if _fits(each, wanted)]
        cut = cut_rows(found, wanted, lambda each: self._place(wanted.order, each))
        return Cut(rows=tuple(map(self._known.dated, cut.rows)), matching=cut.matching, after=cut.after)

    def findings(self, wanted: Wanted) -> Cut[OpenFinding]:
        """The findings that match, the worst first, the longest first."""
        groups = {(each.cluster, each.group) for each in self._known.troubled if _fits(each, wanted)}
        found = [
            each
            for each in self._findings
            if (each.cluster, each.group) in groups and (not wanted.findings or each.kind in wanted.findings)
        ]
        return cut_rows(found, wanted, _place_of_finding)

    def libraries(self, wanted: Wanted) -> Cut[LibraryUse]:
        """The client libraries of the clusters that match, by cluster; most members first."""
        found = tuple([use for use in self._known.libraries if not wanted.clusters or use.cluster in wanted.clusters])
        return Cut(rows=found, matching=len(found), after=None)

    def _sorted(self, order: Order) -> list[GroupSummary]:
        known = self._orders.get(order)
        if known is None:
            known = self._orders[order] = self._known.by_worst if order is Order.WORST else self._by_place(order)
        return known

    def _by_place(self, order: Order) -> list[GroupSummary]:
        return sorted(self._known.by_name, key=lambda each: self._place(order, each))

    def _place(self, order: Order, group: GroupSummary) -> Place:
        match order:
            case Order.NAME:
                return Place(0, 0, group.cluster, group.group)
            case Order.WORST:
                return Place(*self._known.worst_first(group))
            case Order.LAG:
                return _by_size(group.known_lag, group)
            case Order.MEMBERS:
                return _by_size(group.members, group)

    @cached_property
    def _findings(self) -> list[OpenFinding]:
        found = (
            _open_finding(group, finding, self._known.evaluated_ms(group))
            for group in self._known.troubled
            for finding in group.findings
        )
        return sorted(found, key=_place_of_finding)


def encoded(rows: Sequence[Row]) -> bytes:
    """The rows as a JSON list. A row that JSON cannot hold (half a character in a name) is left out: it is only one."""
    slices = (rows[start : start + _AT_ONCE] for start in range(0, len(rows), _AT_ONCE))
    pieces = (piece for each in slices if (piece := _encoded_slice(each)))
    return b"[" + b",".join(pieces) + b"]"


def _encoded_slice(rows: Sequence[Row]) -> bytes:
    try:
        return _ENCODER.encode(rows)[1:-1]
    except UnicodeEncodeError:
        return b",".join(_encodable(rows))


def _encodable(rows: Iterable[Row]) -> Iterable[bytes]:
    for row in rows:
        try:
            yield _ENCODER.encode(row)
        except UnicodeEncodeError:
            continue


def _fits(group: GroupSummary, wanted: Wanted) -> bool:
    """Whether the group is one of those to return; the cheap checks come first."""
    return (
        (not (wanted.problems or wanted.findings) or bool(group.findings))
        and (not wanted.clusters or group.cluster in wanted.clusters)
        and (not wanted.kinds or group.kind in wanted.kinds)
        and (not wanted.teams or group.team in wanted.teams)
        and (not wanted.states or group.state in wanted.states)
        and (not wanted.search or searchable(wanted.search) in searchable(group.group))
        and (not wanted.findings or any(each.kind in wanted.findings for each in group.findings))
    )


def cut_rows(rows: Sequence[Row], wanted: Wanted, place: Callable[[Row], Place]) -> Cut[Row]:
    """The rows after the client's last one, up to the limit. ``place`` is the place of a row in their order."""
    start = 0 if wanted.after is None else bisect_right(rows, wanted.after, key=place)
    shown = rows[start:] if wanted.limit is None else rows[start : start + wanted.limit]
    is_last = start + len(shown) >= len(rows)
    return Cut(rows=tuple(shown), matching=len(rows), after=None if is_last or not shown else place(shown[-1]))


def _by_size(size: int | None, group: GroupSummary) -> Place:
    """The largest first, the unknown last."""
    return Place(int(size is None), -(size or 0), group.cluster, group.group)


def _place_of_finding(finding: OpenFinding) -> Place:
    place = place_of(finding, finding.evaluated_ms)
    return Place(place, finding.since_ms, finding.cluster, finding.group, finding.reason)


def _open_finding(group: GroupSummary, finding: Finding, evaluated_ms: int) -> OpenFinding:
    spec = spec_of(finding.kind, finding.reason)
    return OpenFinding(
        id=finding_id(group.cluster, group.group, finding),
        cluster=group.cluster,
        group=group.group,
        evaluated_ms=evaluated_ms,
        severity=spec.severity,
        advice=spec.advice_for(group.kind, is_connect=group.is_connect, library=finding.library),
        settling_until_ms=settling_until_ms(finding, evaluated_ms),
        team=group.team,
        **asdict(finding),
    )

"""Where the HTTP app gets what it serves, and how a group is found there by the address of a request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from msgspec.structs import replace
from starlette.exceptions import HTTPException
from starlette.requests import Request

from monitor.detection.ended_findings import ended_lately
from monitor.detection.evaluation_input import GroupInputs
from monitor.messages.formatting import visible
from monitor.model import ClusterSnapshot, GroupSummary, GroupUse, GroupVerdict, Snapshot, Value
from monitor.snapshot_file import ClusterInputs, NotJudgedError
from monitor.web.views.addresses import GroupAddress, group_address
from monitor.web.views.lag_history import LagPoint
from monitor.web.views.status import shard_sentence, unready_sentence

Answer = TypeVar("Answer")


class Source(Protocol):
    """Where the app gets what it serves."""

    def read(self) -> Snapshot:
        """The newest snapshot."""

    def verdict(self, cluster: str, group: str) -> GroupVerdict | None:
        """The newest verdict on a group; None if there is no such group.

        Raises:
            NotJudgedError: the group cannot be judged. The others can.
        """

    def inputs(self, cluster: str) -> ClusterInputs | None:
        """What the newest verdicts on the groups of a cluster are made of; None if none has been judged."""

    def uses(self, cluster: str) -> tuple[GroupUse, ...]:
        """The groups of a cluster with their topics, as of the newest evaluation; () if there is none.

        The times of commits may be older than the newest: :meth:`inputs` has these.
        """

    def history(self, cluster: str, group: str, every: int = 1) -> tuple[LagPoint, ...]:
        """How the group's lag went in about the last 30 minutes, the oldest point first; () if that is not known.

        ``every``: only each so-many-th point, and the newest.
        """


class NotKnownYet(HTTPException):
    """Some clusters are not known yet: 503, never an empty response, which would mean that all is well.

    ``clusters`` are their names.
    """

    def __init__(self, clusters: Sequence[ClusterSnapshot], hint: str = "") -> None:
        self.clusters = tuple(each.cluster for each in clusters)
        sentences = [f"{_unknown(each)} {unready_sentence(each)}" for each in clusters]
        super().__init__(503, " ".join([*sentences, *([hint] if hint else [])] or ["No cluster is watched."]))


def _unknown(cluster: ClusterSnapshot) -> str:
    if cluster.is_known:
        return f"The details of each group of {visible(cluster.cluster)} are not known yet."
    return f"The groups of {visible(cluster.cluster)} are not known yet."


class FoundGroup(Value):
    """A group that an address names, and its cluster."""

    cluster: ClusterSnapshot
    verdict: GroupVerdict


class GroupFinder:
    """Finds the group that a request is about, or raises an HTTPException that says why there is none."""

    def __init__(self, source: Source, now_ms: Callable[[], int]) -> None:
        self._source = source
        self._now_ms = now_ms

    def verdict(self, request: Request, prefix: str) -> FoundGroup:
        """The newest verdict on the group that the path under ``prefix`` names."""
        address = address_of(request, prefix)
        cluster = self._ready(address.cluster)
        verdict = _judged(address, self._source.verdict)
        if verdict is not None:
            return FoundGroup(cluster=cluster, verdict=verdict)
        raise HTTPException(404, self._not_found(address))

    def inputs(self, request: Request, prefix: str) -> GroupInputs:
        """What the newest verdict on that group is made of, with what ended lately by now."""
        address = address_of(request, prefix)
        cluster = self._ready(address.cluster)
        found = _judged(address, self._group_inputs)
        if found is None:
            raise HTTPException(404, self._not_found(address))
        at_ms = self._now_ms() - cluster.clock_behind_ms
        return found if found.ended is None else replace(found, ended=ended_lately(found.ended, at_ms))

    def listed(self, request: Request, prefix: str) -> GroupSummary:
        """The group as it is listed: nothing is judged for it."""
        address = address_of(request, prefix)
        found = self._ready(address.cluster).find_group(address.group)
        if found is None:
            raise HTTPException(404, self._not_found(address))
        return found

    def cluster(self, name: str) -> ClusterSnapshot:
        """The cluster of that name, if its groups are known."""
        found = named(self._source.read(), name)
        if not found.is_known:
            raise NotKnownYet([found])
        return found

    def _ready(self, name: str) -> ClusterSnapshot:
        """The cluster of that name, if its groups can be judged one by one."""
        found = self.cluster(name)
        if not found.ready:
            raise NotKnownYet([found])
        return found

    def _group_inputs(self, cluster: str, group: str) -> GroupInputs | None:
        inputs = self._source.inputs(cluster)
        return inputs.inputs(group) if inputs is not None else None

    def _not_found(self, address: GroupAddress) -> str:
        sentence = f"No group named {visible(address.group)} was found in cluster {visible(address.cluster)}."
        shard = self._source.read().shard
        return sentence if shard.is_all else f"{sentence} {shard_sentence(shard)}"


def named(snapshot: Snapshot, name: str) -> ClusterSnapshot:
    """The cluster of that name, ready or not.

    Raises:
        HTTPException: 404, none is called so.
    """
    known = next((each for each in snapshot.clusters if each.cluster == name), None)
    if known is None:
        raise HTTPException(404, f"No cluster named {visible(name)} is watched.")
    return known


def address_of(request: Request, prefix: str) -> GroupAddress:
    """The group that the path under ``prefix`` names.

    Raises:
        HTTPException: 404, it names none.
    """
    address = group_address(request.scope["raw_path"].decode("ascii"), prefix)
    if address is None:
        raise HTTPException(404, "This address names no group: it must end in a cluster and a group.")
    return address


def _judged(address: GroupAddress, judge: Callable[[str, str], Answer | None]) -> Answer | None:
    try:
        return judge(address.cluster, address.group)
    except NotJudgedError as error:
        sentence = f"Group {visible(address.group)} of cluster {visible(address.cluster)} cannot be evaluated"
        raise HTTPException(500, f"{sentence} ({visible(str(error))}). Other groups are not affected.") from error

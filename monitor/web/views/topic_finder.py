"""The topic that an address names, with every group that has to do with it."""

from __future__ import annotations

from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request

from monitor.messages.formatting import visible
from monitor.model import ClusterSnapshot, GroupUse, GroupVerdict, Value
from monitor.snapshot_file import NotJudgedError
from monitor.topics.detail import Reading, TopicDetail, TopicInputs, topic_detail
from monitor.topics.uses import all_topics, is_reader
from monitor.web.views.addresses import TopicAddress, topic_address
from monitor.web.views.snapshot_source import Source, named
from monitor.web.views.topic_list import TopicListings

SHOWN_GROUPS: Final = 20
"""How many groups of a topic the page evaluates, unless it is to list all."""


class FoundTopic(Value):
    """A topic, its cluster, and the verdicts on its groups by their names."""

    cluster: ClusterSnapshot
    detail: TopicDetail
    verdicts: dict[str, GroupVerdict]


class TopicFinder:
    """Finds the topic that a request is about, or raises an HTTPException that says why there is none."""

    def __init__(self, source: Source, listings: TopicListings) -> None:
        self._source = source
        self._listings = listings

    def topic(self, request: Request, prefix: str, limit: int | None) -> FoundTopic:
        """The topic that the path under ``prefix`` names, with at most so many of its groups: readers come first."""
        address = _address(request, prefix)
        snapshot = self._source.read()
        cluster = named(snapshot, address.cluster)
        topics = self._listings.cluster(cluster)
        state = topics.catalog.topics.get(address.topic)
        uses = [use for use in topics.uses if address.topic in all_topics(use)]
        if state is None and not uses:
            where = f"topic named {visible(address.topic)} was found in cluster {visible(address.cluster)}"
            raise HTTPException(404, f"No {where}.")
        uses.sort(key=lambda use: not is_reader(use, address.topic))
        readings, failed = self._readings(cluster.cluster, uses[:limit])
        detail = topic_detail(
            TopicInputs(
                cluster=cluster.cluster,
                topic=address.topic,
                now_ms=cluster.evaluated_ms or 0,
                state=state,
                readings=tuple(readings),
                hidden=len(uses) - len(uses[:limit]),
                failed=tuple(failed),
                elsewhere=not snapshot.shard.is_all,
            )
        )
        return FoundTopic(cluster, detail, {each.verdict.group: each.verdict for each in readings})

    def _readings(self, cluster: str, uses: list[GroupUse]) -> tuple[list[Reading], list[str]]:
        """The groups that can be evaluated, and the names of the others."""
        readings: list[Reading] = []
        failed: list[str] = []
        for use in uses:
            try:
                verdict = self._source.verdict(cluster, use.group)
            except NotJudgedError:
                failed.append(use.group)
                continue
            if verdict is not None:
                readings.append(Reading(use=use, verdict=verdict))
        return readings, failed


def _address(request: Request, prefix: str) -> TopicAddress:
    address = topic_address(request.scope["raw_path"].decode("ascii"), prefix)
    if address is None:
        raise HTTPException(404, "This address names no topic: it must end in a cluster and a topic.")
    return address

"""The addresses of the API, declared once: routes, the list of them, their OpenAPI document and docs/api.md follow."""

from __future__ import annotations

from typing import Final

import msgspec

from monitor.expectations.outcome import GroupOutcome
from monitor.explain.rollout_cost import RolloutForecast
from monitor.explain.statements import Explanation
from monitor.explain.what_if import WhatIf
from monitor.history.report.facts import IncidentReport
from monitor.history.story import GroupStory
from monitor.model import FindingKind, GroupKind, GroupSummary, LibraryUse, Phase, Value
from monitor.topics.detail import TopicDetail
from monitor.topics.unused import Unused
from monitor.web.api.lists import Order
from monitor.web.api.types import ApiIndex, ClusterCondition, GroupLag, GroupScaling, OpenFinding
from monitor.web.views.addresses import (
    API,
    HISTORY,
    LIBRARIES_API,
    REPORT_API,
    ROOT,
    SAVED,
    SCALE,
    STORY,
    TOPICS_API,
    UNUSED_API,
)
from monitor.web.views.query import Parameter
from monitor.web.views.summary import ToldVerdict
from monitor.web.views.topic_list import TopicSummary

GROUP: Final = "{cluster}/{group}"
TOPIC: Final = "{cluster}/{topic}"
EXPLAIN: Final = "/api/v1/explain/"
VERIFY: Final = "/api/v1/verify/"
WHAT_IF: Final = "/api/v1/what-if/"
ROLLOUT: Final = "/api/v1/rollout/"
LAG: Final = "/api/v1/lag/"
OPENAPI: Final = "/api/v1/openapi.json"


TAGS: Final = {
    "groups": "Clusters, their groups and findings, now.",
    "topics": "Topics, and what could be deleted.",
    "explanations": "Reasons, simulations, and the inputs of both.",
    "recording": "What happened, from a recording.",
    "api": "The API itself.",
}
"""The subjects of the addresses: a generator of clients makes a class of each."""


class Answer(Value):
    """The response of an address: a type of value, or a list of them; None: it is described elsewhere."""

    type: type[Value] | None = None
    is_list: bool = False
    media: str = "application/json"


class Address(Value):
    """An address: its path in which names stand in braces, what it is for in a sentence, and its parameters."""

    path: str
    name: str
    tag: str
    """What it is about, one of ``TAGS``."""
    meaning: str
    answer: Answer
    parameters: tuple[Parameter, ...] = ()
    is_former: bool = False
    """Whether it is the former name of another: it stays for a release."""

    @property
    def operation_id(self) -> str:
        """Its name as a generator of clients takes it: ``what-if`` is whatIf."""
        first, *more = self.name.split("-")
        return "".join([first, *(word.capitalize() for word in more)])

    @property
    def is_of_group(self) -> bool:
        """Whether it ends in a cluster and a group."""
        return self.path.endswith(GROUP)

    @property
    def has_names(self) -> bool:
        """Whether its path names a group or a topic."""
        return self.is_of_group or self.path.endswith(TOPIC)


_CLUSTER: Final = Parameter(name="cluster", meaning="Only this cluster, or one of these.", repeats=True)
_SEARCH: Final = Parameter(name="q", meaning="Only groups whose name contains this text, in any case.")
_FINDING: Final = Parameter(
    name="finding",
    meaning="Only with findings of this kind, or of one of these.",
    words=tuple(FindingKind),
    repeats=True,
)
_TEAM: Final = Parameter(
    name="team", meaning="Only groups of this team, or of one of these, by the file of expectations.", repeats=True
)
_LIMIT: Final = Parameter(
    name="limit",
    meaning="The maximum number of rows. If there are more, the header Link has the address of the next (rel=next).",
    is_number=True,
)
PARTIAL: Final = "partial"
_PARTIAL: Final = Parameter(
    name=PARTIAL,
    meaning="Whether clusters that are not ready are left out and named in the header X-Not-Ready (1), or the response "
    "is a 503 (0). Default: 1, and 0 if a cluster is named.",
    is_switch=True,
)
_PARTIAL_SNAPSHOT: Final = msgspec.structs.replace(
    _PARTIAL, meaning="Leave out clusters that are not ready. The header X-Not-Ready names them."
)
_AT: Final = Parameter(
    name="at",
    meaning="As of this instant of the recording: 2026-11-22 02:14 (UTC), with an offset such as +01:00, or -3h.",
)
_SPAN: Final = (
    Parameter(name="since", meaning="From this instant, as at of the other addresses; -1h if left out."),
    Parameter(name="until", meaning="Until this instant; now if left out."),
)
_CURSOR: Final = Parameter(name="cursor", meaning="Continue after the response whose Link has this cursor.")

ADDRESSES: Final = (
    Address(path=ROOT, name="index", tag="api", meaning="The addresses of the API.", answer=Answer(type=ApiIndex)),
    Address(
        path="/api/v1/clusters",
        name="clusters",
        tag="groups",
        meaning="The state of each cluster, and how recent the evaluation of its groups is.",
        answer=Answer(type=ClusterCondition, is_list=True),
    ),
    Address(
        path=API.rstrip("/"),
        name="groups",
        tag="groups",
        meaning="The groups of all clusters, each with its findings. X-Total-Count has the number of matches.",
        answer=Answer(type=GroupSummary, is_list=True),
        parameters=(
            _CLUSTER,
            _SEARCH,
            Parameter(name="problems", meaning="Only groups with findings.", is_switch=True),
            _FINDING,
            Parameter(
                name="kind",
                meaning="Only groups of this kind, or of one of these.",
                words=tuple(GroupKind),
                repeats=True,
            ),
            Parameter(
                name="state", meaning="Only groups in this state, or in one of these.", words=tuple(Phase), repeats=True
            ),
            _TEAM,
            Parameter(
                name="sort",
                meaning="By name (default), worst finding, largest lag, or most members.",
                words=tuple(Order),
            ),
            _LIMIT,
            _CURSOR,
            _PARTIAL,
        ),
    ),
    Address(
        path=f"{API}{GROUP}",
        name="group",
        tag="groups",
        meaning="All details of a group: members, partitions, lag, findings with advice.",
        answer=Answer(type=ToldVerdict),
        parameters=(_AT,),
    ),
    Address(
        path="/api/v1/findings",
        name="findings",
        tag="groups",
        meaning="The open findings of all groups, worst first. X-Total-Count has the number of matches.",
        answer=Answer(type=OpenFinding, is_list=True),
        parameters=(_CLUSTER, _SEARCH, _FINDING, _TEAM, _LIMIT, _CURSOR, _PARTIAL),
    ),
    Address(
        path=LIBRARIES_API,
        name="libraries",
        tag="groups",
        meaning="The client libraries that the members of Kafka groups use, by cluster; most members first. "
        "X-Total-Count has the number of rows.",
        answer=Answer(type=LibraryUse, is_list=True),
        parameters=(_CLUSTER, _PARTIAL),
    ),
    Address(
        path=TOPICS_API.rstrip("/"),
        name="topics",
        tag="topics",
        meaning="The topics of all clusters, each with the number of groups that read it and what comes in. "
        "X-Total-Count has the number of matches.",
        answer=Answer(type=TopicSummary, is_list=True),
        parameters=(
            _CLUSTER,
            Parameter(name="q", meaning="Only topics whose name contains this text, in any case."),
            Parameter(name="unread", meaning="Only topics that no group reads.", is_switch=True),
            _LIMIT,
            _CURSOR,
            _PARTIAL,
        ),
    ),
    Address(
        path=f"{TOPICS_API}{TOPIC}",
        name="topic",
        tag="topics",
        meaning="A topic: its partitions, what comes in, and each group that reads it or has offsets in it.",
        answer=Answer(type=TopicDetail),
        parameters=(
            Parameter(
                name="limit",
                meaning="The maximum number of groups; groups that read the topic come first. Left out: all.",
                is_number=True,
            ),
        ),
    ),
    Address(
        path=UNUSED_API,
        name="unused",
        tag="topics",
        meaning="Groups, and offsets of groups, that could be deleted, with the command. groupwatch deletes nothing. "
        "X-Total-Count has the number of rows.",
        answer=Answer(type=Unused, is_list=True),
        parameters=(_CLUSTER, _PARTIAL),
    ),
    Address(
        path=f"{EXPLAIN}{GROUP}",
        name="explain",
        tag="explanations",
        meaning="The owners with reasons, the findings and what to do: the output of groupwatch explain --json.",
        answer=Answer(type=Explanation),
        parameters=(
            Parameter(name="topic", meaning="With a partition: explain that one."),
            Parameter(name="partition", meaning="Its number; of RocketMQ BROKER-QUEUE, of MetaQ BROKER-NUMBER."),
            _AT,
        ),
    ),
    Address(
        path=f"{WHAT_IF}{GROUP}",
        name="what-if",
        tag="explanations",
        meaning="The assignment of a group after a change, or (no parameter) after a rebalance now: the output of "
        "groupwatch what-if --json.",
        answer=Answer(type=WhatIf),
        parameters=(
            Parameter(name="assignor", meaning="Another assignor, for example roundrobin or sarama.roundrobin."),
            Parameter(name="leader", meaning="The member that leads, with the assignor of its client library."),
            Parameter(name="members", meaning="The number of members; new ones subscribe like most.", is_number=True),
            Parameter(
                name="without", meaning="Without this member (its id, instance id, client id or host).", repeats=True
            ),
            Parameter(name="partitions", meaning="TOPIC=N: with N partitions of a topic.", repeats=True),
            _AT,
        ),
    ),
    Address(
        path=f"{ROLLOUT}{GROUP}",
        name="rollout",
        tag="explanations",
        meaning="What it will cost to replace all members: the output of groupwatch what-if --rollout --json without "
        "the other ways, for at most 10 members and 200 partitions.",
        answer=Answer(type=RolloutForecast),
        parameters=(
            Parameter(
                name="rollout",
                meaning="surge=N,start=DURATION or recreate,start=DURATION; surge=1,start=20s if left out.",
            ),
            Parameter(name="assignor", meaning="Another assignor."),
            Parameter(name="protocol", meaning="consumer: as if the group used KIP-848."),
            Parameter(name="static", meaning="As if members had a group.instance.id (1).", is_switch=True),
            _AT,
        ),
    ),
    Address(
        path=f"{VERIFY}{GROUP}",
        name="verify",
        tag="groups",
        meaning="Whether a group is as the file of expectations says: 200 it is, 409 it is not, 503 that is not known. "
        "Each has the checks.",
        answer=Answer(type=GroupOutcome),
        parameters=(
            Parameter(
                name="since",
                meaning="The start of a rollout: also check owners, their commits, and findings since then.",
            ),
        ),
    ),
    Address(
        path=f"{SCALE}{GROUP}",
        name="scale",
        tag="groups",
        meaning="How many members a group needs, for an autoscaler: 200 with the number, 404 if no entry [[scale]] is "
        "for the group, 503 with a sentence if the number is unknown or its data is old.",
        answer=Answer(type=GroupScaling),
    ),
    Address(
        path=f"{LAG}{GROUP}",
        name="lag",
        tag="groups",
        meaning="The lag of a group over about the last 30 minutes, one point about every 15 s.",
        answer=Answer(type=GroupLag),
    ),
    Address(
        path=f"{HISTORY}{GROUP}",
        name="history",
        tag="recording",
        meaning="What happened to a group in a span of the recording: rebalances, findings, its lag. The output of "
        "groupwatch history --json.",
        answer=Answer(type=GroupStory),
        parameters=_SPAN,
    ),
    Address(
        path=f"{STORY}{GROUP}",
        name="story",
        tag="recording",
        meaning=f"The former name of {HISTORY}. It goes away with the release after this one.",
        answer=Answer(type=GroupStory),
        parameters=_SPAN,
        is_former=True,
    ),
    Address(
        path=f"{REPORT_API}{GROUP}",
        name="report",
        tag="recording",
        meaning="A report on an incident, of a span of the recording: what happened, what it did, how it ended, with "
        "evidence.",
        answer=Answer(type=IncidentReport),
        parameters=_SPAN,
    ),
    Address(
        path=SAVED.rstrip("/"),
        name="snapshot",
        tag="explanations",
        meaning="The inputs of the verdicts on all groups, as lines of JSON (docs/explain.md).",
        answer=Answer(media="application/x-ndjson"),
        parameters=(_PARTIAL_SNAPSHOT,),
    ),
    Address(
        path=f"{SAVED}{GROUP}",
        name="snapshot-of-group",
        tag="explanations",
        meaning="The inputs of the verdict on a group, as lines of JSON (docs/explain.md).",
        answer=Answer(media="application/x-ndjson"),
        parameters=(_AT,),
    ),
    Address(
        path=OPENAPI,
        name="openapi",
        tag="api",
        meaning="This API as an OpenAPI 3.1 document: every address, parameter and field.",
        answer=Answer(),
    ),
)


def address(name: str) -> Address:
    """The address of that name."""
    return next(each for each in ADDRESSES if each.name == name)

"""The MCP server: its tools, as the official SDK serves them. It reads one job and changes nothing.

The SDK makes the schema of a tool's arguments from the annotations of its method, and the names of the arguments are
those of the parameters.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any, Final

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field, ValidationError

from monitor.cli.agents.answers import Chosen, JobAnswers, Order
from monitor.cli.agents.marking import FROM_CLUSTER, NOTICE
from monitor.cli.errors import SourceError
from monitor.cli.sources.source import Span
from monitor.detection.evaluation_input import QuestionError
from monitor.explain.query import counts_typed
from monitor.explain.rollout_cost import CONSUMER, RolloutQuestion
from monitor.explain.rollout_plan import DEFAULT, rollout_typed
from monitor.explain.what_if import Change
from monitor.messages.names import shown
from monitor.model import FindingKind
from monitor.web.views.addresses import GroupAddress

INSTRUCTIONS: Final = (
    "groupwatch watches consumer groups of Kafka, RocketMQ and MetaQ: who should own each partition, who owns it, and "
    "the lag. To find out why a group is behind, call list_findings, then explain_group with its cluster and group. "
    "All tools only read. Times (_ms) are milliseconds since the epoch; an absent field has its default or is unknown. "
    + NOTICE
)

READ_ONLY: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

Cluster = Annotated[str, Field(description="The cluster's name in groupwatch's configuration.")]
Group = Annotated[str, Field(description="The group's exact name.")]
OneCluster = Annotated[str | None, Field(description="Only this cluster.")]
Text = Annotated[str | None, Field(description="Only groups whose name contains this text, in any case.")]
Limit = Annotated[int, Field(ge=1, le=100, description="The maximum number of rows.")]
At = Annotated[str | None, Field(description="An instant of the recording: 2026-11-22 02:14 (UTC), or -3h.")]
Since = Annotated[str, Field(description="The start of the span: 2026-11-22 02:00 (UTC), or -3h.")]
Until = Annotated[str, Field(description="The end of the span.")]


class ToolAnswer(BaseModel):
    """The JSON of each tool: what to know of its data, and the answer, or the reason why there is none."""

    notice: str
    answer: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


Answer = Annotated[CallToolResult, ToolAnswer]


def create_server(answers: JobAnswers, version: str) -> MCPServer[Any]:
    """The server with all tools."""
    server = _Server("groupwatch", version=version, instructions=INSTRUCTIONS, log_level="WARNING", subscriptions=False)
    tools = Tools(answers)
    for tool in (
        *(tools.list_clusters, tools.list_findings, tools.list_groups, tools.explain_group),
        *(tools.what_if, tools.forecast_rollout, tools.needed_members, tools.group_history, tools.incident_report),
        *(tools.list_topics, tools.census, tools.list_unused, tools.doctor),
    ):
        server.add_tool(tool, annotations=READ_ONLY)
    return server


class _Server(MCPServer[Any]):
    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """The tool's result; for arguments that do not fit its schema, an error in the form of all others."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                return _error_result(_argument_sentence(error.__cause__))
            raise


class Tools:
    """A method for each tool; its docstring is what an agent reads."""

    def __init__(self, answers: JobAnswers) -> None:
        self._answers = answers

    def list_clusters(self) -> Answer:
        """The watched clusters: whether their groups are known, how recent that is, and what is wrong."""
        return _result(self._answers.clusters)

    def list_findings(
        self,
        cluster: OneCluster = None,
        group_contains: Text = None,
        kinds: Annotated[list[FindingKind] | None, Field(description="Only these kinds.")] = None,
        limit: Limit = 20,
    ) -> Answer:
        """The open findings, worst first: a sentence for each, its start, partitions, members, and what to do."""
        chosen = Chosen(cluster, group_contains, limit)
        return _result(lambda: self._answers.findings(chosen, tuple(kinds or ())))

    def list_groups(
        self,
        cluster: OneCluster = None,
        group_contains: Text = None,
        only_problems: Annotated[bool, Field(description="Only groups with findings.")] = False,
        sort: Order = "worst",
        limit: Limit = 20,
    ) -> Answer:
        """The consumer groups with state, members, lag and findings."""
        chosen = Chosen(cluster, group_contains, limit)
        return _result(lambda: self._answers.groups(chosen, sort, only_problems=only_problems))

    def explain_group(
        self,
        cluster: Cluster,
        group: Group,
        topic: Annotated[str | None, Field(description="Explain one partition of this topic.")] = None,
        partition: Annotated[str | int | None, Field(description="The partition; needs a topic.")] = None,
        at: At = None,
    ) -> Answer:
        """Why a group, or one of its partitions, is as it is: owners and reasons, lag, findings and what to do."""
        typed = None if partition is None else str(partition)
        return _result(lambda: self._answers.explanation(GroupAddress(cluster, group), topic, typed, at))

    def what_if(  # noqa: PLR0913, PLR0917 -- each is an argument of the tool
        self,
        cluster: Cluster,
        group: Group,
        assignor: Annotated[str | None, Field(description="Another assignor, as roundrobin.")] = None,
        leader: Annotated[str | None, Field(description="The member that leads, with its library's assignor.")] = None,
        members: Annotated[int | None, Field(ge=1, description="The number of members.")] = None,
        without: Annotated[list[str] | None, Field(description="Members that leave: member or client ids.")] = None,
        partitions: Annotated[list[str] | None, Field(description="TOPIC=N: so many partitions of a topic.")] = None,
        at: At = None,
    ) -> Answer:
        """Simulate a group's assignment after changes; without changes: after a rebalance now. Changes nothing."""

        def simulation() -> dict[str, Any]:
            counts = counts_typed(partitions or ())
            change = Change(assignor, leader, members, tuple(without or ()), counts)
            return self._answers.simulation(GroupAddress(cluster, group), change, at)

        return _result(simulation)

    def forecast_rollout(  # noqa: PLR0913, PLR0917 -- each is an argument of the tool
        self,
        cluster: Cluster,
        group: Group,
        plan: Annotated[
            str, Field(description="surge=N,start=DURATION (N new pods before N old ones stop) or recreate,start=20s.")
        ] = DEFAULT,
        assignor: Annotated[str | None, Field(description="Another assignor, as cooperative-sticky.")] = None,
        static: Annotated[bool, Field(description="As if members had a group.instance.id.")] = False,
        kip_848: Annotated[bool, Field(description="As if the group used the KIP-848 protocol.")] = False,
        at: At = None,
    ) -> Answer:
        """What replacing all members of a group will cost: rebalances, moves, pauses. Replays it; changes nothing."""

        def forecast() -> dict[str, Any]:
            question = RolloutQuestion(rollout_typed(plan), assignor, CONSUMER if kip_848 else None, static)
            return self._answers.forecast(GroupAddress(cluster, group), question, at)

        return _result(forecast)

    def needed_members(
        self,
        cluster: Cluster,
        group: Group,
        target: Annotated[
            str | None, Field(description="Within this time, members are to read all that waits; for example 60s.")
        ] = None,
        most: Annotated[int | None, Field(description="The largest number of members.")] = None,
        at: At = None,
    ) -> Answer:
        """How many members a group needs, why, and what other numbers would come to. Changes nothing."""

        def plan() -> dict[str, Any]:
            return self._answers.scale_plan(GroupAddress(cluster, group), target, most, at)

        return _result(plan)

    def group_history(self, cluster: Cluster, group: Group, since: Since = "-1h", until: Until = "now") -> Answer:
        """What happened to a group in a span of the recording: rebalances, findings, its lag."""
        return _result(lambda: self._answers.history(GroupAddress(cluster, group), Span(since, until)))

    def incident_report(self, cluster: Cluster, group: Group, since: Since = "-1h", until: Until = "now") -> Answer:
        """A report on an incident of the recording: what happened to which members, what it did, how it ended."""
        return _result(lambda: self._answers.report(GroupAddress(cluster, group), Span(since, until)))

    def list_topics(
        self,
        cluster: OneCluster = None,
        topic_contains: Annotated[str | None, Field(description="Only topics whose name contains this text.")] = None,
        unread: Annotated[bool, Field(description="Only topics that no group reads.")] = False,
        limit: Limit = 20,
    ) -> Answer:
        """The topics by name: partitions, the groups that read them, and the records that come in."""
        chosen = Chosen(cluster, topic_contains, limit)
        return _result(lambda: self._answers.topics(chosen, unread=unread))

    def census(self, cluster: OneCluster = None) -> Answer:
        """The client libraries of the groups' members, with versions as far as they can be known."""
        return _result(lambda: self._answers.census(cluster))

    def list_unused(self, cluster: OneCluster = None, limit: Limit = 20) -> Answer:
        """Groups and offsets that could be deleted, each with its reason and the command for a person to run."""
        return _result(lambda: self._answers.unused_list(cluster, limit))

    def doctor(
        self, group: Annotated[str | None, Field(description="Judge only the group of this exact name.")] = None
    ) -> Answer:
        """One look at the cluster of --bootstrap-server, without the job: what is wrong now. Takes up to 20 s."""
        return _result(lambda: self._answers.examination(group))


def _result(work: Callable[[], dict[str, Any]]) -> CallToolResult:
    try:
        return _tool_result({"notice": NOTICE, "answer": work()}, is_error=False)
    except (SourceError, QuestionError) as error:
        return _error_result(str(error))


def _error_result(sentence: str) -> CallToolResult:
    return _tool_result({"notice": NOTICE, "error": {FROM_CLUSTER: {"sentence": sentence}}}, is_error=True)


def _argument_sentence(error: ValidationError) -> str:
    """What is wrong with each argument, once, without the given value."""
    problems = {_problem(each["loc"][0], each["msg"]): None for each in error.errors(include_url=False)}
    return f"{'; '.join(problems)}."


def _problem(argument: int | str, message: str) -> str:
    return f"{shown(str(argument))}: {shown(message[:1].lower() + message[1:])}"


def _tool_result(content: dict[str, Any], *, is_error: bool) -> CallToolResult:
    """The same as text and as a structure. The text is ASCII: no character of a name is invisible in it."""
    text = TextContent(type="text", text=json.dumps(content, ensure_ascii=True))
    return CallToolResult(content=[text], structured_content=content, is_error=is_error)

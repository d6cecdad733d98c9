"""The commands explain, what-if, snapshot and census. They end with 0, or with 2 and one sentence on stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.cli.answering import tell_answer
from monitor.cli.source_options import SourceOptions, source_command

if TYPE_CHECKING:  # loaded when a command needs it: --help must be quick
    from monitor.explain.what_if import PartitionCount

Cluster = Annotated[str, typer.Argument(help="The cluster's name in the configuration.")]
GroupName = Annotated[str, typer.Argument(help="The group.")]
Since = Annotated[str, typer.Option(metavar="INSTANT", help='From here: "2026-11-22 02:00" (UTC), or -3h.')]
Until = Annotated[str, typer.Option(metavar="INSTANT", help="Until here.")]
Partial = Annotated[bool, typer.Option("--partial", help="Leave out clusters that are not ready.")]


def add_commands(app: typer.Typer) -> None:
    """Give the app these commands."""
    app.command()(explain)
    app.command("what-if")(what_if)
    app.command()(snapshot)
    app.command()(census)
    app.command()(history)


@source_command("snapshot", "at", "history", "as_json")
def explain(
    options: SourceOptions,
    cluster: Cluster,
    group: GroupName,
    topic: Annotated[str | None, typer.Argument(help="Explain one partition of this topic; needs PARTITION.")] = None,
    partition: Annotated[
        str | None, typer.Argument(help="The partition number; for RocketMQ BROKER-QUEUE, for MetaQ BROKER-NUMBER.")
    ] = None,
) -> None:
    """Show the owners of a group and why, its findings, and the remedies."""
    if (topic is None) != (partition is None):
        raise typer.BadParameter("give both a topic and a partition, or neither")
    from monitor.cli.render_answer import explanation_shown  # noqa: PLC0415 -- --help must be quick
    from monitor.explain.query import explained  # noqa: PLC0415 -- as above
    from monitor.web.views.addresses import GroupAddress  # noqa: PLC0415 -- as above

    inputs = options.group_source.inputs(GroupAddress(cluster, group), options.at)
    found = explained(inputs, topic, partition)
    tell_answer(found, options.as_json, lambda: explanation_shown(found))


@source_command("snapshot", "at", "history", "as_json")
def what_if(  # noqa: PLR0913, PLR0917 -- each is an argument or an option
    options: SourceOptions,
    cluster: Cluster,
    group: GroupName,
    assignor: Annotated[
        str | None,
        typer.Option(help="Simulate another assignor, for example roundrobin, or sarama.roundrobin of that library."),
    ] = None,
    leader: Annotated[
        str | None, typer.Option(help="Simulate this member as the leader, with the assignor of its client library.")
    ] = None,
    members: Annotated[
        int | None, typer.Option(min=1, help="Simulate this number of members; new ones subscribe like most.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="Remove this member (its id, instance id or client id); repeatable.")
    ] = None,
    partitions: Annotated[
        list[str] | None,
        typer.Option(metavar="TOPIC=N", help="Simulate this number of partitions of a topic; repeatable."),
    ] = None,
) -> None:
    """Simulate a group's assignment after changes; without options: after a rebalance now."""
    counts = _counts(partitions or [])
    from monitor.cli.render_answer import what_if_shown  # noqa: PLC0415 -- as above
    from monitor.explain import what_if as asked  # noqa: PLC0415 -- as above
    from monitor.web.views.addresses import GroupAddress  # noqa: PLC0415 -- as above

    change = asked.Change(
        assignor=assignor, leader=leader, members=members, without=tuple(without or ()), partitions=counts
    )
    inputs = options.group_source.inputs(GroupAddress(cluster, group), options.at)
    found = asked.what_if(inputs, change)
    tell_answer(found, options.as_json, lambda: what_if_shown(found))


@source_command("at", "history")
def snapshot(
    options: SourceOptions,
    cluster: Annotated[
        str | None, typer.Argument(help="The cluster of the group to save; not set: save all groups.")
    ] = None,
    group: Annotated[str | None, typer.Argument(help="The group.")] = None,
    partial: Partial = False,
) -> None:
    """Save the input of the verdicts for explain and what-if, later or elsewhere: groupwatch snapshot > file."""
    if (cluster is None) != (group is None):
        raise typer.BadParameter("give both a cluster and a group, or neither")
    if options.at is not None and group is None and not options.is_recording:
        raise typer.BadParameter("--at needs a cluster and a group, or --history: a job answers for one group")
    from monitor.web.views.addresses import GroupAddress  # noqa: PLC0415 -- as above

    address = GroupAddress(cluster, group) if cluster is not None and group is not None else None
    source = options.job if options.at is None else options.past_source
    for line in source.snapshot_lines(address, options.at, partial=partial):
        sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


@source_command("snapshot", "as_json")
def census(
    options: SourceOptions,
    cluster: Annotated[str | None, typer.Argument(help="Only this cluster; not set: all clusters.")] = None,
    partial: Partial = False,
) -> None:
    """Count the members of Kafka groups by client library and release."""
    from monitor.cli.render_answer import census_shown  # noqa: PLC0415 -- as above

    found = options.census_source.census(cluster, partial=partial)
    tell_answer(found, options.as_json, lambda: census_shown(found))


@source_command("history", "as_json")
def history(
    options: SourceOptions, cluster: Cluster, group: GroupName, since: Since = "-1h", until: Until = "now"
) -> None:
    """List what happened to a group in a span of the recording: rebalances, findings, its lag."""
    from monitor.cli.render_answer import story_shown  # noqa: PLC0415 -- as above
    from monitor.cli.sources.source import Span  # noqa: PLC0415 -- as above
    from monitor.web.views.addresses import GroupAddress  # noqa: PLC0415 -- as above

    found = options.past_source.story(GroupAddress(cluster, group), Span(since, until))
    tell_answer(found, options.as_json, lambda: story_shown(found))


def _counts(typed: list[str]) -> tuple[PartitionCount, ...]:
    from monitor.detection.evaluation_input import QuestionError  # noqa: PLC0415 -- --help must be quick
    from monitor.explain.query import counts_typed  # noqa: PLC0415 -- as above

    try:
        return counts_typed(typed)
    except QuestionError as error:
        raise typer.BadParameter(str(error).rstrip("."), param_hint="--partitions") from error

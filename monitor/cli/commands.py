"""The commands explain, what-if, scale, snapshot, census, history: they end with 0, or 2 and one sentence on stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from monitor.cli.answering import now_ms, outlive_reader, tell_answer
from monitor.cli.completion import OneCluster, complete_counts, complete_names, complete_places
from monitor.cli.progress import wait_for
from monitor.cli.source_options import SourceOptions, source_command

if TYPE_CHECKING:  # loaded when a command needs it: --help must be quick
    from monitor.explain.what_if import PartitionCount

FROM_HERE: Final = 'From here: "2026-11-22 02:00", 14:12, "yesterday 02:14", -3h or -1w. In UTC, unless --tz is given.'

GroupNames = Annotated[
    list[str],
    typer.Argument(
        metavar="[CLUSTER] GROUP", autocompletion=complete_names, help="The group; its cluster, if there are several."
    ),
]
Since = Annotated[str, typer.Option(metavar="INSTANT", help=FROM_HERE)]
Until = Annotated[str, typer.Option(metavar="INSTANT", help="Until here, in the same form.")]
Partial = Annotated[bool, typer.Option("--partial", help="Leave out clusters that are not ready.")]


def add_commands(app: typer.Typer) -> None:
    """Give the app these commands."""
    app.command()(explain)
    app.command("what-if")(what_if)
    app.command()(scale)
    app.command()(snapshot)
    app.command()(census)
    app.command()(history)


@source_command("snapshot", "at", "tz", "history", "as_json")
def explain(
    options: SourceOptions,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="[CLUSTER] GROUP [TOPIC PARTITION]",
            autocompletion=complete_places,
            help="The group; its cluster, if there are several. With a topic and a partition: explain that one. A "
            "partition is a number; for RocketMQ BROKER-QUEUE, for MetaQ BROKER-NUMBER.",
        ),
    ],
) -> None:
    """Show the owners of a group and why, its findings, and the remedies."""
    from monitor.cli.names import with_cluster  # noqa: PLC0415 -- --help must be quick
    from monitor.cli.render_answer import explanation_shown  # noqa: PLC0415 -- --help must be quick
    from monitor.scaling.explanation import fully_explained  # noqa: PLC0415 -- as above
    from monitor.web.views.addresses import GroupAddress  # noqa: PLC0415 -- as above

    source = options.group_source
    cluster, group, *place = with_cluster(source, names, 4)
    inputs = wait_for(lambda: source.inputs(GroupAddress(cluster, group), options.at_instant), options.source_name)
    topic, partition = place or (None, None)
    found = fully_explained(inputs, topic, partition)
    clock_ms = None if options.at is None and options.snapshot is None else now_ms()
    tell_answer(
        found, options.as_json, lambda: explanation_shown(found, source.page_url(cluster, group), now_ms=clock_ms)
    )


@source_command("snapshot", "at", "tz", "history", "as_json")
def what_if(  # noqa: PLR0913, PLR0917 -- each is an argument or an option
    options: SourceOptions,
    names: GroupNames,
    assignor: Annotated[
        str | None,
        typer.Option(help="Simulate another assignor, for example roundrobin, or sarama.roundrobin of that library."),
    ] = None,
    leader: Annotated[
        str | None,
        typer.Option(help="Simulate this member, named as for --without, as the leader, with its library's assignor."),
    ] = None,
    members: Annotated[
        int | None, typer.Option(min=1, help="Simulate this number of members; new ones subscribe like most.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="Remove this member (its id, instance id, client id or host); repeatable.")
    ] = None,
    partitions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOPIC=N",
            autocompletion=complete_counts,
            help="Simulate this number of partitions of a topic; repeatable.",
        ),
    ] = None,
    rollout: Annotated[
        str | None,
        typer.Option(
            metavar="surge=N,start=DURATION",
            help="Forecast what it costs to replace all pods: N new ones before N old ones stop (0: an old one stops "
            "first), each joining after so long. Or recreate,start=DURATION.",
        ),
    ] = None,
    static: Annotated[
        bool, typer.Option("--static", help="With --rollout: as if members had a group.instance.id.")
    ] = False,
    protocol: Annotated[
        str | None, typer.Option(metavar="consumer", help="With --rollout: as if the group used KIP-848.")
    ] = None,
) -> None:
    """Simulate a group's assignment after changes; without options: after a rebalance now."""
    counts = _counts(partitions or [])
    if rollout is not None:
        if leader is not None or members is not None or without or counts:
            raise typer.BadParameter("with --rollout, only --assignor, --static and --protocol can be given")
        _forecast(options, names, _Forecast(rollout, assignor, protocol, static))
        return
    if static or protocol is not None:
        raise typer.BadParameter("--static and --protocol need --rollout")
    from monitor.cli.names import with_cluster  # noqa: PLC0415 -- as above
    from monitor.cli.render_answer import what_if_shown  # noqa: PLC0415 -- as above
    from monitor.explain import what_if as asked  # noqa: PLC0415 -- as above
    from monitor.web.views.addresses import GroupAddress  # noqa: PLC0415 -- as above

    change = asked.Change(
        assignor=assignor, leader=leader, members=members, without=tuple(without or ()), partitions=counts
    )
    source = options.group_source
    address = GroupAddress(*with_cluster(source, names, 2))
    inputs = wait_for(lambda: source.inputs(address, options.at_instant), options.source_name)
    found = asked.what_if(inputs, change)
    tell_answer(found, options.as_json, lambda: what_if_shown(found))


class _Forecast(NamedTuple):
    """What the options of what-if --rollout say."""

    rollout: str
    assignor: str | None
    protocol: str | None
    static: bool


def _forecast(options: SourceOptions, names: list[str], chosen: _Forecast) -> None:
    """What a rollout will cost."""
    from monitor.cli.names import with_cluster  # noqa: PLC0415 -- as above
    from monitor.cli.render_answer import forecast_shown  # noqa: PLC0415 -- as above
    from monitor.explain.rollout_cost import RolloutQuestion, forecast  # noqa: PLC0415 -- as above
    from monitor.explain.rollout_plan import rollout_typed  # noqa: PLC0415 -- as above
    from monitor.web.views.addresses import GroupAddress  # noqa: PLC0415 -- as above

    question = RolloutQuestion(rollout_typed(chosen.rollout), chosen.assignor, chosen.protocol, chosen.static)
    source = options.group_source
    address = GroupAddress(*with_cluster(source, names, 2))
    inputs = wait_for(lambda: source.inputs(address, options.at_instant), options.source_name)
    found = forecast(inputs, question)
    tell_answer(found, options.as_json, lambda: forecast_shown(found))


@source_command("snapshot", "at", "tz", "history", "as_json")
def scale(
    options: SourceOptions,
    names: GroupNames,
    target: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="Members are to read all that waits within this time, for example 60s."),
    ] = None,
    most: Annotated[
        int | None, typer.Option("--max", min=1, help="The largest number of members; not set: one for each partition.")
    ] = None,
) -> None:
    """Show how many members a group needs, and what each number would come to."""
    from monitor.cli.names import with_cluster  # noqa: PLC0415 -- --help must be quick
    from monitor.cli.render_scale import plan_shown  # noqa: PLC0415 -- as above
    from monitor.scaling.answer import asked_target, scale_plan  # noqa: PLC0415 -- as above
    from monitor.web.views.addresses import GroupAddress  # noqa: PLC0415 -- as above

    source = options.group_source
    address = GroupAddress(*with_cluster(source, names, 2))
    inputs = wait_for(lambda: source.inputs(address, options.at_instant), options.source_name)
    found = scale_plan(inputs, asked_target(inputs, target, most))
    tell_answer(found, options.as_json, lambda: plan_shown(found))


@source_command("at", "tz", "history")
def snapshot(
    options: SourceOptions,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[[CLUSTER] GROUP]", autocompletion=complete_names, help="The group to save; not set: all groups."
        ),
    ] = None,
    partial: Partial = False,
) -> None:
    """Save the input of the verdicts for explain and what-if, later or elsewhere: groupwatch snapshot > file."""
    if options.at is not None and not names and not options.is_recording:
        raise typer.BadParameter("--at needs a group, or --history: a job answers for one group")
    from monitor.cli.names import with_cluster  # noqa: PLC0415 -- as above
    from monitor.web.views.addresses import GroupAddress  # noqa: PLC0415 -- as above

    source = options.job if options.at is None else options.past_source
    address = GroupAddress(*with_cluster(source, names, 2)) if names else None
    with outlive_reader(sys.stdout):
        for line in source.snapshot_lines(address, options.at_instant, partial=partial):
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


@source_command("snapshot", "as_json")
def census(
    options: SourceOptions,
    cluster: OneCluster = None,
    partial: Partial = False,
) -> None:
    """Count the members of Kafka groups by client library and release."""
    from monitor.cli.render_answer import census_shown  # noqa: PLC0415 -- as above

    source = options.census_source
    found = wait_for(lambda: source.census(cluster, partial=partial), options.source_name)
    tell_answer(found, options.as_json, lambda: census_shown(found))


@source_command("tz", "history", "as_json")
def history(options: SourceOptions, names: GroupNames, since: Since = "-1h", until: Until = "now") -> None:
    """List what happened to a group in a span of the recording: rebalances, findings, its lag."""
    from monitor.cli.names import with_cluster  # noqa: PLC0415 -- as above
    from monitor.cli.render_answer import story_shown  # noqa: PLC0415 -- as above
    from monitor.cli.sources.source import Span  # noqa: PLC0415 -- as above
    from monitor.web.views.addresses import GroupAddress  # noqa: PLC0415 -- as above

    source = options.past_source
    address, span = GroupAddress(*with_cluster(source, names, 2)), Span(options.instant(since), options.instant(until))
    found = wait_for(lambda: source.story(address, span), options.source_name)
    tell_answer(found, options.as_json, lambda: story_shown(found))


def _counts(typed: list[str]) -> tuple[PartitionCount, ...]:
    from monitor.detection.evaluation_input import QuestionError  # noqa: PLC0415 -- --help must be quick
    from monitor.explain.query import counts_typed  # noqa: PLC0415 -- as above

    try:
        return counts_typed(typed)
    except QuestionError as error:
        raise typer.BadParameter(str(error).rstrip("."), param_hint="--partitions") from error

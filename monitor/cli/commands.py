"""The commands explain, what-if, snapshot and census. They end with 0, or with 2 and one sentence on stderr."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import msgspec
import typer
from rich.console import RenderableType

from monitor.model.escaping import escaped_lines

if TYPE_CHECKING:  # loaded when a question is asked: --help must be quick
    from monitor.cli.http_client import WayIn
    from monitor.detection.evaluation_input import GroupInputs
    from monitor.explain.what_if import PartitionCount

DEFAULT_URL = "http://127.0.0.1:9464"
CANNOT_ANSWER_CODE = 2

Cluster = Annotated[str, typer.Argument(help="The cluster's name in the configuration.")]
GroupName = Annotated[str, typer.Argument(help="The group.")]
Url = Annotated[str, typer.Option(help="The base address of the job.")]
SnapshotFile = Annotated[
    Path | None, typer.Option("--snapshot", help="Read this file of groupwatch snapshot instead of a job.")
]
TokenFile = Annotated[Path | None, typer.Option(help="A file with a bearer token of the job.")]
User = Annotated[str | None, typer.Option(help="A user of the job.")]
PasswordFile = Annotated[Path | None, typer.Option(help="A file with the user's password.")]
CaFile = Annotated[
    Path | None, typer.Option(help="CA certificates (PEM) of the job's certificate, if it has no public CA.")
]
At = Annotated[
    str | None,
    typer.Option(metavar="INSTANT", help='As of an instant of the recording: "2026-11-22 02:14" (UTC), or -3h.'),
]
HistoryFolder = Annotated[
    str | None,
    typer.Option(
        "--history",
        metavar="FOLDER",
        envvar="GROUPWATCH_HISTORY__FOLDER",
        help="Read the past from this recording instead of a job (unless --url is given).",
    ),
]
Partial = Annotated[bool, typer.Option("--partial", help="Leave out clusters that are not ready.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def add_commands(app: typer.Typer) -> None:
    """Give the app these commands."""
    app.command()(explain)
    app.command("what-if")(what_if)
    app.command()(snapshot)
    app.command()(census)
    app.command()(history)


def explain(  # noqa: PLR0913, PLR0917 -- each is an argument or an option
    cluster: Cluster,
    group: GroupName,
    topic: Annotated[str | None, typer.Argument(help="Explain one partition of this topic; needs PARTITION.")] = None,
    partition: Annotated[
        str | None, typer.Argument(help="The partition number; for RocketMQ BROKER-QUEUE, for MetaQ BROKER-NUMBER.")
    ] = None,
    url: Url = DEFAULT_URL,
    snapshot: SnapshotFile = None,
    at: At = None,
    history: HistoryFolder = None,
    as_json: AsJson = False,
    token_file: TokenFile = None,
    user: User = None,
    password_file: PasswordFile = None,
    ca_file: CaFile = None,
) -> None:
    """Show the owners of a group and why, its findings, and the remedies."""
    if (topic is None) != (partition is None):
        raise typer.BadParameter("give both a topic and a partition, or neither")

    def answer() -> None:
        from monitor.cli.render_answer import explanation_shown  # noqa: PLC0415 -- --help must be quick
        from monitor.explain.query import explained  # noqa: PLC0415 -- as above

        way_in = way_in_of(token_file, user, password_file, ca_file)
        inputs = _inputs(_Asked(url, snapshot, at, history), cluster, group, way_in)
        found = explained(inputs, topic, partition)
        tell_answer(found, as_json, lambda: explanation_shown(found))

    exit_with(answer)


def what_if(  # noqa: PLR0913, PLR0917 -- as above
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
    url: Url = DEFAULT_URL,
    snapshot: SnapshotFile = None,
    at: At = None,
    history: HistoryFolder = None,
    as_json: AsJson = False,
    token_file: TokenFile = None,
    user: User = None,
    password_file: PasswordFile = None,
    ca_file: CaFile = None,
) -> None:
    """Simulate a group's assignment after changes; without options: after a rebalance now."""
    counts = _counts(partitions or [])

    def answer() -> None:
        from monitor.cli.render_answer import what_if_shown  # noqa: PLC0415 -- as above
        from monitor.explain import what_if as asked  # noqa: PLC0415 -- as above

        change = asked.Change(
            assignor=assignor,
            leader=leader,
            members=members,
            without=tuple(without or ()),
            partitions=counts,
        )
        way_in = way_in_of(token_file, user, password_file, ca_file)
        found = asked.what_if(_inputs(_Asked(url, snapshot, at, history), cluster, group, way_in), change)
        tell_answer(found, as_json, lambda: what_if_shown(found))

    exit_with(answer)


def snapshot(  # noqa: PLR0913, PLR0917 -- as above
    cluster: Annotated[
        str | None, typer.Argument(help="The cluster of the group to save; not set: save all groups.")
    ] = None,
    group: Annotated[str | None, typer.Argument(help="The group.")] = None,
    partial: Partial = False,
    url: Url = DEFAULT_URL,
    at: At = None,
    history: HistoryFolder = None,
    token_file: TokenFile = None,
    user: User = None,
    password_file: PasswordFile = None,
    ca_file: CaFile = None,
) -> None:
    """Save the input of the verdicts for explain and what-if, later or elsewhere: groupwatch snapshot > file."""
    if (cluster is None) != (group is None):
        raise typer.BadParameter("give both a cluster and a group, or neither")
    asked = _Asked(url, None, at, history)
    if at is not None and group is None and asked.folder is None:
        raise typer.BadParameter("--at needs a cluster and a group, or --history: a job answers for one group")

    def answer() -> None:
        from monitor.cli.snapshot_source import lines_from_recording, saved_from_job  # noqa: PLC0415 -- as above
        from monitor.snapshot_file import group_lines  # noqa: PLC0415 -- as above
        from monitor.web.views.addresses import GroupAddress  # noqa: PLC0415 -- as above

        address = GroupAddress(cluster, group) if cluster is not None and group is not None else None
        way_in = way_in_of(token_file, user, password_file, ca_file)
        if asked.folder is not None and address is not None:
            lines: Iterable[bytes] = [group_lines(_inputs(asked, address.cluster, address.group, way_in))]
        elif asked.folder is not None and at is not None:
            lines = lines_from_recording(asked.folder, at, now_ms())
        else:
            lines = saved_from_job(url, address, way_in, partial=partial, at=at)
        for line in lines:
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()

    exit_with(answer)


def census(  # noqa: PLR0913, PLR0917 -- as above
    cluster: Annotated[str | None, typer.Argument(help="Only this cluster; not set: all clusters.")] = None,
    partial: Partial = False,
    url: Url = DEFAULT_URL,
    snapshot: SnapshotFile = None,
    as_json: AsJson = False,
    token_file: TokenFile = None,
    user: User = None,
    password_file: PasswordFile = None,
    ca_file: CaFile = None,
) -> None:
    """Count the members of Kafka groups by client library and release."""

    def answer() -> None:
        from monitor.cli.render_answer import census_shown  # noqa: PLC0415 -- as above
        from monitor.cli.snapshot_source import census_from_file, census_from_job  # noqa: PLC0415 -- as above

        way_in = way_in_of(token_file, user, password_file, ca_file)
        found = (
            census_from_job(url, cluster, way_in, partial=partial)
            if snapshot is None
            else census_from_file(snapshot, cluster)
        )
        tell_answer(found, as_json, lambda: census_shown(found))

    exit_with(answer)


def history(  # noqa: PLR0913, PLR0917 -- as above
    cluster: Cluster,
    group: GroupName,
    since: Annotated[str, typer.Option(metavar="INSTANT", help='From here: "2026-11-22 02:00" (UTC), or -3h.')] = "-1h",
    until: Annotated[str, typer.Option(metavar="INSTANT", help="Until here.")] = "now",
    url: Url = DEFAULT_URL,
    folder: HistoryFolder = None,
    as_json: AsJson = False,
    token_file: TokenFile = None,
    user: User = None,
    password_file: PasswordFile = None,
    ca_file: CaFile = None,
) -> None:
    """List what happened to a group in a span of the recording: rebalances, findings, its lag."""

    def answer() -> None:
        from monitor.cli.render_answer import story_shown  # noqa: PLC0415 -- as above
        from monitor.cli.snapshot_source import story_from_job, story_from_recording  # noqa: PLC0415 -- as above
        from monitor.web.views.addresses import GroupAddress  # noqa: PLC0415 -- as above

        address, asked = GroupAddress(cluster, group), _Asked(url, None, since, folder)
        found = (
            story_from_job(url, address, since, until, way_in_of(token_file, user, password_file, ca_file))
            if asked.folder is None
            else story_from_recording(asked.folder, address, since, until, now_ms())
        )
        tell_answer(found, as_json, lambda: story_shown(found))

    exit_with(answer)


def now_ms() -> int:
    """Now, in ms since the epoch."""
    return time.time_ns() // 1_000_000


def _counts(typed: list[str]) -> tuple[PartitionCount, ...]:
    from monitor.detection.evaluation_input import QuestionError  # noqa: PLC0415 -- --help must be quick
    from monitor.explain.query import counts_typed  # noqa: PLC0415 -- as above

    try:
        return counts_typed(typed)
    except QuestionError as error:
        raise typer.BadParameter(str(error).rstrip("."), param_hint="--partitions") from error


def way_in_of(token_file: Path | None, user: str | None, password_file: Path | None, ca_file: Path | None) -> WayIn:
    """How a job is asked, by the options of a command."""
    from monitor.cli.http_client import WayIn  # noqa: PLC0415 -- as above

    return WayIn(token_file=token_file, user=user, password_file=password_file, ca_file=ca_file)


class _Asked(NamedTuple):
    """Where the answer comes from, and as of when. ``history`` is the folder of a recording."""

    url: str
    snapshot: Path | None
    at: str | None
    history: str | None

    @property
    def folder(self) -> str | None:
        """The recording that answers: only for the past, and not if a job is named."""
        return self.history if self.at is not None and self.url == DEFAULT_URL else None


def _inputs(asked: _Asked, cluster: str, group: str, way_in: WayIn) -> GroupInputs:
    from monitor.cli import snapshot_source as source  # noqa: PLC0415 -- as above
    from monitor.cli.errors import SourceError  # noqa: PLC0415 -- as above

    if asked.snapshot is not None:
        if asked.at is not None:
            raise SourceError("A snapshot is of one instant: --at cannot be combined with --snapshot.")
        return source.inputs_from_file(asked.snapshot, cluster, group)
    if asked.folder is not None and asked.at is not None:
        return source.inputs_from_recording(asked.folder, cluster, group, asked.at, now_ms())
    return source.inputs_from_job(asked.url, cluster, group, way_in, asked.at)


def tell_answer(
    answer: msgspec.Struct | Sequence[msgspec.Struct], as_json: bool, shown: Callable[[], RenderableType]
) -> None:
    """Print an answer: JSON, or what ``shown`` makes of it."""
    if as_json:
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(answer)) + b"\n")
        sys.stdout.buffer.flush()
        return
    from monitor.cli.render_answer import tell  # noqa: PLC0415 -- as above

    tell(shown())


def exit_with(action: Callable[[], None]) -> None:
    """Run a command's work; what a person can mend is one sentence, not a stack trace."""
    from monitor.cli.errors import SourceError  # noqa: PLC0415 -- as above
    from monitor.detection.evaluation_input import QuestionError  # noqa: PLC0415 -- as above

    try:
        action()
    except (SourceError, QuestionError) as error:
        typer.echo(f"groupwatch: {escaped_lines(str(error))}", err=True)
        raise typer.Exit(CANNOT_ANSWER_CODE) from None
    except BrokenPipeError:  # the reader has seen enough; what is left must not be tried again at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        typer.echo(f"groupwatch: Cannot write the answer: {error.strerror or error}.", err=True)
        raise typer.Exit(CANNOT_ANSWER_CODE) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None

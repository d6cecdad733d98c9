"""The commands status, findings, topics and unused: what the page lists, in the terminal.

They end with 0 whatever they list, or with 2 and one sentence on stderr. ``status --fail-on`` has codes of its own.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
import typer

from monitor.cli.answering import CANNOT_ANSWER_CODE, discard, tell_answer
from monitor.cli.completion import OneCluster
from monitor.cli.progress import wait_for
from monitor.cli.source_options import SourceOptions, source_command

if TYPE_CHECKING:  # loaded when a command needs it: --help must be quick
    from monitor.cli.sources.job_lists import JobLists, JobStatus

FOUND_CODE: Final = 1
JOB: Final = "the job"
RENEW_S: Final = 5.0
"""As the page."""


class FailOn(StrEnum):
    """From which severity on a finding is a failure."""

    CRITICAL = "critical"
    WARNING = "warning"


def add_lists(app: typer.Typer) -> None:
    """Give the app these commands."""
    for command in (status, findings, topics):
        app.command()(command)
    app.command("unused")(unused_list)


@source_command("as_json")
def status(
    options: SourceOptions,
    cluster: OneCluster = None,
    watch: Annotated[bool, typer.Option("--watch", help="Renew the answer every 5 s until Ctrl-C.")] = False,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(help="Exit with 1 if there is a finding at least as severe, and with 2 if some are unknown."),
    ] = None,
) -> None:
    """Show the clusters and groups of a running job, worst first: findings, state, lag and its age."""
    from monitor.cli.render_lists import READ_GROUPS  # noqa: PLC0415 -- --help must be quick

    lists = _lists(options)
    limit = None if options.as_json or fail_on is not None else READ_GROUPS

    def answer() -> JobStatus:
        return lists.status(cluster, limit)

    code = (
        keep_showing(answer, as_json=options.as_json, fail_on=fail_on)
        if watch
        else _show_once(wait_for(answer, JOB), as_json=options.as_json, fail_on=fail_on)
    )
    if code:
        raise typer.Exit(code)


@source_command("as_json")
def findings(options: SourceOptions, cluster: OneCluster = None) -> None:
    """List the open findings of a running job, worst first, each with what to do."""
    from monitor.cli.render_answer import MOST_ROWS  # noqa: PLC0415 -- as above
    from monitor.cli.render_lists import findings_shown  # noqa: PLC0415 -- as above

    lists, limit = _lists(options), None if options.as_json else MOST_ROWS
    found = wait_for(lambda: lists.findings(cluster, limit), JOB)
    tell_answer(found, options.as_json, lambda: findings_shown(found))


@source_command("as_json")
def topics(
    options: SourceOptions,
    cluster: OneCluster = None,
    unread: Annotated[bool, typer.Option("--unread", help="Only topics that no group reads.")] = False,
) -> None:
    """List the topics of a running job: partitions, the groups that read them, what comes in."""
    from monitor.cli.render_answer import MOST_ROWS  # noqa: PLC0415 -- as above
    from monitor.cli.render_lists import topics_shown  # noqa: PLC0415 -- as above

    lists, limit = _lists(options), None if options.as_json else MOST_ROWS
    found = wait_for(lambda: lists.topics(cluster, limit, unread=unread), JOB)
    tell_answer(found, options.as_json, lambda: topics_shown(found, unread=unread))


@source_command("as_json")
def unused_list(options: SourceOptions, cluster: OneCluster = None) -> None:
    """List groups and offsets that could be deleted, each with the command. Deletes nothing."""
    from monitor.cli.render_lists import unused_shown  # noqa: PLC0415 -- as above

    lists = _lists(options)
    found = wait_for(lambda: lists.unused_list(cluster), JOB)
    tell_answer(found, options.as_json, lambda: unused_shown(found))


def keep_showing(
    answer: Callable[[], JobStatus], *, as_json: bool, fail_on: FailOn | None, pause_s: float = RENEW_S
) -> int:
    """Show answers until Ctrl-C; the exit code is that of the last one.

    A job that does not answer any more is shown above its last answer.

    Raises:
        SourceError: there is no first answer.
    """
    from monitor.cli.errors import SourceError  # noqa: PLC0415 -- as above
    from monitor.cli.render_lists import status_shown  # noqa: PLC0415 -- as above
    from monitor.cli.renewing import screen  # noqa: PLC0415 -- as above

    last: JobStatus | None = None
    try:
        with screen() as show:
            while True:
                try:
                    last = answer()
                except SourceError as error:
                    if last is None:
                        raise
                    last = msgspec.structs.replace(last, problem=str(error))
                if as_json:
                    sys.stdout.buffer.write(msgspec.json.encode(last) + b"\n")
                    sys.stdout.buffer.flush()
                else:
                    show(status_shown(last))
                time.sleep(pause_s)
    except (KeyboardInterrupt, BrokenPipeError) as end:
        if last is None:
            raise
        if isinstance(end, BrokenPipeError):
            discard(sys.stdout)
    return exit_code(last, fail_on)


def _show_once(status: JobStatus, *, as_json: bool, fail_on: FailOn | None) -> int:
    from monitor.cli.render_lists import status_shown  # noqa: PLC0415 -- as above

    tell_answer(status, as_json, lambda: status_shown(status))
    return exit_code(status, fail_on)


def exit_code(status: JobStatus, fail_on: FailOn | None) -> int:
    """0, unless ``fail_on`` is set: 1 with a finding at least so severe; without one 2, if some may be unknown."""
    if fail_on is None:
        return 0
    from monitor.findings.table import spec_of  # noqa: PLC0415 -- as above
    from monitor.model.findings import Severity  # noqa: PLC0415 -- as above

    failing = {Severity.CRITICAL} if fail_on is FailOn.CRITICAL else {Severity.CRITICAL, Severity.WARNING}
    found = {spec_of(each.kind, each.reason).severity for group in status.groups for each in group.findings}
    found |= {each.severity for cluster in status.clusters for each in cluster.findings}
    if found & failing:
        return FOUND_CODE
    in_doubt = status.problem is not None or not status.clusters
    in_doubt |= any(not each.ready or each.stale or each.problem is not None for each in status.clusters)
    in_doubt |= any(group.unjudged is not None for group in status.groups)
    return CANNOT_ANSWER_CODE if in_doubt else 0


def _lists(options: SourceOptions) -> JobLists:
    from monitor.cli.sources.job_lists import JobLists  # noqa: PLC0415 -- as above

    return JobLists(options.job.api)

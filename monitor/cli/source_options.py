"""The options by which a command chooses what answers it: declared once, and handed to it as one value."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, Final, NamedTuple, get_type_hints

import typer

from monitor.cli.answering import exit_with

if TYPE_CHECKING:  # loaded when a command needs it: --help must be quick
    from monitor.cli.http_client import WayIn
    from monitor.cli.sources.job import Job
    from monitor.cli.sources.source import CensusSource, GroupSource, PastSource

DEFAULT_URL: Final = "http://127.0.0.1:9464"

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


TimeZone = Annotated[
    str | None,
    typer.Option(
        "--tz", metavar="ZONE", help="The time zone of typed instants: Europe/Berlin, or local. Not set: UTC."
    ),
]


class SourceOptions(NamedTuple):
    """What answers, and as of when; whether the answer is JSON; what is shown to a job."""

    url: Annotated[
        str, typer.Option(envvar="GROUPWATCH_URL", help="The base address of the job: a URL, or HOST:PORT.")
    ] = DEFAULT_URL
    snapshot: Annotated[
        Path | None, typer.Option("--snapshot", help="Read this file of groupwatch snapshot instead of a job.")
    ] = None
    at: Annotated[
        str | None,
        typer.Option(
            metavar="INSTANT",
            help='As of an instant of the recording: "2026-11-22 02:14", 14:12, "yesterday 02:14", or -3h.',
        ),
    ] = None
    tz: TimeZone = None
    history: Annotated[
        str | None,
        typer.Option(
            "--history",
            metavar="FOLDER",
            envvar="GROUPWATCH_HISTORY__FOLDER",
            help="Read the past from this recording instead of a job (unless --url is given).",
        ),
    ] = None
    as_json: AsJson = False
    token_file: Annotated[
        Path | None, typer.Option(envvar="GROUPWATCH_TOKEN_FILE", help="A file with a bearer token of the job.")
    ] = None
    user: Annotated[str | None, typer.Option(help="A user of the job.")] = None
    password_file: Annotated[Path | None, typer.Option(help="A file with the user's password.")] = None
    ca_file: Annotated[
        Path | None,
        typer.Option(
            envvar="GROUPWATCH_CA_FILE", help="CA certificates (PEM) of the job's certificate, if it has no public CA."
        ),
    ] = None
    names_job: bool = False
    """Whether the address of a job is given, and not overridden by a recording."""

    @property
    def at_instant(self) -> str | None:
        """The instant of ``at`` as sources take it."""
        return None if self.at is None else self.instant(self.at)

    def instant(self, text: str) -> str:
        """A typed instant as sources take it: in UTC, or relative."""
        from monitor.cli.zones import instant_in_zone  # noqa: PLC0415 -- --help must be quick

        return instant_in_zone(text, self.tz)

    @property
    def is_recording(self) -> bool:
        """Whether a recording answers about the past, and no job: only where none is named."""
        return self.history is not None and not self.names_job

    @property
    def source_name(self) -> str:
        """What answers, in words."""
        return "the recording" if self.is_recording else "the file" if self.snapshot is not None else "the job"

    @property
    def group_source(self) -> GroupSource:
        """What answers about a group at one instant: now, if none is named."""
        if self.snapshot is not None:
            from monitor.cli.sources.saved_file import SavedFile  # noqa: PLC0415 -- --help must be quick

            return SavedFile(self.snapshot)
        return self.job if self.at is None else self.past_source

    @property
    def past_source(self) -> PastSource:
        """What answers about the past."""
        from monitor.cli.sources.recording import Recording  # noqa: PLC0415 -- as above

        return self.job if self.history is None or not self.is_recording else Recording(self.history)

    @property
    def census_source(self) -> CensusSource:
        """What answers about client libraries."""
        from monitor.cli.sources.saved_file import SavedFile  # noqa: PLC0415 -- as above

        return self.job if self.snapshot is None else SavedFile(self.snapshot)

    @property
    def job(self) -> Job:
        """The job."""
        from monitor.cli.sources.job import Job  # noqa: PLC0415 -- as above
        from monitor.cli.sources.job_api import JobApi  # noqa: PLC0415 -- as above

        return Job(JobApi(self.base_url, self.way_in))

    @property
    def base_url(self) -> str:
        """The address of the job."""
        from monitor.cli.sources.job_api import base_address  # noqa: PLC0415 -- as above

        return base_address(self.url)

    @property
    def way_in(self) -> WayIn:
        """How to send requests to a job."""
        from monitor.cli.http_client import WayIn  # noqa: PLC0415 -- as above

        return WayIn(token_file=self.token_file, user=self.user, password_file=self.password_file, ca_file=self.ca_file)


OF_A_JOB: Final = frozenset({"url", "token_file", "user", "password_file", "ca_file"})
"""The options of every command that a job can answer."""

_CONTEXT: Final = "context"
"""The parameter of a command by which typer passes where each value came from."""

Command = Callable[Concatenate[SourceOptions, ...], None]


def source_command(*further: str) -> Callable[[Command], Callable[..., None]]:
    """Make a function a command: with its own arguments and options, then those of a job, and these of SourceOptions.

    The function takes the latter together, as its first argument. It ends the command as :func:`exit_with` does.
    """
    names = [name for name in SourceOptions._fields if name in OF_A_JOB.union(further)]
    types = get_type_hints(SourceOptions, include_extras=True)
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=SourceOptions._field_defaults[name], annotation=types[name])
        for name in names
    ]

    def with_options(command: Command) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:  # noqa: ANN401 -- what typer makes of the command line
            chosen = _options({name: given.pop(name) for name in names}, given.pop(_CONTEXT))
            exit_with(lambda: command(chosen, **given))

        _, *own = signature(command, eval_str=True).parameters.values()
        parameters = [*own, *options, Parameter(_CONTEXT, Parameter.KEYWORD_ONLY, annotation=typer.Context)]
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined] # typer reads it
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return with_options


def _options(given: dict[str, Any], context: typer.Context) -> SourceOptions:
    """The options as one value. What is typed overrides a variable that says something else."""
    is_typed = {name: _source(context, name) == "COMMANDLINE" for name in given}
    if is_typed.get("user") and not is_typed["token_file"]:
        given["token_file"] = None
    has_variable = _source(context, "url") == "ENVIRONMENT" and not is_typed.get("history", False)
    return SourceOptions(**given, names_job=is_typed["url"] or has_variable)


def _source(context: typer.Context, name: str) -> str:
    """Where the value of a parameter came from, in click's word."""
    source = context.get_parameter_source(name)
    return "" if source is None else source.name

"""The command mcp. It serves until its client closes stdin, and then ends with 0; else as the other commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.cli.source_options import SourceOptions, source_command

if TYPE_CHECKING:
    from monitor.cli.agents.answers import Examine


def add_mcp(app: typer.Typer) -> None:
    """Give the app this command."""
    app.command()(mcp)


@source_command()
def mcp(
    options: SourceOptions,
    bootstrap_server: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="The brokers of the tool doctor: the only ones it looks at.")
    ] = None,
    client: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Their security settings, as for groupwatch doctor.")
    ] = None,
) -> None:
    """Serve a running job to agents by the Model Context Protocol, on stdin and stdout. Read-only."""
    from monitor.cli.agents.answers import JobAnswers  # noqa: PLC0415 -- --help must be quick
    from monitor.cli.agents.server import create_server  # noqa: PLC0415 -- as above
    from monitor.metrics.version import installed_version  # noqa: PLC0415 -- as above

    options.job.api.check()
    examine = None if bootstrap_server is None else _examine(bootstrap_server, client)
    create_server(JobAnswers(options.base_url, options.way_in, examine), installed_version()).run("stdio")


def _examine(bootstrap_server: str, client: Path | None) -> Examine:
    """A person chooses the cluster, not the agent: a name that an agent reads could be the address of a stranger."""
    from monitor.cli.doctor import single_diagnosis  # noqa: PLC0415 -- as above

    return lambda group: single_diagnosis(bootstrap_server, client, group)

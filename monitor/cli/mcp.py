"""The command mcp. It serves until its client closes stdin, and then ends with 0; else as the other commands."""

from __future__ import annotations

import typer

from monitor.cli.source_options import SourceOptions, source_command


def add_mcp(app: typer.Typer) -> None:
    """Give the app this command."""
    app.command()(mcp)


@source_command()
def mcp(options: SourceOptions) -> None:
    """Serve a running job to agents by the Model Context Protocol, on stdin and stdout. Read-only."""
    from monitor.cli.agents.answers import JobAnswers  # noqa: PLC0415 -- --help must be quick
    from monitor.cli.agents.server import create_server  # noqa: PLC0415 -- as above
    from monitor.metrics.version import installed_version  # noqa: PLC0415 -- as above

    options.job.api.check()
    create_server(JobAnswers(options.base_url, options.way_in), installed_version()).run("stdio")

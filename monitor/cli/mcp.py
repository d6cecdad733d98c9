"""The command mcp. It serves until its client closes stdin, and then ends with 0; else as the other commands."""

from __future__ import annotations

import typer

from monitor.cli.commands import (
    DEFAULT_URL,
    CaFile,
    PasswordFile,
    TokenFile,
    Url,
    User,
    exit_with,
    way_in_of,
)


def add_mcp(app: typer.Typer) -> None:
    """Give the app this command."""
    app.command()(mcp)


def mcp(
    url: Url = DEFAULT_URL,
    token_file: TokenFile = None,
    user: User = None,
    password_file: PasswordFile = None,
    ca_file: CaFile = None,
) -> None:
    """Serve a running job to agents by the Model Context Protocol, on stdin and stdout. Read-only."""

    def serve() -> None:
        from monitor.cli.agents.answers import JobAnswers  # noqa: PLC0415 -- --help must be quick
        from monitor.cli.agents.server import create_server  # noqa: PLC0415 -- as above
        from monitor.cli.snapshot_source import check_way_in  # noqa: PLC0415 -- as above
        from monitor.metrics.version import installed_version  # noqa: PLC0415 -- as above

        way_in = way_in_of(token_file, user, password_file, ca_file)
        check_way_in(url, way_in)
        create_server(JobAnswers(url, way_in), installed_version()).run("stdio")

    exit_with(serve)

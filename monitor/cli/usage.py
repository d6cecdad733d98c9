"""The command itself: a wrong word or option ends it as all errors do, with code 2 and a line on stderr."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import typer
from typer.core import TyperGroup

from monitor.model.escaping import escaped

_OF_PYDANTIC: Final = "Value error, "


class Commands(TyperGroup):
    """The commands of groupwatch."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,  # noqa: ANN401 -- as typer has it
    ) -> Any:  # noqa: ANN401 -- as typer has it
        """Run a command and end the process with its code. ``standalone_mode`` False: return instead."""
        run = partial(super().main, args, prog_name, complete_var, False, windows_expand_args, **extra)
        if not standalone_mode:
            return run()
        try:
            code = run()
        except typer.Abort:
            sys.exit(1)
        except Exception as error:
            if not hasattr(error, "format_message"):
                raise
            _print(error)
            sys.exit(getattr(error, "exit_code", 2))
        sys.exit(code if isinstance(code, int) else 0)


def _print(error: Any) -> None:  # noqa: ANN401 -- typer has the class in a private module
    """The error in one line, with where to read on. Help that was printed instead is no error to print."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        return
    sentence = " ".join(str(error.format_message()).split()).replace(_OF_PYDANTIC, "").rstrip(".")
    hint = "" if context is None else f" See {context.command_path} --help."
    typer.echo(f"groupwatch: {escaped(sentence)}{'' if sentence.endswith('?') else '.'}{hint}", err=True)

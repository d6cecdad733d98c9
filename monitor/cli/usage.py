"""The commands themselves: how their help looks, and how a wrong word ends them: with code 2 and a line on stderr."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from monitor.model.escaping import escaped

_OF_PYDANTIC: Final = "Value error, "
_NO_NUMBER: Final = re.compile(r"Input should be a valid \w+, unable to parse string as an? (integer|number)")
_INPUT: Final = re.compile(r"\bInput should be\b")

WORDS: Final = {"help": "--help", "version": "--version"}
"""Words that other programs take as commands."""


class OneCommand(TyperCommand):
    """A command. The help shows its arguments as their metavar has them, and no type of flags."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 -- typer has the class in a private module
        """The parameters, as typer wants them."""
        return _without_flag_types(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401 -- as above
        """The words of the usage: braces and dots are typer's, and mean a choice and a repetition elsewhere."""
        arguments = [each for each in self.get_params(ctx) if each.param_type_name == "argument"]
        shown = [[each.metavar] if each.metavar else each.get_usage_pieces(ctx) for each in arguments]
        return [self.options_metavar or "", *(piece for pieces in shown for piece in pieces)]


class Commands(TyperGroup):
    """The commands of groupwatch."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 -- as above
        """The parameters, as typer wants them."""
        return _without_flag_types(super().get_params(ctx))

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
        words = _with_options(sys.argv[1:] if args is None else args)
        run = partial(
            super().main,
            words,
            prog_name,
            complete_var,
            False,
            windows_expand_args,
            **extra,
        )
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


def _with_options(words: Sequence[str]) -> list[str]:
    """The words that were typed; ``help explain`` is ``explain --help``.

    >>> _with_options(["help", "explain"]), _with_options(["version"]), _with_options(["status", "help"])
    (['explain', '--help'], ['--version'], ['status', 'help'])
    """
    return [*words[1:], WORDS[words[0]]] if words and words[0] in WORDS else [*words]


def _without_flag_types(parameters: list[Any]) -> list[Any]:
    for each in parameters:
        if getattr(each, "is_flag", False):
            each.display_type_rich = lambda ctx: None
    return parameters


def _print(error: Any) -> None:  # noqa: ANN401 -- typer has the class in a private module
    """The error in one line, with where to read on. Help that was printed instead is no error to print."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        return
    sentence = _plain(" ".join(str(error.format_message()).split())).rstrip(".")
    hint = "" if context is None else f" See {context.command_path} --help."
    typer.echo(f"groupwatch: {escaped(sentence)}{'' if sentence.endswith('?') else '.'}{hint}", err=True)


def _plain(message: str) -> str:
    """What typer says, without the words of the library that it asks.

    >>> _plain("Invalid value for '--n': Input should be a valid integer, unable to parse string as an integer")
    "Invalid value for '--n': should be a whole number"
    >>> _plain("Invalid value for '--n': Value error, a time in seconds must be greater than 0")
    "Invalid value for '--n': a time in seconds must be greater than 0"
    """
    numbers = {"integer": "a whole number", "number": "a number"}
    plain = _NO_NUMBER.sub(lambda found: f"should be {numbers[found[1]]}", message.replace(_OF_PYDANTIC, ""))
    return _INPUT.sub("should be", plain)

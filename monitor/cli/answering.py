"""How commands answer: what they print, and how they end. With 0, or with 2 and one sentence on stderr."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

import msgspec
import typer
from rich.console import RenderableType

from monitor.model.escaping import escaped_lines

CANNOT_ANSWER_CODE: Final = 2


def now_ms() -> int:
    """Now, in ms since the epoch."""
    return time.time_ns() // 1_000_000


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


def write_text(text: str) -> None:
    """Write a text to standard output as it is, whatever the encoding of the terminal."""
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


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

"""How commands answer: what they print, and how they end. With 0, or with 2 and one sentence on stderr."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TextIO

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
    """Print an answer: JSON, or what ``shown`` makes of it. Whoever reads it may stop early."""
    if as_json:
        write_bytes(msgspec.json.format(msgspec.json.encode(answer)) + b"\n")
        return
    from monitor.cli.render_answer import tell  # noqa: PLC0415 -- as above

    with outlive_reader(sys.stdout):
        tell(shown())


def write_text(text: str) -> None:
    """Write a text to standard output as it is, whatever the encoding of the terminal."""
    write_bytes(text.encode())


def write_bytes(data: bytes) -> None:
    """Write to standard output. Whoever reads it may stop early."""
    with outlive_reader(sys.stdout):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def tell_error(text: str) -> None:
    """Write a line to standard error. A command continues without a reader of its lines."""
    with outlive_reader(sys.stderr):
        typer.echo(text, err=True)


@contextmanager
def outlive_reader(output: TextIO) -> Iterator[None]:
    """Leave the block if the reader of a pipe has closed it: the command continues, and ends with its own exit code."""
    try:
        yield
    except BrokenPipeError:
        discard(output)


def discard(output: TextIO) -> None:
    """Drop what is still to be written, so that it is not tried again at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())


def exit_with(action: Callable[[], None]) -> None:
    """Run a command's work; what a person can mend is one sentence, not a stack trace."""
    from monitor.cli.errors import SourceError  # noqa: PLC0415 -- as above
    from monitor.detection.evaluation_input import QuestionError  # noqa: PLC0415 -- as above

    try:
        action()
    except (SourceError, QuestionError) as error:
        tell_error(f"groupwatch: {escaped_lines(str(error))}")
        raise typer.Exit(CANNOT_ANSWER_CODE) from None
    except OSError as error:
        discard(sys.stdout)
        tell_error(f"groupwatch: Cannot write the answer: {error.strerror or error}.")
        raise typer.Exit(CANNOT_ANSWER_CODE) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None

"""The command ``python -m monitor.assignors``: what the original assignors give, for cases on standard input."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from io import FileIO
from textwrap import fill
from typing import BinaryIO, Final

from monitor.assignors.vectors.answering import Remarks, answer_line
from monitor.assignors.vectors.dialect_cases import CHECKED_FAMILIES
from monitor.assignors.vectors.families import FAMILIES
from monitor.assignors.vectors.limits import CASE_ITEMS, LINE_BYTES

_INTERRUPTED: Final = 130  # as a shell reports a command that Ctrl-C ended
_DESCRIPTION: Final = f"""\
Answer what the original assignors answer. Read cases from standard input, one JSON object a line:

  {{"id": ..., "assignor": ..., "input": {{...}}}}

Write one line to standard output for each, in the same order and at once:

  {{"id": ..., "answer": {{...}}}}                  what the original gives
  {{"id": ..., "error": "Class: message"}}        the original throws this
  {{"id": ..., "invalid": "why"}}                 the line is no case; the rest goes on

Assignors of other client libraries (sarama.range and the like) also say whether they could have given an assignment,
if the line has one as "given" or "expected": {{"assignment": {{member: {{topic: [partition, ...]}}}}}}. For
KafkaJS and @platformatic/kafka, the input has the id of the "leader", too.

  {{"id": ..., "answer": {{...}}, "accepted": true}}
  {{"id": ..., "answer": {{...}}, "accepted": false, "refused": "why"}}

Some are checked and not replayed, since their answers depend on what only the leader knows. They say that alone, and
need an assignment:
{fill(", ".join(CHECKED_FAMILIES), width=110, break_on_hyphens=False, initial_indent="  ", subsequent_indent="  ")}.

The id is a text or a whole number; it is null where the line has none that can be read. Other keys are ignored. Lines
of more than {LINE_BYTES} bytes are invalid, as are cases of more than {CASE_ITEMS} partitions or consumer threads.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer all lines of standard input. Returns the exit code: 0, 1 (cannot read or write), 130 (Ctrl-C)."""
    remarks = _read_arguments(arguments)
    output = FileIO(sys.stdout.fileno(), "w", closefd=False)  # unbuffered: nothing is left to write when a pipe closes
    try:
        for line in _lines(sys.stdin.buffer):
            _write(output, answer_line(line, remarks))
    except BrokenPipeError:
        return 0  # the reader has closed the pipe
    except OSError as error:
        sys.stderr.write(f"python -m monitor.assignors: {error.strerror}\n")
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED
    return 0


def _read_arguments(arguments: Sequence[str] | None) -> Remarks:
    parser = ArgumentParser(
        prog="python -m monitor.assignors",
        usage="%(prog)s [--quirks] [--order-sensitive] < cases.jsonl > answers.jsonl",
        description=_DESCRIPTION,
        epilog=fill(f"Assignors: {', '.join(FAMILIES)}.", width=110, break_on_hyphens=False),
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quirks", action="store_true", help="add what is odd about the answer, as a list of words")
    parser.add_argument(
        "--order-sensitive", action="store_true", help="add whether another order of the members changes who gets what"
    )
    chosen = parser.parse_args(arguments)
    return Remarks(quirks=chosen.quirks, order_sensitive=chosen.order_sensitive)


def _lines(source: BinaryIO) -> Iterator[bytes]:
    """The lines; of one that is too long only the beginning, which is still too long."""
    while line := source.readline(LINE_BYTES + 1):
        rest = line
        while len(rest) > LINE_BYTES and not rest.endswith(b"\n"):
            rest = source.readline(LINE_BYTES + 1)
        yield line


def _write(output: FileIO, line: bytes) -> None:
    left = memoryview(line)
    while left:
        left = left[output.write(left) :]


if __name__ == "__main__":
    sys.exit(main())

"""The command ``python -m monitor.protocol.offsets_topic``: what Kafka reads in records, given on standard input."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import Final

from monitor.protocol.offsets_topic.decoded_line import decode_line

_INTERRUPTED: Final = 130  # as a shell reports a command that Ctrl-C ended
_PROGRAM: Final = "python -m monitor.protocol.offsets_topic"
_DESCRIPTION: Final = """\
Decode records of __consumer_offsets. Read them from standard input, one JSON object a line:

  {"p": partition, "o": offset, "ts": time in ms, "k": key, "v": value or null}     key and value in base64

Write one line to standard output for each, in the same order:

  {"p": ..., "o": ..., "key": {"type", "version", "data"}, "value": {"version", "data"} or null}
  {"p": ..., "o": ..., "error": "reason", "at": byte}       the record cannot be read; the rest goes on

The names of fields are Kafka's own. Records with the subscriptions and assignments of a classic "consumer" group have
"consumer_protocol" too, with what is inside them. Other keys of a line are ignored; a line with "control" (the end of a
transaction, which consumers are never given) is repeated with that alone.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer all lines of standard input. Returns the exit code: 0, 1 (cannot read or write), 130 (Ctrl-C)."""
    parser = ArgumentParser(
        prog=_PROGRAM,
        usage="%(prog)s < records.jsonl > decoded.jsonl",
        description=_DESCRIPTION,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.parse_args(arguments)
    try:
        for line in sys.stdin.buffer:
            sys.stdout.buffer.write(decode_line(line))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        sys.stdout = None  # nobody wants the rest, not even what is still buffered
        return 0
    except OSError as error:
        sys.stderr.write(f"{_PROGRAM}: {error.strerror}\n")
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())

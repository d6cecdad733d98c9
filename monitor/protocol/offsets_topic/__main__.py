"""The command ``python -m monitor.protocol.offsets_topic``: what Kafka reads in records, given on standard input."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import Final

from monitor.protocol.offsets_topic.decoded_line import decode_line
from monitor.protocol.offsets_topic.logs import LogNames

_INTERRUPTED: Final = 130  # as a shell reports a command that Ctrl-C ended
_PROGRAM: Final = "python -m monitor.protocol.offsets_topic"
_DESCRIPTION: Final = """\
Decode records of Kafka's logs of groups. Read them from standard input, one JSON object a line:

  {"topic": name, "p": partition, "o": offset, "ts": time in ms, "key": key, "value": value or null}

with key and value in base64. Write one line to standard output for each, in the same order:

  {"topic": ..., "p": ..., "o": ..., "decoded": {...}}
  {"topic": ..., "p": ..., "o": ..., "error": "reason", "at": byte}       the record cannot be read; the rest goes on

The topic decides how a record is read:

  __consumer_offsets     decoded: {"type", "id", "key", "version", "value", "unread"}, names and values as Kafka's own
                         JSON converters write them; of a tombstone "value" is null and "version" is left out.
                         "members", by member id: for Connect what is in their "metadata" and "assignment", for classic
                         Kafka Streams (protocol "stream") what is in their "subscription" and "assignment"
  __share_group_state    the same, for ShareSnapshot (0) and ShareUpdate (1)
  ...-configs            decoded: {"key", "value"} of Connect's configurations. They hold secrets: of a connector's
                         properties only consumer.override.group.id is read, of other records the number of tasks and
                         the target state. {"key", "omitted": true}: nothing of the value is read
  ...-status             decoded: {"key", "value"} of Connect's status records, without stack traces
  any other              error "unknown_topic"

Lines of another form, without a topic, are records of __consumer_offsets:

  {"p": partition, "o": offset, "ts": time in ms, "k": key, "v": value or null}     key and value in base64

Their answers are:

  {"p": ..., "o": ..., "key": {"type", "version", "data"}, "value": {"version", "data"} or null}
  {"p": ..., "o": ..., "error": "reason", "at": byte}       the record cannot be read; the rest goes on

The names of fields are Kafka's own. Records with the subscriptions and assignments of a classic "consumer" group have
"consumer_protocol" too, with what is inside them. Other keys of a line are ignored; a line with "control" (the end of a
transaction, which consumers are never given) is repeated with that alone.
"""

_OF_CONFIGS: Final = "a topic of Connect's configurations whose name does not end with -configs; may be repeated"
_OF_STATUS: Final = "a status topic of Connect whose name does not end with -status; may be repeated"


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer all lines of standard input. Returns the exit code: 0, 1 (cannot read or write), 130 (Ctrl-C)."""
    parser = ArgumentParser(
        prog=_PROGRAM,
        usage="%(prog)s < records.jsonl > decoded.jsonl",
        description=_DESCRIPTION,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--connect-configs", action="append", default=[], metavar="TOPIC", help=_OF_CONFIGS)
    parser.add_argument("--connect-status", action="append", default=[], metavar="TOPIC", help=_OF_STATUS)
    options = parser.parse_args(arguments)
    names = LogNames(
        connect_configs=frozenset(options.connect_configs), connect_status=frozenset(options.connect_status)
    )
    try:
        for line in sys.stdin.buffer:
            sys.stdout.buffer.write(decode_line(line, names))
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

"""The command ``python -m monitor.tracking.fold``: captured logs from standard input, folded into groups."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import Final

from monitor.tracking.fold.captured_logs import CapturedLogs
from monitor.tracking.fold.mark_line import LineError, apply_line

_INTERRUPTED: Final = 130  # as a shell reports a command that Ctrl-C ended
_PROGRAM: Final = "python -m monitor.tracking.fold"
_DESCRIPTION: Final = """\
Fold records of Kafka's logs of groups into what is known of the groups. Read them from standard input, one JSON object
a line, with marks between them:

  {"topic": name, "p": partition, "o": offset, "ts": time in ms, "key": key, "value": value or null}
  {"mark": label, "topics": {name: {"id": topic id, "start": {partition: offset}, "end": {partition: offset}}}}

Records are those of __consumer_offsets, __share_group_state and Connect's configurations (...-configs), key and value
in base64; others are left out. Those of one log have to be in its order; those of different logs have none. A mark may
also be an object with a "label" and these fields: {"mark": {"label": ..., "topics": ...}}. Without "topics" no lag is
known. The configurations of a Connect cluster are taken from the topic GROUP-configs, or else connect-configs.

After a mark, one line is written for each group that is known after the records before it:

  {"mark", "group", "kind", "state", "generation", "target_epoch", "protocol_type", "protocol", "leader",
   "members": [{"member_id", "client_id", "host", "instance_id", "rack", "topics", "epoch", "state",
                "assigned": {topic: [partition]}, "target": {topic: [partition]},
                "process_id", "topology_epoch", "tasks": {"active", "standby", "warmup", "revoking", "target"},
                "worker": {"url", "config_offset", "runs", "assigned", "revoked", "delay_ms", "error"}, "sink_task"}],
   "partitions": [{"topic", "partition", "end_offset", "lag", "committed_offset"}],
   "owners": {task: [member_id]},  "idle": [{"task" or "work", "reason", ...}],  "details": {...}}

"state" is that of groupwatch (stable, not_ready, ...), "generation" is the epoch of groups that have epochs. "tasks"
are those of Kafka Streams; of a classic group they have "reads" (the partition of each active task), "offset_sums",
"error" and "next_rebalance_ms" instead of the last three. "worker" is of Connect: "runs" is what the worker has.
"sink_task" is the Connect task whose consumer the member is. A share group's "partitions" have no committed offset,
but "topic_id", "start_offset", "complete_count", "kafka_lag", "first_waiting", "waiting_redelivery", "max_deliveries",
"lost", "answered_ms", "accepted", "returned", "archived" and "batches". "lag" counts the records that are there and
not done with, "kafka_lag" is what the broker itself says. "owners" and "idle" are who runs the tasks of Streams and
Connect, and which tasks nobody runs (of Streams with "topics" only). "details" is what only one kind of group has.

What is not known is left out or null. Records that cannot be read are reported on standard error at the end.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fold all lines of standard input. The exit code: 0, 1 (no input or output), 2 (bad line), 130 (Ctrl-C)."""
    parser = ArgumentParser(
        prog=_PROGRAM,
        usage="%(prog)s [--connect-configs TOPIC] < records-and-marks.jsonl > groups.jsonl",
        description=_DESCRIPTION,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--connect-configs",
        action="append",
        default=[],
        metavar="TOPIC",
        help="a topic of Connect's configurations whose name does not end with -configs; may be repeated",
    )
    logs = CapturedLogs(frozenset(parser.parse_args(arguments).connect_configs))
    try:
        return _fold(logs)
    except BrokenPipeError:
        sys.stdout = None  # nobody wants the rest, not even what is still buffered
        return 0
    except OSError as error:
        sys.stderr.write(f"{_PROGRAM}: {error.strerror}\n")
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED


def _fold(logs: CapturedLogs) -> int:
    for number, line in enumerate(sys.stdin.buffer, start=1):
        try:
            sys.stdout.buffer.writelines(apply_line(logs, line))
        except LineError as error:
            sys.stderr.write(f"{_PROGRAM}: line {number} is neither a record nor a mark: {error}\n")
            return 2
    sys.stdout.buffer.flush()
    for record in logs.unread:
        sys.stderr.write(f"{_PROGRAM}: {record.topic} {record.p} offset {record.o}: {record.error}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

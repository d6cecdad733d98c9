"""How long a question about the past of a large fleet takes: a day of 1,000 groups with 100 partitions each.

``python -m tests.benchmarks.explain_at [COMMITS_A_MINUTE]``: the value is the slowest median of
``groupwatch explain CLUSTER GROUP --at INSTANT --history FOLDER``, from the small files of a day, and from what the
upkeep made of them. It needs 10 GB of disk for its time.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from deltalake import DeltaTable

from monitor.history.tables import DAY_MS, EVENTS, STATES
from tests.benchmarks.measured import report
from tests.benchmarks.recorded_day import ASKED, CLUSTER, MINUTE_MS, Fleet, write_recording

GOAL_S: Final = 2.0
TIMES: Final = 5
"""How often each question is asked; the median counts."""

INSTANTS: Final = {"first minutes": 10, "after states": 723, "before states": 1_079, "last": 1_439}
"""The instants that are asked for, in minutes after midnight."""
KEEP_UP: Final = "tests.streaming_jobs.recording.keep_up"
STORY: Final = (1_019, 1_079)


class Cost(NamedTuple):
    """What a question costs, in seconds: by the clock and of CPU."""

    wall_s: float
    cpu_s: float


def main() -> None:
    """Measure and report."""
    commits = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    fleet = Fleet(time.time_ns() // 1_000_000 // DAY_MS * DAY_MS - DAY_MS, commits=commits)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_recording(folder, fleet)
        sizes = [_bytes_of_each(folder, fleet)]
        asked = {"small files": _asked(folder, fleet)}
        tidying = _run(
            [sys.executable, "-m", "tests.streaming_jobs.recording.keep_up", name, CLUSTER, "--days-later", "0"]
        )
        sizes.append(_bytes_of_each(folder, fleet))
        asked["tidied"] = _asked(folder, fleet)
    slowest = max(costs[instant].wall_s for costs in asked.values() for instant in INSTANTS)
    report(
        "explain-at",
        slowest,
        "s",
        GOAL_S,
        None,
        group_partitions=fleet.groups * fleet.partitions,
        commits_a_minute=fleet.commits,
        asked={files: {question: cost._asdict() for question, cost in costs.items()} for files, costs in asked.items()},
        tidying=tidying._asdict(),
        bytes_of_a_group_partition_and_day=sizes,
    )


def _asked(folder: Path, fleet: Fleet) -> dict[str, Cost]:
    """What explain costs at each instant, and history of an hour, each of a group whose states are its own."""
    group = fleet.group_names[ASKED - 1]
    instants = {name: str(fleet.begin_ms + minute * MINUTE_MS) for name, minute in INSTANTS.items()}
    since, until = (str(fleet.begin_ms + minute * MINUTE_MS) for minute in STORY)
    asked = {name: ["explain", CLUSTER, group, "--at", at] for name, at in instants.items()}
    asked["history"] = ["history", CLUSTER, group, "--since", since, "--until", until]
    return {name: _median([*command, "--history", str(folder)]) for name, command in asked.items()}


def _median(command: list[str]) -> Cost:
    costs = [_run([sys.executable, "-m", "monitor.cli", *command]) for _ in range(TIMES)]
    return Cost(*(round(statistics.median(seconds), 2) for seconds in zip(*costs, strict=True)))


def _run(command: list[str]) -> Cost:
    """What a process costs with all that it starts and awaits."""
    before, began = _children_cpu_s(), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3_000:]
    return Cost(round(time.monotonic() - began, 2), round(_children_cpu_s() - before, 2))


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _bytes_of_each(folder: Path, fleet: Fleet) -> dict[str, int]:
    """How large the files of each table are that its log names, by group-partition and day."""
    found = {}
    for name in (EVENTS.name, STATES.name):
        sizes = DeltaTable(str(folder / name)).get_add_actions().column("size_bytes").to_pylist()
        found[name] = round(sum(sizes) * DAY_MS / fleet.minutes / MINUTE_MS / fleet.groups / fleet.partitions)
    return found


if __name__ == "__main__":
    main()

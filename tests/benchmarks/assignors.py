"""Our assignors against the originals, on the same groups: ``python -m tests.benchmarks.assignors > result.json``.

Each row is measured in processes of its own: one of ours, and a JVM for the original (``--no-original`` leaves it out).
Times are medians, in ms of CPU time and of wall time; the original is warmed up for 3 s or 40 calls, ours by one call;
a call of over 8 s is measured once. ``peak_mb`` is the most memory our process ever had, with Python, numpy and
the input in it. Building the input is not in the times.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from monitor.model import Assignment
from tests.benchmarks.recipe import INPUTS, assignor_of, crc32, fresh_members, members_left, topics_of
from tests.oracle.original import Original

LONG_MS: Final = 8000.0
HEAP: Final = "4g"

_SERVER: Final = ("kafka.server.range", "kafka.server.uniform")
_CLIENT: Final = ("kafka.range", "kafka.roundrobin", "kafka.sticky", "kafka.cooperative-sticky")
_KEEPING: Final = ("kafka.sticky", "kafka.cooperative-sticky", "kafka.server.uniform")


def _by_family(*checksums: str) -> dict[str, str]:
    families = _CLIENT + _SERVER if len(checksums) > len(_KEEPING) else _KEEPING
    return dict(zip(families, checksums, strict=True))


CHECKSUMS: Final = {
    ("a", "fresh"): _by_family("f3048782", "4ebcf771", "4ebcf771", "4ebcf771", "f3048782", "f10b1e5c"),
    ("a", "leave"): _by_family("2a5ffb23", "2a5ffb23", "10723f02"),
    ("b", "fresh"): _by_family("71891b08", "d1d0d8b9", "d1d0d8b9", "d1d0d8b9", "71891b08", "46f3404c"),
    ("b", "leave"): _by_family("5c393d83", "5c393d83", "924266f2"),
    ("c", "fresh"): _by_family("209ef9dc", "eafd5ff8", "b3b7ba40", "b3b7ba40", "209ef9dc", "2fdf1a8e"),
    ("c", "leave"): _by_family("9c694b43", "9c694b43", "1e265eb8"),
    ("d", "fresh"): _by_family("0e2b71f4", "13ff279b", "56930120", "56930120", "0e2b71f4", "b6395498"),
    ("d", "leave"): _by_family("db7f113d", "db7f113d", "9022ac2a"),
}
"""What kafka-clients and kafka-group-coordinator 4.4.0 gave when the table of their speed was made."""


def rows(inputs: Sequence[str], starts: Sequence[str], families: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Input, start and family of every row that was asked for."""
    for (name, start), by_family in CHECKSUMS.items():
        for family in by_family:
            if name in inputs and start in starts and family in families:
                yield name, start, family


def measure_ours(name: str, start: str, family: str, runs: int) -> dict[str, Any]:
    """In this process: our times, the peak of our memory, and the checksum of the result."""
    assign = _call(name, start, family)
    cpu_ms: list[float] = []
    wall_ms: list[float] = []
    warm = runs == 1
    while not warm or len(wall_ms) < runs:
        began_cpu, began = time.process_time(), time.perf_counter()
        answer = assign()
        wall_ms.append((time.perf_counter() - began) * 1000)
        cpu_ms.append((time.process_time() - began_cpu) * 1000)
        if wall_ms[-1] > LONG_MS:
            cpu_ms, wall_ms = cpu_ms[-1:], wall_ms[-1:]
            break
        if not warm:
            warm = True
            cpu_ms.clear()
            wall_ms.clear()
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {**_times(cpu_ms, wall_ms), "peak_mb": round(peak_mb), "crc32": crc32(answer)}


def measure_ours_apart(name: str, start: str, family: str, runs: int) -> dict[str, Any]:
    """As ``measure_ours``, in a process of its own: its peak is that of this one call."""
    command = [sys.executable, "-m", "tests.benchmarks.assignors", "--row", name, start, family, "--runs", str(runs)]
    child = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    measured: dict[str, Any] = json.loads(child.stdout)
    return measured


def measure_original(name: str, start: str, family: str, runs: int) -> dict[str, Any]:
    """In a JVM of its own: the original's times and the checksum of its result."""
    group = INPUTS[name]
    recipe = {"topics": group.topics, "partitions": group.partitions, "members": group.members, "half": group.half}
    with Original(heap=HEAP) as original:
        measured = original.send({"benchmark": {"assignor": family, **recipe, "start": start, "runs": runs}})
    return {**_times(measured["cpu_ms"], measured["wall_ms"]), "crc32": measured["crc32"]}


def main() -> None:
    """Measure and print one JSON object."""
    options = _options()
    if options.row:
        print(json.dumps(measure_ours(*options.row, options.runs)))  # noqa: T201 -- the result
        return
    chosen = rows(options.inputs, options.starts, options.families)
    measured = [_measure_row(*row, options.runs, options.original) for row in chosen]
    print(json.dumps(_report(measured), indent=1))  # noqa: T201 -- the result


def _measure_row(name: str, start: str, family: str, runs: int, with_original: bool) -> dict[str, Any]:
    print(f"{name} {start} {family}", file=sys.stderr, flush=True)  # noqa: T201 -- one sees that it goes on
    ours = measure_ours_apart(name, start, family, runs)
    row = {"input": name, "start": start, "assignor": family, "ours": ours}
    checksums = {ours["crc32"], CHECKSUMS[name, start][family]}
    if with_original:
        row["original"] = measure_original(name, start, family, runs)
        row["cpu_ours_to_original"] = round(ours["cpu_ms"] / row["original"]["cpu_ms"], 3)
        checksums.add(row["original"]["crc32"])
    return {**row, "same_result": len(checksums) == 1}


def _call(name: str, start: str, family: str) -> Callable[[], Assignment]:
    group = INPUTS[name]
    topics, members = topics_of(group), fresh_members(group)
    assignor = assignor_of(family)
    if start == "leave":
        members = members_left(family, members, assignor.assign(members, topics))
    return lambda: assignor.assign(members, topics)


def _times(cpu_ms: Sequence[float], wall_ms: Sequence[float]) -> dict[str, Any]:
    return {
        "cpu_ms": round(statistics.median(cpu_ms), 2),
        "wall_ms": round(statistics.median(wall_ms), 2),
        "runs": len(wall_ms),
    }


def _report(measured: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "benchmark": "assignors",
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load_1min": os.getloadavg()[0],
        "same_results": all(row["same_result"] for row in measured),
        "rows": measured,
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.assignors", description=__doc__)
    parser.add_argument("--inputs", nargs="+", choices=list(INPUTS), default=list(INPUTS))
    parser.add_argument("--starts", nargs="+", choices=["fresh", "leave"], default=["fresh", "leave"])
    parser.add_argument("--families", nargs="+", choices=_CLIENT + _SERVER, default=list(_CLIENT + _SERVER))
    parser.add_argument("--runs", type=int, default=5, help="calls of which the median is taken (5)")
    parser.add_argument("--no-original", dest="original", action="store_false", help="measure ours only")
    parser.add_argument("--row", nargs=3, metavar=("INPUT", "START", "FAMILY"), help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""What every benchmark reports: one JSON object, written to build/bench and printed last."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tests.support.job_process import process_fields

_FOLDER = Path("build/bench")
_TICKS = os.sysconf("SC_CLK_TCK")


def report(name: str, value: float, unit: str, goal: float, cpu_s: float | None, **details: object) -> None:
    """Write and print the result of a benchmark.

    Args:
        name: the file's name.
        value: what was measured; smaller is better.
        unit: of the value and of the goal.
        goal: what the value shall not exceed on two cores.
        cpu_s: seconds of CPU of the job alone (driver, JVM, Python workers), not of brokers and clients.
        details: whatever explains the value.
    """
    result = {
        "benchmark": name,
        "value": round(value, 3),
        "unit": unit,
        "goal": goal,
        "reached": value <= goal,
        "cpu_s": None if cpu_s is None else round(cpu_s, 1),
        **details,
        "machine": {"cores": os.cpu_count(), "cpu": platform.machine(), "load_1min": round(os.getloadavg()[0], 1)},
        "versions": {"python": platform.python_version(), "java": _java(), "pyspark": version("pyspark")},
        "commit": _commit(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    _FOLDER.mkdir(parents=True, exist_ok=True)
    (_FOLDER / f"{name}.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result), flush=True)  # noqa: T201 -- the result


def cpu_s(root: int) -> float:
    """Seconds of CPU that a process, all its descendants, and those of them that have ended have used."""
    return sum(map(process_cpu_s, family(root)))


def memory_mb(root: int) -> dict[str, float]:
    """Proportional memory (PSS) in MB by kind of process: pages that workers share count once."""
    found = {"java": 0.0, "python": 0.0}
    for pid in family(root):
        try:
            program = Path(f"/proc/{pid}/exe").readlink().name
            name = Path(f"/proc/{pid}/comm").read_text().strip()
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        if program == "java" and name != "java":
            continue  # what a JVM is just starting: until it is something else, its memory is the JVM's own
        kind = "python" if program.startswith("python") else "java"
        found[kind] += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
    return found


def family(root: int) -> list[int]:
    """A process and all its descendants."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        fields = process_fields(stat)
        if fields:
            children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, rest = [], [root]
    while rest:
        found.append(rest.pop())
        rest += children.get(found[-1], [])
    return found


def process_cpu_s(pid: int) -> float:
    """Seconds of CPU that a process and those of its children that have ended have used."""
    fields = process_fields(Path(f"/proc/{pid}/stat"))
    return sum(map(int, fields[11:15])) / _TICKS if fields else 0.0


def _java() -> str:
    said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    return said.split('"')[1] if '"' in said else "unknown"


def _commit() -> str:
    asked = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def quantile(values: list[float], share: float) -> float:
    """The smallest value that is not exceeded by this share of the values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

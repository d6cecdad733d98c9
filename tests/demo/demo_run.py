"""One run of the demo, as a newcomer starts it: ``python -m tests.demo.demo_run`` prints what was seen of it.

With ``--interrupted``, of a run that ends with Ctrl-C.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from monitor.demo.servers.ports import free_ports, listening
from tests.dashboards.demo_alerting import AlertingSeen, asked_of
from tests.dashboards.demo_boards import board_faults
from tests.support.job_process import Samples, eventually, processes_of
from tests.support.listening import watched_listeners

ROOT: Final = Path(__file__).parents[2]

WATCHED_S: Final = 150
"""As the issue asks: the growth, its orphans and their healing fall inside."""

LISTENERS_PAUSE_S: Final = 0.2
"""How often it is seen what listens: often enough for a port of a micro-batch, and no load."""

MARK: Final = "TEST_THAT_STARTED_IT"
"""A variable that all processes of a demo have from the one that started it, whatever session they are in."""


def demo(port: int, *more: str) -> list[str]:
    """As the README has it: by make, in this checkout."""
    return ["make", "-C", str(ROOT), "demo", "ARGS=" + shlex.join(["--port", str(port), *more])]


def read(port: int, path: str) -> tuple[int, str]:
    """Status and text of a page of the demo; 0 if nobody listens."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except OSError:
        return 0, ""


@contextmanager
def running_demo(port: int, log: Path, *more: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A demo in a session of its own; if it still runs at the end, it is told to end as by Ctrl-C."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            demo(port, *more),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=os.environ | environment,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to everything in the foreground
            process.wait(60)


def run(folder: Path) -> dict[str, Any]:
    """The demo's summary, what its /metrics and its alerts showed meanwhile, and what was left when it had ended."""
    summary, log = folder / "summary.json", folder / "demo.log"
    (port,) = free_ports(1)
    alerting = AlertingSeen(log, WATCHED_S, lambda url: asked_of(url) | {"board_faults": board_faults(url)})
    options = ("--duration", str(WATCHED_S), "--json-summary", str(summary), "--with", "prometheus")
    with (
        running_demo(port, log, *options) as process,
        ThreadPoolExecutor(2) as beside,
        watched_listeners(process.pid, LISTENERS_PAUSE_S) as listeners,
    ):
        asked = beside.submit(questions, process, port, folder)
        past = beside.submit(answers_of_the_past, process, log)
        orphans = orphans_shown(process, port, alerting)
    assert process.returncode == 0, log.read_text(errors="replace")[-3000:]
    told: dict[str, Any] = json.loads(summary.read_text())
    seen = {"orphans_on_metrics": orphans, "alerting": alerting.report(), "asked": asked.result()}
    seen["past"] = past.result()
    seen |= {
        "open": [str(each) for each in listeners if each.is_open],
        "programs": sorted({each.program for each in listeners}),
    }
    return told | seen | left_of(process, port)


def run_with(folder: Path, wanted: str, seconds: int) -> dict[str, Any]:
    """The summary of a demo with these that ends by itself, the groups that its API listed, and what was left of it."""
    summary, log, mark = folder / "summary.json", folder / "demo.log", str(uuid.uuid4())
    (port,) = free_ports(1)
    options = ("--with", wanted, "--duration", str(seconds), "--json-summary", str(summary))
    listed: set[tuple[str, str]] = set()
    with running_demo(port, log, *options, **{MARK: mark}) as process:
        while process.poll() is None:
            listed |= groups_listed(port)
            time.sleep(2)
    assert process.returncode == 0, log.read_text(errors="replace")[-3000:]
    eventually(lambda: not marked(mark), "the end of everything the demo started", 30)
    told: dict[str, Any] = json.loads(summary.read_text())
    return told | {"listed": listed} | left_of(process, port)


def groups_listed(port: int) -> set[tuple[str, str]]:
    """The groups in the API of the demo, each with its cluster."""
    status, text = read(port, "/api/v1/groups")
    return {(each["cluster"], each["group"]) for each in json.loads(text)} if status == 200 else set()


def orphans_shown(process: subprocess.Popen[bytes], port: int, alerting: AlertingSeen) -> list[float]:
    """The orphans that /metrics shows until the end of the demo, whenever their number changes."""
    orphans: list[float] = []
    while process.poll() is None:
        if read(port, "/readyz")[0] == 200:
            grew = {"group": "orders", "reason": "grew"}
            value = Samples(read(port, "/metrics")[1]).value("groupwatch_group_orphaned_partitions", **grew)
            if value is not None and (not orphans or orphans[-1] != value):
                orphans.append(value)
        with contextlib.suppress(OSError):  # it has just ended
            alerting.look()
        time.sleep(1)
    return orphans


def left_of(process: subprocess.Popen[bytes], port: int) -> dict[str, Any]:
    """What there is of a demo that has ended: command lines, and whether somebody listens."""
    left = [sorted(strings_of(Path(f"/proc/{pid}/cmdline"))) for pid in processes_of(process.pid)]
    return {"left": left, "listening": listening(port)}


def interrupted(folder: Path) -> dict[str, Any]:
    """What a demo said that was interrupted when it was ready, what it had started, and what was left of it."""
    (port,) = free_ports(1)
    mark, log = str(uuid.uuid4()), folder / "demo.log"
    with running_demo(port, log, **{MARK: mark}) as process:
        await_ready(process, port)
        started = sorted(words_of(marked(mark)))
    left = left_of(process, port)
    eventually(lambda: not marked(mark), "the end of everything the demo started", 30)
    return {"log": log.read_text(errors="replace"), "started": started} | left


def await_ready(process: subprocess.Popen[bytes], port: int) -> None:
    """Until the demo is ready, or has ended."""
    eventually(lambda: read(port, "/readyz")[0] == 200 or process.poll() is not None, "the demo ready", 300)


def questions(process: subprocess.Popen[bytes], port: int, folder: Path) -> dict[str, Any]:
    """What the commands answer about a group of the demo, asked of the job and of what it saved."""
    await_ready(process, port)
    url, saved = ["--url", f"http://127.0.0.1:{port}"], folder / "saved.jsonl"
    saved.write_text(answer("snapshot", *url))
    offline = ["--snapshot", str(saved)]
    return {
        "explain": answer("explain", "demo", "payments", *url),
        "partition": answer("explain", "demo", "payments", "payments", "0", *offline),
        "census": json.loads(answer("census", "--json", *offline)),
        "what_if": json.loads(answer("what-if", "demo", "payments", "--members", "3", "--json", *offline)),
    }


def answers_of_the_past(process: subprocess.Popen[bytes], log: Path) -> dict[str, str]:
    """What the commands print that the demo says to try, by their names."""
    eventually(lambda: commands_in(log) or process.poll() is not None, "the commands about the past", 300)
    return {words[1]: printed_by(words) for words in commands_in(log)}


def commands_in(log: Path) -> list[list[str]]:
    """The words of the commands that a demo has printed, once it has printed three."""
    lines = map(str.split, log.read_text(errors="replace").splitlines())
    found = [words for words in lines if words and Path(words[0]).name == "groupwatch"]
    return found if len(found) == 3 else []


def printed_by(words: list[str]) -> str:
    """What a command prints; it has to end with 0."""
    return subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, check=True, timeout=120, text=True).stdout


def answer(*words: str) -> str:
    """What groupwatch prints for these words."""
    return printed_by([sys.executable, "-m", "monitor.cli", *words])


def marked(mark: str) -> list[Path]:
    """The processes that were started with this mark in their environment, by whichever process on the way."""
    return [folder for folder in Path("/proc").glob("[0-9]*") if f"{MARK}={mark}" in strings_of(folder / "environ")]


def words_of(processes: list[Path]) -> set[str]:
    """The words of their command lines."""
    return set().union(*(strings_of(folder / "cmdline") for folder in processes))


def strings_of(file: Path) -> set[str]:
    """The strings in a file of /proc; none if its process has ended."""
    try:
        return set(file.read_bytes().decode(errors="replace").split("\0"))
    except OSError:
        return set()


def main() -> None:
    """Print the report of a demo that runs its time, or of one that is interrupted."""
    wanted = interrupted if sys.argv[1:] == ["--interrupted"] else run
    with tempfile.TemporaryDirectory(prefix="groupwatch-demo-run-") as temporary:
        sys.stdout.write(json.dumps(wanted(Path(temporary))) + "\n")


if __name__ == "__main__":
    main()

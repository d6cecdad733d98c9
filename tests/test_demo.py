"""The demo as a newcomer and a script run it: a process of its own, real Kafka, real consumers, real Spark."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from monitor.embedded.ports import free_ports
from tests.job_process import Samples, eventually

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(420)]

ROOT = Path(__file__).parents[1]

WATCHED_S = 150
"""As the issue asks: the growth, its orphans and their healing fall inside."""


def demo(port: int, *more: str) -> list[str]:
    """As the README has it: by make, in this checkout."""
    return ["make", "-C", str(ROOT), "demo", "ARGS=" + shlex.join(["--port", str(port), *more])]


def processes_of(session: int) -> list[str]:
    """Command lines of the processes that have this session, or a child session's mark of it, as their origin."""
    found = subprocess.run(["ps", "-eo", "sid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in found.splitlines()]
    # A zombie has ended; that init has not yet asked how is no fault of the demo's.
    return [" ".join(command) for sid, state, *command in rows if sid == str(session) and not state.startswith("Z")]


def listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def read(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except OSError:
        return 0, ""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One unattended run, and what its /metrics showed meanwhile."""
    folder = tmp_path_factory.mktemp("demo")
    summary, log = folder / "summary.json", folder / "demo.log"
    (port,) = free_ports(1)
    orphans: list[float] = []
    with log.open("wb") as output:
        process = subprocess.Popen(
            demo(port, "--duration", str(WATCHED_S), "--json-summary", str(summary)),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        while process.poll() is None:
            if read(port, "/readyz")[0] == 200:
                grew = {"group": "orders", "reason": "grew"}
                value = Samples(read(port, "/metrics")[1]).value("groupwatch_group_orphaned_partitions", **grew)
                if value is not None and (not orphans or orphans[-1] != value):
                    orphans.append(value)
            time.sleep(1)
    assert process.returncode == 0, log.read_text(errors="replace")[-3000:]
    answer: dict[str, Any] = json.loads(summary.read_text())
    return answer | {"orphans_on_metrics": orphans, "port": port, "session": process.pid}


def finding(finished: dict[str, Any], group: str, kind: str, reason: str) -> dict[str, Any] | None:
    (seen,) = [each for each in finished["groups"] if each["group"] == group]
    found = [each for each in seen.get("findings", []) if (each["kind"], each["reason"]) == (kind, reason)]
    return found[0] if found else None


def test_the_metrics_show_the_new_partitions_as_orphans_and_their_return_to_0(finished):
    assert finished["orphans_on_metrics"][0] == 0
    assert 3 in finished["orphans_on_metrics"]
    assert finished["orphans_on_metrics"][-1] == 0


def test_the_summary_tells_growth_orphans_and_healing(finished):
    orphaned = finding(finished, "orders", "orphaned", "grew")
    assert orphaned is not None
    assert orphaned["most"] == 3
    assert orphaned["ended_s"] is not None
    assert "orders" in orphaned["sentence"]
    (grown,) = [h for h in finished["timeline"] if h["what"] == "grow_topic"]
    assert grown["at_ms"] / 1000 - 2 < orphaned["first_s"] < orphaned["ended_s"] < WATCHED_S


def test_the_stuck_consumer_is_told_and_its_lag_rises_and_falls(finished):
    stuck = finding(finished, "reports", "lag", "not_committing")
    assert stuck is not None
    assert stuck["ended_s"] is not None
    (reports,) = [each for each in finished["groups"] if each["group"] == "reports"]
    assert reports["lag_most"] > 100
    assert reports["lag_last"] < reports["lag_most"] / 2


def test_the_healthy_group_has_no_finding(finished):
    (payments,) = [each for each in finished["groups"] if each["group"] == "payments"]
    assert payments.get("findings", []) == []


def test_no_group_drifts_from_what_its_assignor_gives(finished):
    assert [g["group"] for g in finished["groups"] if finding(finished, g["group"], "drift", "replayed")] == []


def test_nothing_is_left_of_it(finished):
    assert processes_of(finished["session"]) == []
    assert not listening(finished["port"])


def test_ctrl_c_while_it_runs_ends_all_of_it(tmp_path: Path):
    (port,) = free_ports(1)
    log = tmp_path / "demo.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            demo(port), stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
        eventually(lambda: read(port, "/readyz")[0] == 200 or process.poll() is not None, "the demo ready")
        before = kafka_and_spark()
        assert before
        os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to everything in the foreground
        process.wait(60)
    assert "Everything has ended" in log.read_text()
    assert "Traceback" not in log.read_text()
    assert processes_of(process.pid) == []
    assert not listening(port)
    eventually(lambda: not (kafka_and_spark() & before), "the end of everything the demo started", 30)


def test_a_taken_port_is_told_at_once():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = subprocess.run(
            demo(port), capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL
        )
    assert ended.returncode == 2
    assert f"Port {port} on 127.0.0.1 is in use" in ended.stderr
    assert "Traceback" not in ended.stderr


def kafka_and_spark() -> set[int]:
    """Processes of brokers, workloads and Spark on this machine."""
    found = subprocess.run(["ps", "-eo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    signs = ("kafka.Kafka", "monitor.embedded", "org.apache.spark", "pyspark.daemon")
    return {int(line.split(None, 1)[0]) for line in found.splitlines() if any(sign in line for sign in signs)}

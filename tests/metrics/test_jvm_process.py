"""The descriptors and threads of another process are told as the system counts them, and nothing where it has ended."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text

from monitor.metrics.process_metrics import ProcessMetrics

FILES, THREADS, LIMIT = 20, 3, 777

PROGRAM = f"""
import resource, sys, threading
resource.setrlimit(resource.RLIMIT_NOFILE, ({LIMIT}, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
files = [open("/dev/null") for _ in range({FILES})]
for _ in range({THREADS}):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
print(flush=True)
sys.stdin.read()
"""


@contextmanager
def busy_process() -> Iterator[subprocess.Popen[bytes]]:
    """A process with three standard streams, FILES more and THREADS beside its own."""
    command = [sys.executable, "-I", "-c", PROGRAM]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process


def told(process: ProcessMetrics) -> dict[str, float]:
    families = read_text(process.text())
    return {s.name: s.value for family in families for s in family.samples if s.name.startswith("groupwatch_jvm_")}


@pytest.fixture
def process() -> ProcessMetrics:
    return ProcessMetrics()


def test_descriptors_with_their_limit_and_threads_are_those_of_the_jvm(process: ProcessMetrics):
    with busy_process() as jvm:
        process.watch_jvm(jvm.pid)
        assert told(process) == {
            "groupwatch_jvm_open_fds": 3 + FILES,
            "groupwatch_jvm_max_fds": LIMIT,
            "groupwatch_jvm_threads": 1 + THREADS,
        }
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] != LIMIT, "the limit is not that of this process"


def test_openmetrics_has_the_same(process: ProcessMetrics):
    with busy_process() as jvm:
        process.watch_jvm(jvm.pid)
        text = process.text(openmetrics=True) + "# EOF\n"
    values = {s.name: s.value for family in read_openmetrics(text) for s in family.samples}
    assert (values["groupwatch_jvm_open_fds"], values["groupwatch_jvm_threads"]) == (3 + FILES, 1 + THREADS)


def test_without_a_jvm_or_after_its_end_nothing_is_told(process: ProcessMetrics):
    assert told(process) == {}
    with busy_process() as jvm:
        process.watch_jvm(jvm.pid)
    assert told(process) == {}
    assert "groupwatch_jvm" not in process.text()

"""What grows is found: by role and in each respect, whatever a single count meets by chance."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.endurance.census import ProcessCount, Role, count_of
from tests.endurance.growth import Allowance, Census, grown

ALLOWED = {
    Role.JVM: Allowance(descriptors=5, sockets=5, threads=5, memory_mb=50),
    Role.WORKER: Allowance(descriptors=0, sockets=0, threads=0, memory_mb=0, processes=1),
}

OPENS_SOCKETS = """
import socket, sys, threading
files = [open("/dev/null") for _ in range(4)]
sockets = [socket.socket() for _ in range(7)]
threading.Thread(target=threading.Event().wait, daemon=True).start()
print(flush=True)
sys.stdin.read()
"""


def counts(sockets: int, workers: int = 2, *, threads: int = 300, memory_mb: int = 900) -> Census:
    jvm = ProcessCount(Role.JVM, 2, 400 + sockets, sockets, threads, memory_mb)
    return (jvm, *(ProcessCount(Role.WORKER, 10 + n, 6, 3, 1, 100) for n in range(workers)))


def test_a_socket_left_by_each_micro_batch_is_found_in_descriptors_and_sockets():
    assert grown([counts(30)], [counts(230)], ALLOWED) == [
        "jvm descriptors: 430 -> 630, and 5 more are allowed",
        "jvm sockets: 30 -> 230, and 5 more are allowed",
    ]


def test_what_stays_or_falls_or_grows_within_its_allowance_is_no_growth():
    assert grown([counts(30)], [counts(35, threads=305, memory_mb=950)], ALLOWED) == []
    assert grown([counts(230)], [counts(30)], ALLOWED) == []


@pytest.mark.parametrize(("more", "respect"), [({"threads": 306}, "threads"), ({"memory_mb": 951}, "memory_mb")])
def test_each_respect_counts_by_itself(more: dict[str, int], respect: str):
    [line] = grown([counts(30)], [counts(30, **more)], ALLOWED)
    assert line.startswith(f"jvm {respect}: ")


def test_one_count_among_several_that_is_far_off_is_chance():
    assert grown([counts(30)] * 3, [counts(30), counts(500), counts(31)], ALLOWED) == []


def test_more_processes_of_a_role_are_growth_too():
    assert grown([counts(30, 2)], [counts(30, 3)], ALLOWED) == []
    assert grown([counts(30, 2)], [counts(30, 4)], ALLOWED) == ["worker processes: 2 -> 4, and 1 more are allowed"]


def test_a_process_is_counted_as_it_is():
    command = [sys.executable, "-I", "-c", OPENS_SOCKETS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = count_of(process.pid, driver=process.pid)
    assert found is not None
    standard = 3
    assert (found.role, found.descriptors, found.sockets, found.threads) == (Role.DRIVER, standard + 4 + 7, 7, 2)
    assert 3 < found.memory_mb < 100
    assert count_of(process.pid, driver=process.pid) is None, "it has ended"

"""Which process is killed, stopped or kept from its disk when: drawn from a seed, then done to a job and a broker."""

from __future__ import annotations

import os
import random
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from monitor.demo.servers.broker import EmbeddedKafka
from streaming_jobs.runtime import worker_daemon
from tests.chaos.disk import Disk
from tests.chaos.load import write_passes_of_tomorrow
from tests.streaming_jobs.runtime.stalling_job import name_of, stop_executor
from tests.support.job_process import JobProcess, eventually, processes_of

CLUSTER: Final = "chaos"
STARTING_S: Final = 12.0
"""About how long a job takes to its first verdict: one that is killed earlier is killed somewhere in its start."""

PATIENCE_S: Final = 300
"""When a job is taken for one that does not come back. No assertion about speed: a busy machine may take long."""


class Victim(StrEnum):
    """Whom kill -9 hits, or what else goes wrong."""

    DRIVER = "driver"
    """The Python process that was started; its JVM notices, and goes as it likes."""
    SESSION = "session"
    """Everything of the job in one moment, as when its machine stops."""
    JVM = "jvm"
    WORKER = "worker"
    """One of the Python workers, in which the buckets are remembered."""
    BROKER = "broker"
    BOTH = "both"
    """The broker and the whole job."""
    FROZEN_JVM = "frozen-jvm"
    """It stands still for a while (SIGSTOP), and goes on."""
    FROZEN_WORKERS = "frozen-workers"
    HUNG_DISK = "hung-disk"
    """What is written to the checkpoint's file system waits, as where a file server is away."""
    FULL_DISK = "full-disk"
    EXECUTOR = "executor"
    """Spark's executor takes no task any more."""
    CLOCK = "clock"
    """A collector elsewhere whose clock is a day ahead writes its passes into the events topic."""


OF_JOB: Final = (Victim.SESSION, Victim.JVM, Victim.DRIVER, Victim.WORKER)
OF_BROKER: Final = (Victim.BROKER, Victim.BOTH)
OTHERS: Final = (
    Victim.CLOCK,
    Victim.FULL_DISK,
    Victim.EXECUTOR,
    Victim.FROZEN_WORKERS,
    Victim.FROZEN_JVM,
    Victim.HUNG_DISK,
)
"""What is no kill, in the order in which a short run has them."""
LONGEST_STANDSTILL_S: Final = 45.0
"""Longer than it takes until micro-batches that do not end are noticed."""


@dataclass(frozen=True)
class Fault:
    """One of them. ``after_s`` counts from the job's last start if it is to be hit while starting, else from readiness.

    ``down_s`` is for how long the broker is away, or the victim stands still.
    """

    victim: Victim
    starting: bool
    after_s: float
    down_s: float


def plan(seed: int, kills: int, others: int) -> list[Fault]:
    """So many kills, of which every fourth hits the broker, and so many other faults, in an order of chance."""
    chance = random.Random(seed)
    of_broker = max(1, kills // 4)
    victims = [*islice(cycle(OF_BROKER), of_broker), *islice(cycle(OF_JOB), kills - of_broker)]
    victims += islice(cycle(OTHERS), others)
    chance.shuffle(victims)
    return [_fault(chance, victim) for victim in victims]


def _fault(chance: random.Random, victim: Victim) -> Fault:
    starting = victim in (Victim.DRIVER, Victim.SESSION, *OF_BROKER) and chance.random() < 0.3
    longest_s = LONGEST_STANDSTILL_S if victim in OTHERS else 2.0
    return Fault(victim, starting, chance.uniform(0, STARTING_S if starting else 3.0), chance.uniform(0, longest_s))


@dataclass
class Havoc:
    """A job and its broker, to which faults happen."""

    job: JobProcess
    kafka: EmbeddedKafka
    disk: Disk | None = None
    started: float = 0.0

    def start_job(self) -> None:
        self.started = time.monotonic()
        self.job.start()

    def happen(self, fault: Fault) -> None:
        """Wait for the fault's moment, kill, and start again what does not come back by itself."""
        if not fault.starting:
            await_evaluation(self, time.time())
        since = self.started if fault.starting else time.monotonic()
        time.sleep(max(0.0, since + fault.after_s - time.monotonic()))  # a random moment is what is asked for
        if fault.victim in OF_BROKER:
            self._lose_broker(fault)
        elif fault.victim in OTHERS:
            self._disturb(fault)
        else:
            self._lose_job(fault.victim)

    def _disturb(self, fault: Fault) -> None:
        match fault.victim:
            case Victim.FROZEN_JVM:
                self._freeze(some(self.job.session, "java"), fault.down_s)
            case Victim.FROZEN_WORKERS:
                self._freeze(some(self.job.session, f"-m {worker_daemon.__name__}"), fault.down_s)
            case Victim.EXECUTOR:
                stop_executor(self.job)
                self._restart()
            case Victim.CLOCK:
                write_passes_of_tomorrow(self.kafka.bootstrap_servers)
            case Victim.FULL_DISK if self.disk is not None:
                with self.disk.full():
                    time.sleep(fault.down_s)
            case Victim.HUNG_DISK if self.disk is not None:
                with self.disk.frozen():
                    time.sleep(fault.down_s)

    def _freeze(self, pids: list[int], seconds: float) -> None:
        """The JVM names the workers' module in its command line, so it comes first, and is left alone."""
        pids = [pid for pid in pids if name_of(pid) == "java"] or pids
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        for pid in pids:
            with suppress(ProcessLookupError):  # the job has given it up meanwhile
                os.kill(pid, signal.SIGCONT)

    def _lose_broker(self, fault: Fault) -> None:
        self.kafka.kill()
        if fault.victim is Victim.BOTH:
            kill_all(processes_of(self.job.session))
        time.sleep(fault.down_s)
        self.kafka.start()
        if fault.victim is Victim.BOTH:
            self._restart()

    def _lose_job(self, victim: Victim) -> None:
        if victim is Victim.DRIVER:
            self.job.kill_9()
        elif victim is Victim.SESSION:
            kill_all(processes_of(self.job.session))
        elif victim is Victim.JVM:
            kill_all(some(self.job.session, "java"))
        else:
            kill_all(some(self.job.session, f"-m {worker_daemon.__name__}")[-1:])  # the JVM names it, too
        if victim in (Victim.DRIVER, Victim.SESSION):
            self._restart()

    def _restart(self) -> None:
        self.job.wait()
        eventually(lambda: not processes_of(self.job.session), "the end of all processes of the job")
        self.start_job()


def await_evaluation(havoc: Havoc, since: float) -> float:
    """When groups were judged for the first time after this moment. A job that gave up is started, as by a service."""

    def look() -> float | None:
        if havoc.job.ended:
            eventually(lambda: not processes_of(havoc.job.session), "the end of the JVM")
            havoc.start_job()
        with suppress(OSError):
            judged = havoc.job.metrics().value("groupwatch_last_evaluation_timestamp_seconds", cluster=CLUSTER)
            return judged if judged is not None and judged > since else None
        return None

    return eventually(look, f"an evaluation; see {havoc.job.log_file}", PATIENCE_S, pause_s=0.5)


def kill_all(pids: list[int]) -> None:
    """Kill -9 them."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def some(session: int, word: str) -> list[int]:
    """The processes of a session with this in their command line, oldest first; at least one."""
    found = []
    for pid in sorted(processes_of(session)):
        with suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if word in command:
                found.append(pid)
    assert found, f"no process of the job has {word} in its command line: nothing would be killed"
    return found

"""Which process is killed when: drawn from a seed, then done to a job and a broker that run."""

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

from monitor.embedded.broker import EmbeddedKafka
from streaming_jobs import worker_daemon
from tests.job_process import JobProcess, eventually, processes_of

CLUSTER: Final = "chaos"
STARTING_S: Final = 12.0
"""About how long a job takes to its first verdict: one that is killed earlier is killed somewhere in its start."""

PATIENCE_S: Final = 300
"""When a job is taken for one that does not come back. No assertion about speed: a busy machine may take long."""


class Victim(StrEnum):
    """Whom kill -9 hits."""

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


OF_JOB: Final = (Victim.SESSION, Victim.JVM, Victim.DRIVER, Victim.WORKER)
OF_BROKER: Final = (Victim.BROKER, Victim.BOTH)


@dataclass(frozen=True)
class Fault:
    """One kill. ``after_s`` counts from the job's last start if it is to be hit while starting, else from readiness."""

    victim: Victim
    starting: bool
    after_s: float
    down_s: float


def plan(seed: int, kills: int) -> list[Fault]:
    """So many faults, of which every fourth hits the broker, in an order of chance."""
    chance = random.Random(seed)
    of_broker = max(1, kills // 4)
    victims = [*islice(cycle(OF_BROKER), of_broker), *islice(cycle(OF_JOB), kills - of_broker)]
    chance.shuffle(victims)
    return [_fault(chance, victim) for victim in victims]


def _fault(chance: random.Random, victim: Victim) -> Fault:
    starting = victim not in (Victim.JVM, Victim.WORKER) and chance.random() < 0.3
    return Fault(victim, starting, chance.uniform(0, STARTING_S if starting else 3.0), chance.uniform(0, 2.0))


@dataclass
class Havoc:
    """A job and its broker, to which faults happen."""

    job: JobProcess
    kafka: EmbeddedKafka
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
        else:
            self._lose_job(fault.victim)

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

    return eventually(look, f"an evaluation; see {havoc.job.log_file}", PATIENCE_S)


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

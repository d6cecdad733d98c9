"""Is told what real consumers did not read? ``python -m tests.skips.run [--seed 7] [--runs 200] [--healthy 150]``.

Many groups beside one another, each with a topic and a scenario of its own, read by Java's client (both protocols),
librdkafka and kafka-python. Each consumer notes all offsets that it reads: that decides what was skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, suppress
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

from kafka.admin import KafkaAdminClient

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.model import Value
from tests.scenarios.hearing import IDLE_S
from tests.skips.logs import CLIENTS, Fleet, Hearing, Passes
from tests.skips.outcome import LATEST_MS, Outcome, outcome_of, violations
from tests.skips.play import Kit, Play
from tests.skips.scenarios import BY_NAME, EXACTLY_ONCE, SCENARIOS, Scenario
from tests.skips.table import table_of
from tests.support.clients import commit, create_topic
from tests.support.job_process import JobProcess
from tests.support.progress import exit_code, say
from tests.support.without_spark import JobWithoutSpark

CLUSTER: Final = "skips"
BROKER: Final = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.heartbeat.interval.ms": "1000",
    "group.consumer.min.heartbeat.interval.ms": "1000",
}
START_S: Final = 400
"""On a busy machine the start of a job takes minutes."""
BESIDE: Final = 12
"""So many runs at a time."""
SMALLEST: Final = 50
LARGEST: Final = 20_000
WITH_TRANSACTIONS: Final = ("java", "java-848")


class Planned(Value):
    """A run that is to come."""

    name: str
    scenario: Scenario
    client: str
    size: int
    seed: int


class Plan:
    """The runs of a seed: each client in turn, sizes by chance."""

    def __init__(self, seed: int, clients: Sequence[str] = CLIENTS, smallest: int = SMALLEST) -> None:
        self._chance, self._clients, self._smallest = random.Random(seed), clients, smallest
        self.runs: list[Planned] = []

    def add(self, scenarios: Iterable[Scenario]) -> None:
        """One run of each."""
        for scenario in scenarios:
            number, size = len(self.runs), LARGEST / self._smallest
            clients = WITH_TRANSACTIONS if scenario is EXACTLY_ONCE else self._clients
            client = clients[(number + number // len(clients)) % len(clients)]
            name = f"{number:03d}.{scenario.name}.{client}"
            size = round(self._smallest * size ** self._chance.random())
            self.runs.append(Planned(name, scenario, client, size, self._chance.randrange(10**9)))

    def in_order(self) -> list[Planned]:
        """Those that take long come first, the others by chance."""
        shuffled = self._chance.sample(self.runs, len(self.runs))
        return sorted(shuffled, key=lambda run: run.scenario is not EXACTLY_ONCE)


def planned(seed: int, runs: int, healthy: int, exactly_once: int) -> Plan:
    """So many runs of groups that skip, of healthy ones, and of applications with transactions."""
    plan = Plan(seed)
    for is_healthy, count in ((False, runs), (True, healthy)):
        deck = [each for each in SCENARIOS for _ in range(each.share) if each.is_healthy is is_healthy]
        plan.add(sorted(islice(cycle(deck), count), key=lambda scenario: scenario.name))
    plan.add([EXACTLY_ONCE] * exactly_once)
    return plan


def run(plan: Plan, folder: Path, new_job: type[JobProcess] = JobProcess) -> tuple[list[Outcome], int]:
    """What came of all runs, and how late something may be told at most (ms)."""
    settings = BrokerSettings(heap_mb=1024, offsets_topic_partitions=4, properties=BROKER)
    with ExitStack() as stack:
        kafka = stack.enter_context(EmbeddedKafka(settings, data_dir=folder / "kafka"))
        bootstrap = kafka.bootstrap_servers
        create_topic(bootstrap, "first", 1)
        commit(bootstrap, "first", "first", {0: 0})  # the offsets topic exists from now on
        clusters = {CLUSTER: {"bootstrap_servers": bootstrap, "collect_interval_s": 1.0}}
        job = stack.enter_context(new_job(folder, clusters))
        fleet = stack.enter_context(Fleet(bootstrap, CLIENTS))
        client = KafkaAdminClient(bootstrap_servers=bootstrap)
        stack.callback(client.close)
        job.await_ready(START_S)
        hearing = stack.enter_context(Hearing(bootstrap))
        passes = stack.enter_context(Passes(job))
        say("the job is ready")
        outcomes = runs_of(plan, Kit(fleet, hearing, job, client, CLUSTER, folder))
        gaps = {what: passes.longest_s(what) for what in ("catalog", "last_evaluation")}
        for what, gap_s in gaps.items():
            say(f"{what}: at most {gap_s:.1f} s apart")
        late_s = sum(max(0.0, gap_s - IDLE_S) for gap_s in gaps.values())
        return outcomes, LATEST_MS + round(late_s * 1_000)


def runs_of(plan: Plan, kit: Kit) -> list[Outcome]:
    """Play all, and look at all of them again in the end."""
    began = time.monotonic()
    runs = plan.in_order()
    steady = sum(each.scenario is EXACTLY_ONCE for each in runs)
    plays = []
    with ThreadPoolExecutor(max(1, steady)) as beside, ThreadPoolExecutor(BESIDE) as pool:
        pools = [beside if each.scenario is EXACTLY_ONCE else pool for each in runs]
        playing = [each.submit(_play, kit, run) for each, run in zip(pools, runs, strict=True)]
        for number, each in enumerate(as_completed(playing), 1):
            plays.append(each.result())
            if number % 20 == 0:
                say(f"{number} of {len(runs)} runs, {time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f}")
    return [outcome_of(*play) for play in plays]


def _play(kit: Kit, run: Planned) -> tuple[Scenario, Play, str]:
    """A client may hang on a busy machine (kafka-python does): then the same is played once more, by a new group."""
    play, error = _try(kit, run, run.name)
    if error:
        say(f"{run.name} is played again: {error[:300]}")
        play, error = _try(kit, run, f"{run.name}.again")
    return run.scenario, play, error


def _try(kit: Kit, run: Planned, name: str) -> tuple[Play, str]:
    play, error = Play(kit, name, run.client, run.size, random.Random(run.seed)), ""
    try:
        run.scenario.act(play)
        play.await_told()
        play.close()
    except Exception as failed:
        error = f"{type(failed).__name__}: {failed}"
        with suppress(OSError):  # the process of all consumers has ended
            play.leave()
    play.keep()
    return play, error


def main() -> int:
    """Print a table and a report in JSON; 1 if a demand was violated."""
    options = _options()
    folder = Path(tempfile.mkdtemp(prefix="groupwatch-skips-"))
    plan = planned(options.seed, options.runs, options.healthy, options.exactly_once)
    if options.only:
        plan = Plan(options.seed, options.clients or CLIENTS)
        plan.add(islice(cycle(BY_NAME[name] for name in options.only), options.runs))
    say(f"seed {options.seed}, {len(plan.runs)} runs; logs in {folder}")
    outcomes, latest_ms = run(plan, folder, JobWithoutSpark if options.without_spark else JobProcess)
    sys.stdout.write(table_of(outcomes))
    found = violations(outcomes, latest_ms)
    for line in found:
        say(f"VIOLATED {line}")
    sys.stdout.write(json.dumps(report(options.seed, outcomes, found)) + "\n")
    return exit_code(folder, found)


def report(seed: int, outcomes: Sequence[Outcome], found: Sequence[str]) -> dict[str, Any]:
    """What was seen, as JSON has it."""
    return {"seed": seed, "violations": list(found), "runs": [outcome.as_json() for outcome in outcomes]}


def _options() -> Any:
    parser = argparse.ArgumentParser(prog="python -m tests.skips.run", description=__doc__)
    parser.add_argument("--seed", type=int, default=None, help="anything; random if not given")
    parser.add_argument("--runs", type=int, default=200, help="of groups that skip records (200)")
    parser.add_argument("--healthy", type=int, default=220, help="of groups that skip none (220)")
    parser.add_argument("--exactly-once", type=int, default=50, help="applications with transactions beside (50)")
    parser.add_argument("--only", nargs="+", choices=[*BY_NAME], help="RUNS of these scenarios instead")
    parser.add_argument("--clients", nargs="+", choices=CLIENTS, help="of these; all by default")
    parser.add_argument("--without-spark", action="store_true", help="beside a job whose Spark is played")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = secrets.randbelow(10**6)
    return options


if __name__ == "__main__":
    sys.exit(main())

"""``python -m tests.autoscaling.run --load step``: one load on several deployments at once, each scaled in its own way.

Each variant has its own topic, group and pods on one broker. All samples and sums go to a file of JSON, one object for
each load; what it has of other loads stays. Ends with 1 if groupwatch was there and did not win.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.autoscaling.loads import LOADS, MINUTES, PARTITIONS, POISONED_PARTITION, Fault, Incident, Load
from tests.autoscaling.loop import Loop, Variant, variant_of
from tests.autoscaling.outcome import Sample, compared, cost
from tests.autoscaling.sources import GroupwatchApi, KedaLag, MetricSource, knows_capacity
from tests.autoscaling.times import CAPACITY, DOWN_AFTER_S, FASTER, TARGET_S
from tests.autoscaling.workers import Worker
from tests.autoscaling.world import BUSY_S, CLUSTER, World, nothing, scale_row, world
from tests.support.job_process import eventually

DEFAULT_VARIANTS: Final = ("groupwatch", "keda-100", "keda-500", "keda-2000", "keda-500-even", "keda-500-withlag")
FIRST_LOAD: Final = 0.8
"""The pods of the beginning are so busy."""


class Incidents(Worker):
    """Does what a load has besides records, when it is due."""

    def __init__(self, world: World, topics: Sequence[str], incidents: Sequence[Incident], duration_s: float) -> None:
        super().__init__()
        self._world, self._topics = world, topics
        self._due: list[tuple[float, Callable[[], None]]] = []
        for each in incidents:
            begin, end = self._acts(each.fault)
            self._due += [(each.since * duration_s, begin), (each.until * duration_s, end)]

    def _work(self) -> None:
        started_s = time.monotonic()
        for at_s, act in sorted(self._due, key=lambda each: each[0]):
            if self._stopping.wait(max(0.0, started_s + at_s - time.monotonic())):
                return
            act()

    def _acts(self, fault: Fault) -> tuple[Callable[[], None], Callable[[], None]]:
        match fault:
            case Fault.POISON:
                return self._poison, self._cure
            case Fault.BROKER:
                return self._world.kafka.stop, self._world.kafka.start
            case Fault.GROUPWATCH:
                return self._stop_job, self._start_job

    def _poison(self) -> None:
        for topic in self._topics:
            self._world.writer.poison(topic, POISONED_PARTITION)

    def _cure(self) -> None:
        for topic in self._topics:
            self._world.fleet.cure(topic)

    def _stop_job(self) -> None:
        if self._world.job is not None:
            self._world.job.stop()

    def _start_job(self) -> None:
        if self._world.job is not None:
            self._world.job.start()


def play(
    load: Load, variants: Sequence[Variant], duration_s: float, folder: Path, down_after_s: float = DOWN_AFTER_S
) -> dict[str, Any]:
    """The load on all variants at once; what is written to the file. ``down_after_s`` is that of groupwatch's entry."""
    with_job = any(each.trigger is None for each in variants)
    rows = [scale_row(group_of(load, each), PARTITIONS, down_after_s=waits_of(each, down_after_s)) for each in variants]
    with world(folder, rows, with_job=with_job, starts_job=False) as kit:
        loops = [loop_of(kit, load, each) for each in variants]
        for each in loops:
            each.deployment.await_owners(each.deployment.replicas)
        prime(kit, load, loops)
        started_s = time.monotonic()
        for each in loops:
            kit.writer.change(each.deployment.topic, lambda now_s: load.rates((now_s - started_s) / duration_s))
        topics = [each.deployment.topic for each in loops]
        with Incidents(kit, topics, load.incidents, duration_s) as incidents:
            samples = followed(kit, loops, load, duration_s)
        incidents.check()
        failures = kit.fleet.failures()
    return report(load, samples, duration_s) | {"failures": failures}


def prime(kit: World, load: Load, loops: Sequence[Loop]) -> None:
    """Have groupwatch see how fast the pods read: of a group that has run for a day, it has.

    The backlog was there before groupwatch: what comes in while it watches are only the rates of the load.
    """
    kit.start_job()
    kit.go_on([each.deployment for each in loops], lambda _: load.rates(0.0))
    for each in loops:
        if each.variant.trigger is None:
            kit.show_capacity(each.deployment, partial(knows_capacity, each.source), lambda _: load.rates(0.0))
            eventually(partial(is_known, each), "a number for the first load", 2 * DOWN_AFTER_S + 60)


def is_known(loop: Loop) -> bool:
    """Whether groupwatch has a number, holds none, and waits for no lower one."""
    signal = loop.source.signal()
    return signal.metric is not None and not signal.hold and not signal.will_fall


def group_of(load: Load, variant: Variant) -> str:
    """The name of a variant's group, and of its topic."""
    return f"{load.name}-{variant.name}"


def waits_of(variant: Variant, usual_s: float) -> float:
    """``down_after_s`` of a variant's entry, as fast as the run."""
    return usual_s if variant.down_after_s is None else variant.down_after_s / FASTER


def loop_of(kit: World, load: Load, variant: Variant) -> Loop:
    """The pods of a variant, and the autoscaler that will scale them."""
    group = group_of(load, variant)
    first = load.rates(0.0)
    replicas = math.ceil(sum(first) / (FIRST_LOAD * CAPACITY))
    deployment = kit.deploy(group, PARTITIONS, replicas, nothing, backlog_s=BUSY_S)
    source: MetricSource
    if variant.trigger is None:
        assert kit.job is not None
        source = GroupwatchApi(kit.job.url, CLUSTER, group)
    else:
        source = KedaLag(variant.trigger, lambda: kit.offsets.fresh(group))
    return Loop(variant, source, deployment)


def followed(kit: World, loops: Sequence[Loop], load: Load, duration_s: float) -> dict[str, list[Sample]]:
    """Let the loops work for so long, and take a sample of each a second."""
    samples: dict[str, list[Sample]] = {each.variant.name: [] for each in loops}
    started_s = time.monotonic()
    clock = threading.Event()
    with ThreadPoolExecutor(len(loops)) as pool:
        second = 0
        while (now_s := time.monotonic() - started_s) < duration_s:
            kit.check()
            list(pool.map(lambda each, at_s=now_s: each.tick(at_s), loops))
            for each in loops:
                samples[each.variant.name].append(sample(kit, each, load, now_s, duration_s))
            second = max(second + 1, int(now_s))
            clock.wait(max(0.0, started_s + second - time.monotonic()))
    return samples


def sample(kit: World, loop: Loop, load: Load, at_s: float, duration_s: float) -> Sample:
    """A deployment now."""
    group, signal = loop.deployment.group, loop.signal
    ledger = kit.writer.ledgers[loop.deployment.topic]
    known = kit.offsets.newest(group)
    committed = known.committed if known else {}
    oldest_s = ledger.oldest_unread_s(committed)
    return Sample(
        at_s=round(at_s, 2),
        replicas=loop.deployment.replicas,
        owners=kit.fleet.owners(group),
        wanted=loop.wanted,
        age_s=0.0 if oldest_s is None else round(time.monotonic() - oldest_s, 2),
        lag=ledger.lag(committed),
        generation=kit.fleet.generation(group),
        deaths=kit.fleet.deaths(group),
        hold=signal.hold,
        reason=signal.reason,
        status=signal.status,
        produced_per_s=round(sum(load.rates(at_s / duration_s)), 1),
    )


def report(load: Load, samples: dict[str, list[Sample]], duration_s: float) -> dict[str, Any]:
    """The sums and samples of all variants, and the comparison if groupwatch and KEDA are among them."""
    costs = {name: cost(each, TARGET_S) for name, each in samples.items()}
    keda = {name: each for name, each in costs.items() if name.startswith("keda")}
    found = {name: compared(each, keda) for name, each in costs.items() if name not in keda and keda}
    return {
        "load": load.name,
        "duration_s": duration_s,
        "faster": FASTER,
        "target_s": TARGET_S,
        "incidents": [
            {"fault": str(each.fault), "from_s": each.since * duration_s, "until_s": each.until * duration_s}
            for each in load.incidents
        ],
        "comparisons": {name: asdict(each) | {"won": each.is_won} for name, each in found.items()},
        "costs": {name: asdict(each) for name, each in costs.items()},
        "samples": {name: [asdict(each) for each in taken] for name, taken in samples.items()},
    }


def table(found: dict[str, Any]) -> str:
    """The sums of a load, a line for each variant."""
    lines = [f"{found['load']}, {found['duration_s']:.0f} s, target {found['target_s']:.0f} s"]
    for name, each in found["costs"].items():
        lines.append(
            f"  {name:22} above {each['above_target_s']:6.1f} s, oldest {each['oldest_s']:6.1f} s, "
            f"rebalances {each['rebalances']:3}, consumer-min {each['consumer_s'] / 60:6.1f}, "
            f"changes {each['changes']:3}, deaths {each['deaths']:2}, hold {each['holds_s']:5.0f} s, "
            f"no number {each['unknown_s']:5.0f} s"
        )
    lines += [f"  {name} beside {each['best']}: {each}" for name, each in found["comparisons"].items()]
    return "\n".join(lines)


def save(found: dict[str, Any], file: Path) -> None:
    """Put a load into the file; the other loads in it stay."""
    file.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    file.write_text(json.dumps(known | {found["load"]: found}) + "\n", encoding="utf-8")


def main() -> None:
    """Play the chosen loads, one after the other."""
    parser = argparse.ArgumentParser(prog="python -m tests.autoscaling.run", description=__doc__)
    parser.add_argument("--load", nargs="+", default=["step"], choices=[*LOADS, "all"])
    parser.add_argument("--variants", nargs="+", default=DEFAULT_VARIANTS, type=str)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of each load; less has steeper loads")
    parser.add_argument("--json", type=Path, default=Path("build/autoscaling.json"))
    chosen = parser.parse_args()
    names = [*LOADS] if "all" in chosen.load else chosen.load
    won = []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="groupwatch-autoscaling-") as folder:
            found = play(LOADS[name], [*map(variant_of, chosen.variants)], 60 * chosen.minutes, Path(folder))
        save(found, chosen.json)
        print(table(found), flush=True)  # noqa: T201
        won += [each["won"] for each in found["comparisons"].values()]
    sys.exit(not all(won))


if __name__ == "__main__":
    main()

"""``python -m tests.autoscaling.drains --runs 60``: how long a backlog takes, forecast and measured.

A backlog gathers while a group has no pod or one; then it gets two to four. The first ``drain_s`` of the API is the
forecast. Measured is how long it took from then until the group had no lag. A forecast is good within 25 %.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tests.autoscaling.consumers import Assignor
from tests.autoscaling.loads import PARTITIONS, weights
from tests.autoscaling.sources import GroupwatchApi
from tests.autoscaling.times import CAPACITY
from tests.autoscaling.world import CLUSTER, World, scale_row, world
from tests.support.job_process import eventually

SKEWS: Final = {"even": 0.0, "skewed": 0.7}
"""The exponent of ``weights``: with 0.7, the first of twelve partitions has 23 % of all records, the last 4 %."""

BACKLOG_S: Final = 150.0
"""The backlog is so many seconds of work for the pods that will read it, if they share it evenly."""

TOLD_AFTER_S: Final = 5.0
"""groupwatch has no number of a group that it has not known for so long, and then no forecast in its API."""

INFLOW: Final = 0.2
"""So much of what the pods can read keeps coming."""

GATHER_S: Final = 8.0
"""How long the backlog is seen without its pods: each poll of the job's collector takes a second."""

NO_LAG_S: Final = 2.5
"""A group whose oldest unread record is younger has no lag: records keep coming, and it commits each second."""

WITHIN: Final = 0.25
ENOUGH: Final = 0.8
LONGEST_S: Final = 600.0
SOONEST_S: Final = 5.0
"""The first forecast counts that comes so long after all pods own partitions: two commits of each, and more."""


@dataclass(frozen=True)
class Drain:
    """One run."""

    number: int
    assignor: Assignor
    skew: str
    pods: int
    from_nothing: bool
    """Whether the group has no pod while the backlog gathers."""

    @property
    def group(self) -> str:
        """Its name, and that of its topic."""
        return f"drain-{self.number}-{self.assignor}-{self.skew}"


@dataclass(frozen=True)
class Forecast:
    """What the API said at a moment after the pods were there (s), and how long it really took from then on."""

    at_s: float
    drain_s: float
    measured_s: float

    @property
    def error(self) -> float:
        """By which part of the measured time the forecast is wrong; a negative one is too short."""
        return self.drain_s / self.measured_s - 1 if self.measured_s > 0 else 0.0


@dataclass(frozen=True)
class Drained:
    """What became of a run. The first forecast counts; there is none if the API gave no ``drain_s``."""

    drain: Drain
    lag: int
    """When all pods owned partitions."""
    took_s: float
    """From then until there was no lag."""
    forecasts: tuple[Forecast, ...]
    reason: str

    @property
    def is_good(self) -> bool:
        """Whether the first forecast is within 25 %."""
        return bool(self.forecasts) and abs(self.forecasts[0].error) <= WITHIN


def all_drains(runs: int) -> list[Drain]:
    """The combinations of assignor and skew in turn, with two to four pods, from nothing or from one pod."""
    combinations = itertools.cycle(itertools.product(Assignor, SKEWS))
    sizes = itertools.cycle(itertools.product((2, 3, 4), (True, False)))
    each_size = (size for size in sizes for _ in range(len(Assignor) * len(SKEWS)))
    chosen = zip(range(runs), combinations, each_size, strict=False)
    return [Drain(number, *combination, *size) for number, combination, size in chosen]


def play(kit: World, drain: Drain) -> Drained:
    """Let the backlog gather, start the pods, and follow the lag to its end."""
    shares = weights(PARTITIONS, SKEWS[drain.skew])
    capacity = drain.pods * CAPACITY
    inflow = [INFLOW * capacity * share for share in shares]
    deployment = kit.deploy(drain.group, PARTITIONS, 0 if drain.from_nothing else 1, lambda _: inflow, drain.assignor)
    try:
        kit.writer.burst(drain.group, [int(BACKLOG_S * capacity * share) for share in shares])
        await_offsets(kit, drain.group)
        time.sleep(GATHER_S)  # a group that is away for a while is what is asked for
        deployment.scale(drain.pods)
        deployment.await_owners(drain.pods)
        return followed(kit, drain)
    finally:
        kit.retire(deployment)
        deployment.await_owners(0)


def await_offsets(kit: World, group: str) -> None:
    """Until the broker has the backlog."""
    kit.writer.flush()
    eventually(lambda: kit.offsets.newest(group), f"the offsets of {group}", 60)


def followed(kit: World, drain: Drain) -> Drained:
    """Ask the API each second until there is no lag."""
    api = GroupwatchApi(kit.job.url, CLUSTER, drain.group) if kit.job else None
    started_s, lag = time.monotonic(), kit.lag(drain.group)
    asked: list[tuple[float, float]] = []
    reason = ""

    def is_gone() -> bool:
        nonlocal reason
        at_s = time.monotonic() - started_s
        if api is not None:
            signal = api.signal()
            reason = signal.reason
            if signal.drain_s is not None and at_s >= SOONEST_S:
                asked.append((at_s, signal.drain_s))
        assert at_s < LONGEST_S, f"{drain.group} has lag after {LONGEST_S} s"
        return age_s(kit, drain.group) < NO_LAG_S

    eventually(is_gone, f"no lag in {drain.group}", LONGEST_S, pause_s=1.0)
    took_s = time.monotonic() - started_s
    forecasts = tuple(Forecast(round(at, 1), round(told, 1), round(took_s - at, 1)) for at, told in asked)
    return Drained(drain, lag, round(took_s, 1), forecasts, reason)


def age_s(kit: World, group: str) -> float:
    """How old the oldest unread record of the group is."""
    known = kit.offsets.newest(group)
    oldest_s = kit.writer.ledgers[group].oldest_unread_s(known.committed if known else {})
    return 0.0 if oldest_s is None else time.monotonic() - oldest_s


def run(drains: Sequence[Drain], folder: Path, at_once: int, *, with_job: bool = True) -> list[Drained]:
    """Play them, some at once."""
    with (
        world(folder, [scale_row("drain-.*", PARTITIONS, down_after_s=TOLD_AFTER_S)], with_job=with_job) as kit,
        ThreadPoolExecutor(at_once) as players,
    ):
        return list(players.map(lambda each: _printed(play(kit, each)), drains))


def _printed(drained: Drained) -> Drained:
    drain = drained.drain
    first = drained.forecasts[0] if drained.forecasts else None
    told = f"{first.drain_s:.0f} s, {100 * first.error:+.0f} %" if first else f"none: {drained.reason[:60]}"
    sign = "ok " if drained.is_good else "BAD"
    how = f"{drain.assignor:7} {drain.skew:7} {drain.pods} pods, {'from 0' if drain.from_nothing else 'from 1'}"
    took = f"{first.measured_s if first else drained.took_s:.0f} s"
    print(f"{sign} {drain.number:3} {how}: lag {drained.lag:6}, took {took}, forecast {told}", flush=True)  # noqa: T201
    return drained


def report(found: Sequence[Drained]) -> dict[str, Any]:
    """What goes into the file."""
    good = sum(each.is_good for each in found)
    return {
        "runs": [asdict(each) | {"good": each.is_good} for each in found],
        "good": good,
        "of": len(found),
        "enough": good >= ENOUGH * len(found),
    }


def main() -> None:
    """Play and report; 1 if too few forecasts are good."""
    parser = argparse.ArgumentParser(prog="python -m tests.autoscaling.drains", description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--assignor", choices=[each.value for each in Assignor], help="only these runs")
    parser.add_argument("--skew", choices=SKEWS, help="only these runs")
    parser.add_argument("--without-job", action="store_true", help="measure only")
    parser.add_argument("--json", type=Path, default=Path("build/autoscaling-drains.json"))
    chosen = parser.parse_args()
    drains = [
        each
        for each in all_drains(chosen.runs)
        if chosen.assignor in (None, each.assignor) and chosen.skew in (None, each.skew)
    ]
    with tempfile.TemporaryDirectory(prefix="groupwatch-drains-") as folder:
        found = run(drains, Path(folder), chosen.at_once, with_job=not chosen.without_job)
    reported = report(found)
    chosen.json.parent.mkdir(parents=True, exist_ok=True)
    chosen.json.write_text(json.dumps(reported, indent=1) + "\n", encoding="utf-8")
    print(f"{reported['good']} of {reported['of']} within {WITHIN:.0%}")  # noqa: T201
    sys.exit(not reported["enough"])


if __name__ == "__main__":
    main()

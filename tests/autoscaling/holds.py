"""``python -m tests.autoscaling.holds``: hot keys and poison, of which each has to be held, and outages.

During all of them, no number may be lower than before. A hot partition gets more than its reader can read, and a
poisoned record kills its reader: more pods help neither. In an outage, data is missing: the broker stands still, or the
collector that polls the topics does, while members read and commit on.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.autoscaling.consumers import Deployment
from tests.autoscaling.loads import PARTITIONS
from tests.autoscaling.sources import GroupwatchApi, knows_capacity
from tests.autoscaling.times import CAPACITY
from tests.autoscaling.world import CLUSTER, World, go_on, pause, scale_row, world
from tests.support.job_process import eventually, processes_of

EACH_S: Final = 0.5
"""The API is asked so often."""

STEADY_S: Final = 15.0
"""The number before is one that has been the same for so long."""

HOLD_LIMIT_S: Final = 90.0
"""A hold that comes later does not count."""

OUTAGE_S: Final = 45.0
"""Longer than the 30 s after which an evaluation is stale."""

AFTER_S: Final = 20.0
"""How long the numbers after the end of an outage still count: the first complete data may come late."""

DOWN_AFTER_S: Final = 10.0
"""``down_after_s`` of these runs: a number that should be held and is not falls soon."""

PODS: Final = 3
BUSY: Final = 0.7
"""The pods of a run can read more than what comes: they use so much of their time."""

MOST: Final = 10
AS_USUAL: Final = 0.1
"""So near to the even rates is what groupwatch knows of them: neither the burst nor the time without records counts."""


class Trouble(StrEnum):
    """What happens to a group."""

    HOT_KEY = "a partition gets more than its reader can read"
    POISON = "a record kills its reader"
    BROKER = "the broker stands still"
    COLLECTOR = "the poll of the topics stands still"


HOLDS: Final[dict[Trouble, frozenset[str]]] = {
    Trouble.HOT_KEY: frozenset({"partition"}),
    Trouble.POISON: frozenset({"record", "owner", "rebalance", "settling"}),
    Trouble.BROKER: frozenset(),
    Trouble.COLLECTOR: frozenset(),
}
"""What has to hold the number. The reader of a poisoned record dies, and is started again and again."""


@dataclass(frozen=True)
class Number:
    """What the API said at a moment after the trouble began; ``wanted`` None: no number."""

    at_s: float
    wanted: float | None
    hold: str
    reason: str
    status: int | None


@dataclass(frozen=True)
class Held:
    """What became of a run."""

    number: int
    group: str
    trouble: Trouble
    before: float
    numbers: tuple[Number, ...]

    @property
    def lowest(self) -> float | None:
        """Of all numbers from the begin of the trouble on."""
        return min((each.wanted for each in self.numbers if each.wanted is not None), default=None)

    @property
    def held_s(self) -> float | None:
        """When the first hold came that the trouble is for; None: never."""
        return next((each.at_s for each in self.numbers if each.hold in HOLDS[self.trouble]), None)

    @property
    def is_right(self) -> bool:
        """No number is lower than before, and a hot key or poison is held in time."""
        is_lower = self.lowest is not None and self.lowest < self.before
        return not is_lower and (not HOLDS[self.trouble] or self.held_s is not None)


@dataclass(frozen=True)
class Scene:
    """A group with its pods, of which the API knows a number."""

    kit: World
    deployment: Deployment
    api: GroupwatchApi

    @property
    def group(self) -> str:
        """Its name, and that of its topic."""
        return self.deployment.group


def staged(kit: World, group: str) -> Scene:
    """A new group in good order. Its number is awaited later."""
    assert kit.job is not None
    rates = even_rates()
    deployment = kit.deploy(group, PARTITIONS, PODS, lambda _: rates)
    deployment.await_owners(PODS)
    api = GroupwatchApi(kit.job.url, CLUSTER, group)
    kit.show_capacity(deployment, lambda: knows_capacity(api), lambda _: rates)
    return Scene(kit, deployment, api)


def even_rates() -> list[float]:
    """What keeps the pods busy."""
    return [BUSY * PODS * CAPACITY / PARTITIONS] * PARTITIONS


def steady_number(scene: Scene) -> float:
    """The number of the API, once it has been the same for a while, and no burst of before counts any more."""
    seen, since_s = scene.api.signal(), time.monotonic()

    def is_steady() -> bool:
        nonlocal seen, since_s
        now = scene.api.signal()
        is_usual = abs((now.incoming_per_s or 0.0) / sum(even_rates()) - 1) <= AS_USUAL
        rests = is_usual and not now.will_fall
        if now.metric is None or now.metric != seen.metric or not rests:
            since_s = time.monotonic()
        seen = now
        return time.monotonic() - since_s > STEADY_S

    eventually(is_steady, f"a steady number for {scene.group}; the newest: {seen}", 300, pause_s=EACH_S)
    assert seen.metric is not None
    return seen.metric


def watched(scene: Scene, until: Callable[[list[Number]], bool]) -> tuple[Number, ...]:
    """All numbers from now on, until they are enough."""
    numbers: list[Number] = []
    started_s = time.monotonic()

    def is_over() -> bool:
        signal = scene.api.signal()
        at_s = round(time.monotonic() - started_s, 1)
        numbers.append(Number(at_s, signal.metric, signal.hold, signal.reason, signal.status))
        return until(numbers)

    eventually(is_over, f"the end of the trouble of {scene.group}", 300, pause_s=EACH_S)
    return tuple(numbers)


def held(kit: World, number: int, trouble: Trouble) -> Held:
    """One hot key or poison: watched until there is a hold, and some seconds more."""
    scene = staged(kit, f"hold-{number}")
    try:
        before = steady_number(scene)
        BEGIN[trouble](scene)
        return Held(number, scene.group, trouble, before, watched(scene, partial(is_held_for_long, HOLDS[trouble])))
    finally:
        kit.fleet.cure(scene.group)
        kit.retire(scene.deployment)


def is_held_for_long(holds: frozenset[str], numbers: list[Number]) -> bool:
    """Whether there was one of these holds some seconds ago, or the time for one is over."""
    first_s = next((each.at_s for each in numbers if each.hold in holds), HOLD_LIMIT_S)
    return numbers[-1].at_s > first_s + STEADY_S


def _heat(scene: Scene) -> None:
    """The first partition gets half as much again as a pod can read."""
    rates = even_rates()
    rates[0] += 1.5 * CAPACITY
    scene.kit.writer.change(scene.group, lambda _: rates)


def _poison(scene: Scene) -> None:
    scene.kit.writer.poison(scene.group, 0)


BEGIN: Final = {Trouble.HOT_KEY: _heat, Trouble.POISON: _poison}


def outage(kit: World, scenes: Sequence[Scene], first: int, trouble: Trouble) -> list[Held]:
    """One outage of all groups at once; a run for each."""
    befores = [steady_number(scene) for scene in scenes]
    victims = broker_processes(kit) if trouble is Trouble.BROKER else collector_processes(kit)
    with ThreadPoolExecutor(len(scenes)) as watchers:
        looks = [watchers.submit(watched, scene, is_outage_over) for scene in scenes]
        pause(victims)
        try:
            time.sleep(OUTAGE_S)  # an outage of this length is what is asked for
        finally:
            go_on(victims)
        numbers = [each.result() for each in looks]
    return [
        Held(first + place, scene.group, trouble, before, each)
        for place, (scene, before, each) in enumerate(zip(scenes, befores, numbers, strict=True))
    ]


def broker_processes(kit: World) -> list[int]:
    """Those of the broker, and of its guard."""
    group = kit.kafka.process_group
    assert group is not None
    return processes_of(os.getsid(group))


def collector_processes(kit: World) -> list[int]:
    """Those of the collector that polls the topics."""
    assert kit.collector is not None
    return processes_of(kit.collector.session)


def is_outage_over(numbers: list[Number]) -> bool:
    """Whether it ended so long ago that the first data after it is there."""
    return numbers[-1].at_s > OUTAGE_S + AFTER_S


def run_holds(folder: Path, runs: int, at_once: int) -> list[Held]:
    """Hot keys and poison in turn, some groups at once."""
    troubles = itertools.cycle((Trouble.HOT_KEY, Trouble.POISON))
    with (
        world(folder, [scale_row("hold-.*", MOST, down_after_s=DOWN_AFTER_S)]) as kit,
        ThreadPoolExecutor(at_once) as players,
    ):
        chosen = [*zip(range(runs), troubles, strict=False)]
        return list(players.map(lambda each: _printed(held(kit, *each)), chosen))


def run_outages(folder: Path, runs: int, at_once: int) -> list[Held]:
    """Of the broker and of the collector in turn, each of some groups at once."""
    found: list[Held] = []
    row = scale_row("outage-.*", MOST, down_after_s=DOWN_AFTER_S)
    with world(folder, [row], collects_apart=True) as kit:
        scenes = [staged(kit, f"outage-{number}") for number in range(at_once)]
        for trouble in itertools.cycle((Trouble.COLLECTOR, Trouble.BROKER)):
            if len(found) >= runs:
                break
            found += map(_printed, outage(kit, scenes[: runs - len(found)], len(found), trouble))
    return found


def _printed(each: Held) -> Held:
    sign = "ok " if each.is_right else "BAD"
    last = each.numbers[-1]
    hold = "no hold" if each.held_s is None else f"hold after {each.held_s:.0f} s"
    unknown = sum(number.wanted is None for number in each.numbers)
    print(  # noqa: T201
        f"{sign} {each.number:3} {each.trouble:48} before {each.before:.0f}, lowest {each.lowest}, {hold}, "
        f"{unknown} of {len(each.numbers)} without a number; {last.reason[:100]}",
        flush=True,
    )
    return each


def report(found: Sequence[Held]) -> dict[str, Any]:
    """What goes into the file."""
    runs = [asdict(each) | {"lowest": each.lowest, "held_s": each.held_s, "right": each.is_right} for each in found]
    return {"runs": runs, "right": sum(each.is_right for each in found), "of": len(found)}


def main() -> None:
    """Play both, and report; 1 if any run is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.autoscaling.holds", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="of hot keys and poison together")
    parser.add_argument("--outages", type=int, default=20, help="a run is one group in one outage")
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--json", type=Path, default=Path("build/autoscaling-holds.json"))
    chosen = parser.parse_args()
    reported: dict[str, Any] = {}
    for name, play, runs in (("holds", run_holds, chosen.runs), ("outages", run_outages, chosen.outages)):
        if runs:
            with tempfile.TemporaryDirectory(prefix="groupwatch-holds-") as folder:
                reported[name] = report(play(Path(folder), runs, chosen.at_once))
            print(f"{name}: {reported[name]['right']} of {reported[name]['of']}")  # noqa: T201
    chosen.json.parent.mkdir(parents=True, exist_ok=True)
    chosen.json.write_text(json.dumps(reported, indent=1) + "\n", encoding="utf-8")
    sys.exit(any(each["right"] < each["of"] for each in reported.values()))


if __name__ == "__main__":
    main()

"""Random streams groups for the coordinator's task assignor, which live through joins, leaves and other topologies."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from tests.oracle.names import member_name

ASSIGNOR = "kafka.streams.sticky"
MOST_ROUNDS = 5

Ask = Callable[[dict[str, Any]], dict[str, Any]]


def random_streams_cases(seed: int, ask: Ask) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Cases with the original's answers, without end; in a sequence of rounds, members have what the last one gave."""
    number = 0
    while True:
        rng = random.Random(f"{ASSIGNOR} {seed} {number}")
        yield from _group(rng, f"{ASSIGNOR}/fuzz-{seed}-{number}", ask)
        number += 1


def _group(rng: random.Random, name: str, ask: Ask) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    new_name = member_name(rng)
    next_member = 0
    processes = [_process_name(rng) for _ in range(rng.choice([1, 1, 2, 3, 4, 8, 20]))]
    parts = [_part(rng, number) for number in range(rng.randint(1, 4))]
    members: list[dict[str, Any]] = []
    for _ in range(rng.randint(0 if rng.random() < 0.02 else 1, rng.choice([3, 6, 15, 40]))):
        members.append(_member(new_name(next_member), rng.choice(processes)))
        next_member += 1
    if rng.random() < 0.3:
        _scatter(rng, members, parts)
    replicas = rng.choice([0, 0, 1, 1, 1, 2, 3])
    for round_ in range(rng.randint(1, MOST_ROUNDS)):
        told = {"members": members, "subtopologies": parts, "standby_replicas": replicas}
        case = {"id": f"{name}/{round_}", "assignor": ASSIGNOR, "input": told}
        answer = ask(case)
        yield case, answer
        if "expected" not in answer:
            return
        given = answer["expected"]["assignment"]
        members = [{**m, "active": given[m["id"]]["active"], "standby": given[m["id"]]["standby"]} for m in members]
        match rng.randrange(5):
            case 0:
                members = rng.sample(members, max(1, len(members) - rng.choice([1, 1, 2, len(members) // 2])))
            case 1 | 2:
                for _ in range(rng.choice([1, 1, 2, 5])):
                    processes.append(_process_name(rng))
                    members.append(_member(new_name(next_member), rng.choice([processes[-1], rng.choice(processes)])))
                    next_member += 1
            case 3:
                parts = [{**part, "tasks": part["tasks"] + rng.choice([0, 0, 1, 3])} for part in parts]
            case _:
                replicas = rng.choice([0, 1, 2])
        if rng.random() < 0.3:
            members = rng.sample(members, len(members))


def _member(name: str, process: str) -> dict[str, Any]:
    return {"id": name, "process": process, "active": {}, "standby": {}}


def _part(rng: random.Random, number: int) -> dict[str, Any]:
    name = str(number) if rng.random() < 0.9 else f"{rng.choice('aZé')}{number}"
    return {"id": name, "tasks": rng.choice([0, 1, 2, 3, 5, 8, 17, 30]), "stateful": rng.random() < 0.6}


def _process_name(rng: random.Random) -> str:
    digits = f"{rng.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def _scatter(rng: random.Random, members: list[dict[str, Any]], parts: list[dict[str, Any]]) -> None:
    """Members have had parts of the tasks, some twice, some that are no longer there."""
    for part in parts:
        for number in range(part["tasks"] + rng.choice([0, 0, 2])):
            for sort in ("active", "standby"):
                for member in rng.sample(members, min(len(members), rng.choice([0, 1, 1, 1, 2]))):
                    member[sort].setdefault(part["id"], []).append(number)

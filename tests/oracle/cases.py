"""Random cases: the same family, seed and number give the same ones, while the original answers the same."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.oracle.broker_cases import BrokerGroup
from tests.oracle.client_cases import ClientGroup

Ask = Callable[[dict[str, Any]], dict[str, Any]]

CLIENT_FAMILIES: Final = ("kafka.range", "kafka.roundrobin", "kafka.sticky", "kafka.cooperative-sticky")
BROKER_FAMILIES: Final = ("kafka.server.range", "kafka.server.uniform", "kafka.server.share-simple")
FAMILIES: Final = CLIENT_FAMILIES + BROKER_FAMILIES

_MOST_ROUNDS: Final = 7


def random_cases(family: str, seed: int, ask: Ask) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Cases with the original's answers, without end.

    Args:
        family: One of ``FAMILIES``.
        seed: Any number.
        ask: Answers a case. In a sequence of rounds, members own what the former answer gave them.
    """
    number = 0
    while True:
        rng = random.Random(f"{family} {seed} {number}")
        yield from _group(family, rng, f"{family}/fuzz-{seed}-{number}", ask)
        number += 1


def _group(family: str, rng: random.Random, name: str, ask: Ask) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    group = (BrokerGroup if family in BROKER_FAMILIES else ClientGroup)(family, rng)
    event = "start"
    rounds = 1 if rng.random() < 0.6 else rng.randint(2, _MOST_ROUNDS)
    if rounds == 1 and rng.random() < 0.7:
        event = "scattered"
        group.scatter()
    for _ in range(rounds):
        case = {"id": f"{name}/round-{group.round}-{event}", "assignor": family, "input": group.input()}
        answer = ask(case)
        yield case, answer
        if "expected" not in answer:
            return
        group.assigned(answer["expected"]["assignment"])
        event = group.happen()

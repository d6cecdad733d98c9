"""Do we say what the original says? And if not: the smallest case that still shows it."""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable, Iterator, MutableMapping, MutableSequence
from typing import Any, Final

from msgspec import ValidationError

from monitor.assignors.errors import AssignorError
from monitor.assignors.vectors.families import answer

Case = dict[str, Any]
Answer = dict[str, Any]

_MOST_TRIES: Final = 3000
_PLACES: Final = ("members", "topics", "racks", "assignable", "instance_max_generation")
_OF_A_MEMBER: Final = ("topics", "owned", "assigned", "user_data", "generation", "instance", "rack")
_NEEDED: Final = frozenset({"members", "topics"})


def ours(case: Case) -> Answer:
    """Our answer in the form of a vector, or an answer of a third kind where there must not be one."""
    try:
        return {"expected": answer(case["assignor"], case["input"])}
    except AssignorError as error:
        return {"error": str(error)}
    except ValidationError as error:
        return {"invalid": str(error)}
    except Exception:
        return {"broken": traceback.format_exc(limit=-1)}


def shrink(case: Case, fails: Callable[[Case], bool]) -> Case:
    """A case that still fails, and no longer does when any one thing is left out (or after many tries)."""
    tries = 0
    smaller = True
    while smaller:
        smaller = False
        for candidate in _smaller(case):
            tries += 1
            if tries > _MOST_TRIES:
                return case
            if fails(candidate):
                case, smaller = candidate, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    for path in _paths(case["input"]):
        candidate = copy.deepcopy(case)
        _leave_out(candidate["input"], path)
        _repair(candidate["input"])
        yield candidate
    topics = list(case["input"]["topics"])
    for some in (topics, *([topic] for topic in topics)):
        candidate = copy.deepcopy(case)
        if all(_take_a_partition(candidate["input"], topic) for topic in some):
            yield candidate


def _paths(of: Any) -> Iterator[tuple[Any, ...]]:
    """The places of what can be left out: large things first."""
    for part in _PLACES:
        if part in of and part not in _NEEDED:
            yield (part,)
    if len(of["members"]) > 1:  # a group without members asks nobody
        yield from (("members", at) for at in range(len(of["members"])))
    yield from (("topics", topic) for topic in of["topics"])
    for at, member in enumerate(of["members"]):
        for part in _OF_A_MEMBER:
            if part in member and part not in ("topics", "assigned"):
                yield "members", at, part
        yield from (("members", at, "topics", place) for place in range(len(member["topics"])))
        for part in ("owned", "assigned"):
            for topic, numbers in member.get(part, {}).items():
                yield "members", at, part, topic
                yield from (("members", at, part, topic, place) for place in range(len(numbers)))


def _leave_out(of: Any, path: tuple[Any, ...]) -> None:
    for key in path[:-1]:
        of = of[key]
    assert isinstance(of, MutableMapping | MutableSequence)
    del of[path[-1]]


def _take_a_partition(of: dict[str, Any], topic: str) -> bool:
    shape = of["topics"][topic]
    if isinstance(shape, dict):
        shape["partitions"] -= 1
        return shape["partitions"] >= 0
    of["topics"][topic] -= 1
    if topic in of.get("racks", {}):
        del of["racks"][topic][of["topics"][topic] :]
    return of["topics"][topic] >= 0


def _repair(of: dict[str, Any]) -> None:
    """Nothing is known of a topic that is not there; and a coordinator knows whether all subscriptions are the same."""
    named = [of.get("racks", {}), of.get("assignable", {}), *(member.get("assigned", {}) for member in of["members"])]
    for by_topic in named:
        for topic in by_topic.keys() - of["topics"].keys():
            del by_topic[topic]
    if "subscription_type" not in of:
        return
    same = len({frozenset(member["topics"]) for member in of["members"]}) <= 1
    of["subscription_type"] = "HOMOGENEOUS" if same else "HETEROGENEOUS"

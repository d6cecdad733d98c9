"""Groups captured from real servers (tests/fixtures/rocketmq, tests/fixtures/zookeeper) as a collector would tell them.

A small loader of the tests' own: it reads the decoded answers and trees, and uses nothing of the collectors.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.model import (
    Catalog,
    EndOffsetAt,
    GroupKind,
    GroupObserved,
    GroupState,
    GroupVerdict,
    Member,
    ObservedOffset,
    PartitionId,
    PartitionState,
    Sharing,
    Source,
    TopicPartitions,
    TopicState,
)
from monitor.tracking.group import fold_group

FIXTURES = Path(__file__).parents[1] / "fixtures"
ROCKETMQ = FIXTURES / "rocketmq"
ZOOKEEPER = FIXTURES / "zookeeper"

READ = 1_795_300_000_000
"""When the groups were read, in these tests."""

BEFORE = READ - 3_600_000
"""When their topics were first seen."""


# --- what is there ----------------------------------------------------------------------------------------------------


def topic(cluster: str, name: str, partitions: Iterable[PartitionId], *, end: int = 0, at_ms: int = READ) -> TopicState:
    """A topic whose partitions all end there, since long."""
    states = (
        PartitionState(
            partition=each,
            first_seen_ms=BEFORE,
            earliest=0,
            end=end,
            ends=(EndOffsetAt(BEFORE, 0), EndOffsetAt(at_ms, end)),
        )
        for each in partitions
    )
    return TopicState(cluster=cluster, topic=name, pass_ms=at_ms, partitions=tuple(states))


def catalog_of(cluster: str, *topics: TopicState) -> Catalog:
    return Catalog(cluster=cluster, pass_ms=READ, topics={state.topic: state for state in topics})


def queues(count: int, broker: str = "broker-a") -> list[str]:
    return sorted(f"{broker}-{number}" for number in range(count))


def lab(*names: str) -> Catalog:
    """The topics of the RocketMQ captures: eight queues of broker-a each."""
    return catalog_of("mq", *(topic("mq", name, queues(8)) for name in names))


# --- RocketMQ ---------------------------------------------------------------------------------------------------------


@cache
def captured(folder: str) -> dict[str, Any]:
    """The decoded answers of a capture by their names, such as ``38-consumer-list-lab-group``."""
    lines = (ROCKETMQ / f"{folder}.jsonl").read_text("utf-8").splitlines()
    return {each["name"].removeprefix(f"{folder}/"): each["decoded"] for each in map(json.loads, lines)}


def decoded(folder: str, name: str) -> Any:
    return captured(folder)[name]


def rocketmq(folder: str, group: str) -> GroupObserved:
    """The group as its members' running infos (307) and connections (203) tell it."""
    members = tuple(sorted(_running(folder, group), key=lambda member: member.member_id))
    infos = _infos(folder, group).values()
    is_pop = any(info.get("mqPopTable") for info in infos)
    broadcasts = any(info["properties"]["messageModel"] == "BROADCASTING" for info in infos)
    named = {member.assignor for member in members}
    return GroupObserved(
        cluster="mq",
        group=group,
        kind=GroupKind.ROCKETMQ,
        source=Source.SYSTEM,
        pass_ms=READ,
        observed_ms=READ,
        members=members,
        protocol=named.pop() if len(named) == 1 else None,
        sharing=Sharing.BROADCAST if broadcasts else Sharing.BY_RECORD if is_pop else Sharing.EXCLUSIVE,
        offsets=tuple(_offsets(folder, group)),
    )


def _infos(folder: str, group: str) -> dict[str, Any]:
    """The running infos of a group's members, by their names."""
    answers = sorted(captured(folder).items())
    return {name: told for name, told in answers if fnmatchcase(name, f"307-*{group}-*")}


def _running(folder: str, group: str) -> Iterator[Member]:
    for capture, info in _infos(folder, group).items():
        client = capture.rpartition("-")[2]
        held: dict[str, list[str]] = {}
        for queue, _ in info["mqTable"].get("__pairs__", ()):
            if not queue["topic"].startswith("%RETRY%"):
                held.setdefault(queue["topic"], []).append(f"{queue['brokerName']}-{queue['queueId']}")
        java_class = info["properties"]["allocateMessageQueueStrategy"].partition("@")[0]
        yield Member(
            member_id=f"127.0.0.1@{client}",
            client_id=f"127.0.0.1@{client}",
            host="127.0.0.1",
            topics=tuple(sorted(s["topic"] for s in info["subscriptionSet"] if not s["topic"].startswith("%RETRY%"))),
            assigned=tuple(TopicPartitions(name, tuple(sorted(own))) for name, own in sorted(held.items())),
            assignor=java_class.rpartition(".")[2],
        )


def _offsets(folder: str, group: str) -> Iterator[ObservedOffset]:
    """What the broker has of all groups (43); where that was not asked, its consume stats (208)."""
    every = next((told for name, told in captured(folder).items() if name.startswith("43")), None)
    if every is not None:
        for key, offsets in every["offsetTable"].items():
            name, _, of = key.rpartition("@")
            if of == group and not name.startswith("%RETRY%"):
                for number, offset in sorted(offsets.items()):
                    yield ObservedOffset(name, f"broker-a-{number}", offset)


# --- ZooKeeper --------------------------------------------------------------------------------------------------------


def tree(name: str) -> dict[str, Any]:
    paths = json.loads((ZOOKEEPER / f"{name}.json").read_text("utf-8"))["paths"]
    return {path: node["data"] for path, node in paths.items()}


def below(paths: dict[str, Any], root: str) -> dict[str, str]:
    """What hangs under a node, at any depth, by what follows it; only nodes that have data."""
    return {path.removeprefix(f"{root}/"): data for path, data in paths.items() if path.startswith(f"{root}/") and data}


def metaq(name: str, group: str, *, protocol: str | None = None) -> GroupObserved:
    root = f"/meta/consumers/{group}"
    paths = tree(name)
    owners = below(paths, f"{root}/owners")
    members = [
        Member(member_id=consumer, topics=tuple(sorted(topics.split(","))), assigned=_held(owners, consumer, str))
        for consumer, topics in sorted(below(paths, f"{root}/ids").items())
    ]
    offsets = tuple(
        ObservedOffset(*place.split("/"), int(text.rpartition("-")[2]))  # type: ignore[arg-type]
        for place, text in below(paths, f"{root}/offsets").items()
    )
    return _of_zookeeper("metaq", group, GroupKind.METAQ, members, offsets, protocol)


def kafka_zookeeper(group: str, *, protocol: str | None = None) -> GroupObserved:
    paths = tree("kafka010-zk")
    root = f"/kafka010/consumers/{group}"
    owners = below(paths, f"{root}/owners")
    members: list[Member] = []
    for consumer, text in sorted(below(paths, f"{root}/ids").items()):
        registration = json.loads(text)
        streams: dict[str, int] = registration["subscription"]
        if registration["pattern"] == "white_list":  # the only one is hl-.*
            assert list(streams) == ["hl-.*"]
            streams = {"hl-a": streams["hl-.*"], "hl-b": streams["hl-.*"]}
        for number in range(max(streams.values())):
            thread = f"{consumer}-{number}"
            reads = tuple(sorted(name for name, count in streams.items() if number < count))
            members.append(
                Member(member_id=thread, client_id=consumer, topics=reads, assigned=_held(owners, thread, int))
            )
    offsets = tuple(
        ObservedOffset(place.split("/")[0], int(place.split("/")[1]), int(offset))
        for place, offset in below(paths, f"{root}/offsets").items()
    )
    return _of_zookeeper("kafka010", group, GroupKind.ZOOKEEPER, members, offsets, protocol)


def _held(owners: dict[str, str], member: str, named: type[str] | type[int]) -> tuple[TopicPartitions, ...]:
    held: dict[str, list[PartitionId]] = {}
    for place, owner in owners.items():
        name, _, partition = place.rpartition("/")
        if owner == member:
            held.setdefault(name, []).append(named(partition))
    return tuple(TopicPartitions(name, tuple(sorted(own))) for name, own in sorted(held.items()))  # type: ignore[type-var]


def _of_zookeeper(  # noqa: PLR0917  # what the two systems have in common
    cluster: str,
    group: str,
    kind: GroupKind,
    members: Sequence[Member],
    offsets: tuple[ObservedOffset, ...],
    protocol: str | None,
) -> GroupObserved:
    return GroupObserved(
        cluster=cluster,
        group=group,
        kind=kind,
        source=Source.SYSTEM,
        pass_ms=READ,
        observed_ms=READ,
        members=tuple(members),
        offsets=offsets,
        protocol=protocol,
    )


def metaq_catalog(name: str) -> Catalog:
    """Topics with their partitions, as the masters of topics-sub have them."""
    counts: dict[str, list[str]] = {}
    for path, data in below(tree(name), "/meta/brokers/topics-sub").items():
        broker = path.split("/")[1].removesuffix("-m")
        counts.setdefault(path.split("/")[0], []).extend(f"{broker}-{n}" for n in range(json.loads(data)["numParts"]))
    return catalog_of("metaq", *(topic("metaq", each, sorted(own), end=2000) for each, own in counts.items()))


def kafka_catalog() -> Catalog:
    return catalog_of("kafka010", topic("kafka010", "hl-a", range(5)), topic("kafka010", "hl-b", range(3)))


# --- judged -----------------------------------------------------------------------------------------------------------


def folded(*readings: GroupObserved, state: GroupState | None = None) -> GroupState:
    after = fold_group(readings[0].cluster, readings[0].group, state, readings)
    assert after is not None
    return after


def verdict_on(reading: GroupObserved, catalog: Catalog, *, after_ms: int = 55_000) -> GroupVerdict:
    """The verdict on the group some time after it was first read, when another reading has found the same."""
    return judged(folded(reading), catalog, READ + after_ms)


def judged(state: GroupState, catalog: Catalog, at_ms: int) -> GroupVerdict:
    """The verdict on the group at the instant of a reading that found nothing changed."""
    topics = {name: _seen_again(topic, at_ms) for name, topic in catalog.topics.items()}
    return evaluate(state, replace(catalog, pass_ms=at_ms, topics=topics), at_ms, DetectionSettings())


def _seen_again(state: TopicState, at_ms: int) -> TopicState:
    """The topic, whose partitions end at that instant where they ended before."""
    partitions = [
        replace(each, ends=(*each.ends, EndOffsetAt(at_ms, each.ends[-1].offset))) for each in state.partitions
    ]
    return replace(state, pass_ms=at_ms, partitions=tuple(partitions))


def told(verdict: GroupVerdict) -> list[tuple[str, str]]:
    return [(finding.kind.value, finding.reason) for finding in verdict.findings]

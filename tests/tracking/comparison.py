"""What a broker says of a group, against what was folded from its log."""

from __future__ import annotations

from typing import Any

from monitor.model import GroupKind, GroupState, Member, Phase, Reconciliation

KINDS = {
    "Classic": GroupKind.CLASSIC,
    "Consumer": GroupKind.CONSUMER,
    "Share": GroupKind.SHARE,
    "Streams": GroupKind.STREAMS,
}


def differences(mark: dict[str, Any], state: GroupState | None, *, offsets: bool = True) -> list[str]:
    """Every point in which the state is not what the broker described in this mark (a line of marks.jsonl).

    ``offsets``: compare committed offsets too. A group that the broker does not know must have no state, or
    none that is shown (UNSEEN): deleted offsets of it may be remembered.
    """
    described = mark["describe"]
    if described.get("error") == "GroupIdNotFoundException" or described.get("state") == "Dead":
        return [] if state is None or state.phase is Phase.UNSEEN else [f"unknown to the broker, but {state.phase}"]
    if state is None:
        return [f"no state, but {described}"]
    if "error" in described:  # the admin client of 3.9 describes no group of another protocol type
        return [] if state.protocol_type in described["message"] else [f"{state.protocol_type}: {described}"]
    kind = KINDS[described.get("type", "Classic")]
    found = _classic(mark, state) if kind is GroupKind.CLASSIC else _modern(mark, state)
    if state.kind is not kind:
        found.append(f"kind {state.kind}, not {kind}")
    if offsets and _offsets_of(state) != _listed(mark):
        found.append(f"offsets {sorted(_offsets_of(state).items() ^ _listed(mark).items())}")
    return found


def _classic(mark: dict[str, Any], state: GroupState) -> list[str]:
    described = mark["describe"]
    found = []
    simple = described.get("simple", state.phase is Phase.OFFSETS_ONLY)  # hand-made marks (python-raw) do not say it
    empty = Phase.OFFSETS_ONLY if simple else Phase.EMPTY
    if state.phase is not {"Stable": Phase.STABLE, "Empty": empty}[described["state"]]:
        found.append(f"phase {state.phase}, not {described['state']}")
    if (state.protocol or "") != described.get("assignor", described.get("protocol_data")):
        found.append(f"protocol {state.protocol}")
    found += _identities(described, state)
    if all("assignment" in member for member in described["members"]):
        existing = _existing(mark)
        ours = {
            m.member_id: {f"{t.topic}-{p}" for t in m.assigned if t.topic in existing for p in t.partitions}
            for m in state.members
        }
        if ours != {member["member_id"]: set(member["assignment"]) for member in described["members"]}:
            found.append(f"assignment {ours}")
    return found


def _modern(mark: dict[str, Any], state: GroupState) -> list[str]:
    described = mark["describe"]
    found = []
    if state.phase.value != described["state"].lower():
        found.append(f"phase {state.phase}, not {described['state']}")
    for name, epoch in (("group_epoch", state.generation), ("target_assignment_epoch", state.target_epoch or 0)):
        if described[name] not in (epoch, None):  # the 3.9 admin client does not know epochs
            found.append(f"{name} {epoch}, not {described[name]}")
    found += _identities(described, state)
    theirs = {member["member_id"]: member for member in described["members"]}
    for member in state.members:
        if member.member_id in theirs:
            found += _reconciliation(mark, member, theirs[member.member_id])
    return found


def _identities(described: dict[str, Any], state: GroupState) -> list[str]:
    ours = {(m.member_id, m.client_id, m.host, m.instance_id) for m in state.members}
    theirs = {(m["member_id"], m["client_id"], m["host"], m.get("instance_id")) for m in described["members"]}
    return [] if ours == theirs else [f"members {ours ^ theirs}"]


def _reconciliation(mark: dict[str, Any], member: Member, theirs: dict[str, Any]) -> list[str]:
    """4.x shows what is being revoked as assigned too, 3.9 does not: one of the two has to fit."""
    ours = member.reconciliation or Reconciliation()
    found = []
    if theirs["member_epoch"] not in (ours.epoch, None):
        found.append(f"{member.member_id}: epoch {ours.epoch}, not {theirs['member_epoch']}")
    if "upgraded" in theirs and theirs["upgraded"] is not None and theirs["upgraded"] == bool(member.classic_protocols):
        found.append(f"{member.member_id}: upgraded is {theirs['upgraded']}")
    if theirs.get("rack") is not None and theirs["rack"] != member.rack:
        found.append(f"{member.member_id}: rack {member.rack}, not {theirs['rack']}")
    assigned, revoking = _places(mark, ours.assigned), _places(mark, ours.revoking)
    if _theirs(theirs["assignment"]) not in (assigned | revoking, assigned):
        found.append(f"{member.member_id}: owns {assigned} and {revoking}, not {theirs['assignment']}")
    target = _places(mark, ours.target or ())
    if "target_assignment" in theirs and _theirs(theirs["target_assignment"]) != target:
        found.append(f"{member.member_id}: target {target}, not {theirs['target_assignment']}")
    return found


def _theirs(assignment: list[str] | str) -> set[str]:
    """Partitions, or of a streams group ``(activeTasks=0_0,0_1, standbyTasks=, warmupTasks=)``: the active tasks."""
    if isinstance(assignment, str):
        active = assignment.removeprefix("(activeTasks=").split(", standbyTasks=")[0]
        return set(active.split(",")) - {""}
    return set(assignment)


def _places(mark: dict[str, Any], partitions: tuple[Any, ...]) -> set[str]:
    """Partitions by name, those of topics that no longer exist left out; tasks as ``subtopology_partition``."""
    if mark["describe"]["type"] == "Streams":
        return {f"{entry.id}_{p}" for entry in partitions for p in entry.partitions}
    names = {topic["id"]: name for name, topic in _existing(mark).items()}
    return {f"{names[entry.id]}-{p}" for entry in partitions if entry.id in names for p in entry.partitions}


def _existing(mark: dict[str, Any]) -> dict[str, Any]:
    return {name: topic for name, topic in mark["topics"].items() if "error" not in topic}


def _offsets_of(state: GroupState) -> dict[str, tuple[int, int]]:
    return {f"{c.topic}-{c.partition}": (c.offset, c.leader_epoch) for c in state.offsets}


def _listed(mark: dict[str, Any]) -> dict[str, tuple[int, int]]:
    return {
        place: (listed["offset"], -1 if listed["leader_epoch"] is None else listed["leader_epoch"])
        for place, listed in mark["offsets"].items()
    }

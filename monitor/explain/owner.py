"""Why a partition has its owner, by the rule of the group's assignor.

Every number is read from the assignor's own result for the generation, never computed by a second rule. Where the rule
does not lead to the owner, or is not known, the sentence says that.
"""

from __future__ import annotations

from collections.abc import Sequence

from monitor.assignors.java.order import string_key
from monitor.assignors.kafka_client.member_order import in_assignment_order
from monitor.detection.ownership.assignment_view import AssignmentView
from monitor.detection.ownership.context import Owners
from monitor.explain.dialects import dialect_rule
from monitor.explain.self_assigned import why_by_shares
from monitor.messages.formatting import age, counted
from monitor.messages.names import era, listed, owner, ranges, shown
from monitor.model import KINDS, Member, MemberState, TopicPartition, number, traits_of
from monitor.protocol.kafka.sticky_user_data import PriorAssignment, read_cooperative, read_sticky


def why(view: AssignmentView, place: TopicPartition, now_ms: int) -> str:
    """The sentences that explain the owner of a partition, or that its reason is unknown."""
    group, expectation = view.group, view.expectation
    if KINDS[group.kind].acknowledges_records:
        return "Members of a share group consume partitions together; a partition needs no exclusive owner."
    if KINDS[group.kind].is_self_assigned:
        return why_by_shares(view, place)
    if expectation.kind == "none":
        if any(member.unreadable is not None for member in group.members):
            return "The reason is unknown: groupwatch cannot decode the data of some members."
        return "The owners are unknown: the group has no members with readable subscriptions."
    if expectation.kind == "target":
        return _by_the_broker(view, place, now_ms)
    return _by_the_leader(view, place)


def _by_the_leader(view: AssignmentView, place: TopicPartition) -> str:
    if traits_of(view.group).leader_assigns_tasks:
        return _by_task(view, place)
    return _not_by_rule(view, place) or _by_known_rule(view, place)


def _not_by_rule(view: AssignmentView, place: TopicPartition) -> str | None:
    """Why no rule explains the owner; None: a rule does, or the partition has no owner."""
    group, expectation = view.group, view.expectation
    name = shown(group.protocol or "none")
    if place.topic in expectation.left_out:
        return (
            f"The group leader does not subscribe to the topic; its assignor {name} assigns only the leader's topics."
        )
    if expectation.kind == "checked" and expectation.dialect is not None:
        return f"{dialect_rule(expectation.dialect)} Its result depends on what only the leader knows."
    if expectation.kind != "exact":
        return f"groupwatch cannot replay the assignor {name}, so the reason is unknown."
    owners, replayed = view.ownership.owners.get(place, ()), expectation.replayed.get(place, ())
    if owners != replayed:
        return (
            f"The assignor {name} assigns it to {owner(replayed)} for {era(group)}, so its rule does not explain why "
            f"it belongs to {owner(owners)}."
        )
    return None


def _by_known_rule(view: AssignmentView, place: TopicPartition) -> str:
    owners = view.ownership.owners.get(place, ())
    if not owners:
        return _nobody(view, place)
    if view.expectation.dialect is not None:
        return dialect_rule(view.expectation.dialect)
    return _by_rule(view, place, owners[0])


def _by_task(view: AssignmentView, place: TopicPartition) -> str:
    owners = view.ownership.owners.get(place, ())
    if not owners:
        return f"No thread has a task that consumes it in {era(view.group)}."
    return f"Kafka Streams assigned a task that consumes it to {owner(owners)}; no record contains the reason."


def _by_the_brokers_task(view: AssignmentView, place: TopicPartition) -> str:
    """Of a streams group: the task that reads the partition, who runs it, and who is to."""
    task = next((each for each in (view.tasks.tasks if view.tasks else ()) if place in each.reads), None)
    if task is None:
        return "No task of the topology consumes it."
    targets = view.expectation.current.get(place, ())
    aim = f"; the coordinator has assigned it to {owner(targets)}" if targets and targets != task.owners else ""
    if not task.owners:
        return f"No thread runs the task {shown(task.task)}, which consumes it{aim}."
    return (
        f"The task {shown(task.task)} consumes it, and {owner(task.owners)} runs that task{aim}. The coordinator's "
        "assignor leaves a task where it was, unless its member would have more than its share."
    )


def _nobody(view: AssignmentView, place: TopicPartition) -> str:
    if place in view.expectation.pending:
        return f"Its previous owner revokes it in {era(view.group)}, and only the next generation reassigns it."
    if not any(place.topic in member.topics for member in view.group.members):
        return "No member subscribes to the topic."
    return f"The assignor did not know the partition when it computed {era(view.group)}."


def _by_rule(view: AssignmentView, place: TopicPartition, owner_id: str) -> str:
    match view.group.protocol:
        case "range":
            return _range(view, place, owner_id)
        case "roundrobin":
            return _roundrobin(view, place, owner_id)
        case _:
            return _sticky(view, place, owner_id)


# --- range ------------------------------------------------------------------------------------------------------------


def _range(view: AssignmentView, place: TopicPartition, owner_id: str) -> str:
    replayed = view.expectation.replayed
    everything = _of_topic(replayed, place.topic)
    run = [number for number in everything if owner_id in replayed[TopicPartition(place.topic, number)]]
    asking = [member for member in view.group.members if place.topic in member.topics]
    ids = [member.member_id for member in in_assignment_order(asking)]
    text = (
        f"range divides partitions {ranges(everything)} of {shown(place.topic)} among "
        f"{counted(len(ids), 'member')}, sorted by member id (instance id first). "
        f"{shown(owner_id)} is {ordinal(ids.index(owner_id) + 1)} and gets {ranges(run)}."
    )
    if any(member.rack for member in asking):
        text += " The racks of members and replicas may have influenced the result."
    return text


def _of_topic(owners: Owners, topic: str) -> list[int]:
    return sorted(number(place.partition) for place in owners if place.topic == topic)


# --- roundrobin -------------------------------------------------------------------------------------------------------


def _roundrobin(view: AssignmentView, place: TopicPartition, owner_id: str) -> str:
    replayed = view.expectation.replayed
    line = sorted(replayed, key=lambda each: (string_key(each.topic), each.partition))
    index = line.index(place)
    circle = listed([member.member_id for member in in_assignment_order(view.group.members)])
    text = (
        f"roundrobin assigns {counted(len(line), 'partition')}, ordered by topic and number, to the members in turn "
        f"({circle}). This partition is the {ordinal(index + 1)}, and "
    )
    if index == 0:
        return f"{text}{shown(owner_id)} is the first member that subscribes to the topic."
    before = line[index - 1]
    return (
        f"{text}{shown(owner_id)} is the next member that subscribes to the topic, after {owner(replayed[before])} for "
        f"partition {before.partition} of {shown(before.topic)}."
    )


# --- sticky and cooperative-sticky ------------------------------------------------------------------------------------


def _sticky(view: AssignmentView, place: TopicPartition, owner_id: str) -> str:
    group, name = view.group, view.group.protocol
    claims = {member.member_id: _memory(member, name) for member in group.members}
    claiming = [member_id for member_id, memory in claims.items() if _has(memory, place)]
    if owner_id in claiming:
        text = f"{name}: {shown(owner_id)} kept it. It reported when it joined {era(group)} that it owned it"
        generation = claims[owner_id].generation
        return f"{text} in generation {generation}." if generation is not None and generation >= 0 else f"{text}."
    if not claiming:
        return (
            f"{name}: no member reported owning it when it joined {era(group)} (it was new, or its owner had left or "
            f"given it up). It went to {shown(owner_id)} to balance the group."
        )
    return f"{name}: {_taken(view, place, claims[claiming[0]], claiming[0])}"


def _taken(view: AssignmentView, place: TopicPartition, memory: PriorAssignment, former: str) -> str:
    members = {member.member_id: member for member in view.group.members}
    if place.topic not in members[former].topics:
        return f"{shown(former)} owned it before and does not subscribe to the topic anymore."
    had = sum(len(entry.partitions) for entry in memory.owned)
    has = sum(former in owners for owners in view.expectation.replayed.values())
    share = f"reported {counted(had, 'partition')} and kept {has}"
    if had > has:
        return f"it was taken from {shown(former)}, which had more than its share: it {share}."
    return f"it was taken from {shown(former)}, which {share}; the reason for this choice is unknown."


def _memory(member: Member, assignor: str | None) -> PriorAssignment:
    """The partitions that a member reported when it joined, as its assignor reads them."""
    if assignor == "sticky":
        return read_sticky(member.user_data)
    generation = member.generation if member.generation >= 0 else read_cooperative(member.user_data)
    return PriorAssignment(owned=member.owned, generation=generation)


def _has(memory: PriorAssignment, place: TopicPartition) -> bool:
    return any(entry.topic == place.topic and place.partition in entry.partitions for entry in memory.owned)


# --- the broker's choice ----------------------------------------------------------------------------------------------


def _by_the_broker(view: AssignmentView, place: TopicPartition, now_ms: int) -> str:
    group = view.group
    if KINDS[group.kind].broker_assigns_tasks:
        return _by_the_brokers_task(view, place)
    owners, target = view.ownership.owners.get(place, ()), view.expectation.current.get(place, ())
    epoch = f" for epoch {group.target_epoch}" if group.target_epoch is not None else ""
    chosen = f"The coordinator ({shown(group.protocol or '')}) chose {owner(target)}{epoch}"
    if not target:
        return f"The coordinator chose no member{epoch}; {owner(owners)} owns it."
    if owners == target:
        return f"{chosen}; {_held(group.members, owners, now_ms)}."
    if owners:
        return f"{chosen}; {owner(owners)} has not revoked it yet."
    return f"{chosen}, which has not taken it yet."


def _held(members: Sequence[Member], owners: Sequence[str], now_ms: int) -> str:
    view = next((member.reconciliation for member in members if member.member_id in owners), None)
    if view is None or not view.since_ms:
        return f"{owner(owners)} owns it"
    waits = ", and is waiting for other members" if view.state is MemberState.UNRELEASED_PARTITIONS else ""
    since = age(now_ms - view.since_ms)
    return f"{owner(owners)} has owned it for at least {since} (member epoch {view.epoch}){waits}"


def ordinal(number: int) -> str:
    """A place in an order.

    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '102nd', '111th']
    """
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"

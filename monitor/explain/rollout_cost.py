"""What a rollout of a group will cost: its rebalances, the partitions that move, and how long they stand still.

The replay is that of ``rollout_replay``. What is open before a rollout is drawn (``rollout_draws``): all of it, or
a sample and its extremes. Pauses are those of the group's own rebalances of the same kind; there is no other source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from monitor.assignors import AssignorError
from monitor.assignors.registry import SYSTEM_OF, System
from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.detection.ownership.replays import COOPERATIVE
from monitor.explain.rollout_draws import SampledDraw, play_all, ruled_draws
from monitor.explain.rollout_plan import Rollout
from monitor.explain.rollout_replay import Field, Played, play_rollout
from monitor.explain.simulation import ChosenAssignor, KafkasAssignor, Roster, choose_assignor, roster_of
from monitor.messages.client_libraries import project_name
from monitor.messages.formatting import age
from monitor.messages.names import listed, shown, shown_group
from monitor.model import GroupKind, GroupState, Rebalance, RebalanceCause, Value
from monitor.tracking.rebalances.history import stopped_members

MOST_MEMBERS: Final = 40
MOST_PARTITIONS: Final = 4_000
"""A rollout of a larger group is not replayed: it would take minutes."""
EVERY: Final = 400
"""If so many rollouts or fewer are possible, all are replayed."""
WORK: Final = 24_000
"""Rebalances times partitions and members that a sample may take: some seconds."""
FEWEST: Final = 10
SAMPLE: Final = 80
SESSION_MS: Final = 45_000
"""How long a coordinator keeps the place of a static member of a KIP-848 group, by default."""
CONSUMER: Final = "consumer"
CLASSIC: Final = "classic"
_UNIFORM: Final = "uniform"
"""The assignor of a KIP-848 group that asks for none."""
_KIND_WITH_BROKER: Final = next(GroupKind(kind) for kind, system in SYSTEM_OF.items() if system is System.KAFKA_BROKER)
"""The kind of a group whose coordinator chooses one owner for each partition."""
_CHANGES_KIND: Final = frozenset({RebalanceCause.ASSIGNOR, RebalanceCause.UPGRADE, RebalanceCause.DOWNGRADE})


class Spread(Value):
    """The least, the median and the most of several numbers."""

    least: int
    """The least."""
    median: int
    """The median."""
    most: int
    """The most."""


class RolloutWay(Value):
    """A way to replace the pods, with what it costs."""

    assignor: str
    """The assignor."""
    protocol: str
    """``classic``, or ``consumer`` (KIP-848)."""
    is_static: bool = False
    """Whether new pods have the instance ids of the old ones."""
    rebalances: Spread | None = None
    """Number of rebalances; absent: unknown."""
    moves: Spread | None = None
    """Moves of partitions from one owner to another, in all rebalances; absent: unknown."""
    pause_ms: Spread | None = None
    """For how long a rebalance stops each partition, on average (ms); absent: unknown."""
    whole_pause_ms: Spread | None = None
    """For how long all rebalances stop it (ms); absent: unknown."""
    measured: int = 0
    """The number of this group's rebalances that were measured."""
    replayed: int = 0
    """The number of rollouts that were replayed."""
    is_exact: bool = False
    """Whether those are all that are possible."""
    unknown: tuple[str, ...] = ()
    """Why something is unknown, in sentences."""


class RolloutForecast(Value):
    """What a rollout will cost."""

    cluster: str
    group: str
    evaluated_ms: int
    members: int
    """Number of members; each is replaced."""
    partitions: int
    """Number of partitions."""
    rollout: Rollout
    """How members are replaced."""
    ways: tuple[RolloutWay, ...]
    """The requested way first, then those that change one thing."""
    assumptions: tuple[str, ...] = ()
    """The assumptions, in sentences."""


class RolloutQuestion(Value):
    """A question about a rollout. ``assignor`` None: the group's own; ``protocol`` None: as it is."""

    rollout: Rollout
    assignor: str | None = None
    protocol: str | None = None
    is_static: bool = False


def forecast(inputs: GroupInputs, question: RolloutQuestion, *, is_alone: bool = False) -> RolloutForecast:
    """What the rollout will cost, beside what it would cost in other ways unless it ``is_alone``.

    Raises:
        QuestionError: the group's rollout cannot be replayed; the text says why.
    """
    roster, question = _prepare(inputs, question)
    first = _way(roster, question)
    return RolloutForecast(
        cluster=roster.group.cluster,
        group=roster.group.group,
        evaluated_ms=inputs.now_ms,
        members=len(roster.members),
        partitions=sum(roster.counts.values()),
        rollout=question.rollout,
        ways=(first, *(() if is_alone else _other_ways(roster, question, first))),
        assumptions=tuple(_assumptions(roster, question)),
    )


def _prepare(inputs: GroupInputs, question: RolloutQuestion) -> tuple[Roster, RolloutQuestion]:
    """The group, and the question with what the group's members decide of it."""
    _require_consumers(inputs.group)
    roster = roster_of(inputs)
    _require_sound(roster, question)
    is_static = question.is_static or all(member.instance_id is not None for member in roster.members)
    return roster, replace(question, is_static=is_static)


def forecasts_kind(kind: GroupKind) -> bool:
    """Whether rollouts of groups of a kind have a forecast: those of classic and of KIP-848 consumer groups."""
    return SYSTEM_OF.get(kind) in {System.KAFKA_CLIENT, System.KAFKA_BROKER}


def _require_consumers(group: GroupState) -> None:
    if not forecasts_kind(group.kind):
        raise QuestionError(
            f"Group {shown_group(group.group)} is a {group.kind} group; groupwatch forecasts rollouts of classic and "
            "KIP-848 consumer groups only."
        )


def _require_sound(roster: Roster, question: RolloutQuestion) -> None:
    name = shown_group(roster.group.group)
    if len(roster.members) > MOST_MEMBERS or sum(roster.counts.values()) > MOST_PARTITIONS:
        raise QuestionError(
            f"groupwatch forecasts rollouts of at most {MOST_MEMBERS} members and {MOST_PARTITIONS:,} partitions."
        )
    if question.protocol not in {None, CONSUMER, CLASSIC}:
        raise QuestionError(f"The protocol is classic or consumer, not {shown(question.protocol or '')}.")
    if question.protocol == CLASSIC and roster.is_modern:
        raise QuestionError(f"Group {name} uses the KIP-848 protocol; groupwatch forecasts no way back.")
    if len({member.instance_id is None for member in roster.members}) > 1 and not question.is_static:
        raise QuestionError(
            f"Some members of group {name} have a group.instance.id and others have none; groupwatch forecasts such "
            "rollouts only as if all were static."
        )


def _require_one_library(roster: Roster) -> None:
    """Refuse a group of which nothing says who leads it during the rollout, and assigns by its own library's rule."""
    libraries = {each.one for each in roster.libraries.values() if each.one is not None}
    if len(libraries) > 1 and not roster.is_modern:
        names = listed(sorted(project_name(each) for each in libraries))
        raise QuestionError(
            f"Members of group {shown_group(roster.group.group)} use {names}; which one leads, and by whose assignor, "
            "is not known before."
        )


def _other_ways(roster: Roster, question: RolloutQuestion, first: RolloutWay) -> Iterator[RolloutWay]:
    if not first.is_static:
        yield _try_way(roster, replace(question, is_static=True), first)
    if first.protocol == CLASSIC:
        if first.assignor.rpartition(".")[2] != COOPERATIVE:
            yield _try_way(roster, replace(question, assignor=COOPERATIVE), first)
        yield _try_way(roster, replace(question, assignor=None, protocol=CONSUMER), first)


def _try_way(roster: Roster, question: RolloutQuestion, first: RolloutWay) -> RolloutWay:
    """Another way; where it cannot be replayed, the sentence says why."""
    try:
        return _way(roster, question)
    except QuestionError as error:
        protocol = question.protocol or first.protocol
        usual = first.assignor if protocol == first.protocol else _UNIFORM
        return RolloutWay(question.assignor or usual, protocol, question.is_static, unknown=(str(error),))


def _way(roster: Roster, question: RolloutQuestion) -> RolloutWay:
    becomes_modern = question.protocol == CONSUMER and not roster.is_modern
    then = _modern(roster) if becomes_modern else roster
    chosen = _choose(then, question.assignor or (_UNIFORM if becomes_modern else None))
    field = Field(then, chosen, question.is_static)
    way = RolloutWay(chosen.name, CONSUMER if then.is_modern else CLASSIC, question.is_static)
    if question.is_static and question.rollout.start_ms < _session_ms(then):
        nothing = Spread(0, 0, 0)
        start = age(question.rollout.start_ms)
        sentence = f"Partitions stand still while their pod restarts, for about {start}; no rebalance measures that."
        return replace(way, rebalances=nothing, moves=nothing, unknown=(sentence,))
    _require_one_library(then)
    try:
        way = _with_counts(way, field, _in_place(question.rollout) if question.is_static else question.rollout)
    except AssignorError as error:
        raise QuestionError(f"The assignor {chosen.name} fails for this group: {shown(str(error))}.") from error
    return _with_pauses(way, roster, field)


def _in_place(rollout: Rollout) -> Rollout:
    """The rollout of static members: two pods of one instance id would fence each other, so the old one stops first."""
    return rollout if rollout.is_recreated else replace(rollout, surge=0)


def _choose(roster: Roster, name: str | None) -> ChosenAssignor:
    chosen = choose_assignor(roster, name)
    if isinstance(chosen, KafkasAssignor) and chosen.instead_of is not None:
        whose = project_name(chosen.instead_of.library)
        raise QuestionError(
            f"groupwatch cannot replay the {chosen.instead_of.protocol} of {whose}: its result depends on what only "
            "the leader knows."
        )
    return chosen


def _modern(roster: Roster) -> Roster:
    """The group with the same members and partitions under the KIP-848 protocol.

    Raises:
        QuestionError: the ids of its topics are not known.
    """
    then = replace(roster, group=replace(roster.group, kind=_KIND_WITH_BROKER), dialect=None)
    if len(then.shapes(then.counts)) < len(then.counts):
        raise QuestionError("The ids of the topics are not known, so the coordinator's assignor cannot be replayed.")
    return then


def _session_ms(roster: Roster) -> int:
    """How long the place of a static member is kept.

    Raises:
        QuestionError: that is not known, as no admin API has it.
    """
    if roster.is_modern:
        return SESSION_MS
    known_ms = _least_session_ms(roster)
    if known_ms is None:
        raise QuestionError("The session timeout of the members is not known, nor what a restart of static ones moves.")
    return known_ms


def _least_session_ms(roster: Roster) -> int | None:
    """The shortest session timeout that members have; None: none is known."""
    return min([member.session_timeout_ms for member in roster.members if member.session_timeout_ms], default=None)


# --- what is counted --------------------------------------------------------------------------------------------------


def _with_counts(way: RolloutWay, field: Field, rollout: Rollout) -> RolloutWay:
    every = play_all(lambda draw: play_rollout(field, rollout, draw), EVERY) if _depends_on_order(field) else None
    if every is not None:
        return _with_spreads(way, every, every, is_exact=True)
    size = len(field.roster.members)
    work = 2 * size * (size + sum(field.roster.counts.values()))
    enough = max(FEWEST, min(SAMPLE, WORK // work))
    sampled = [play_rollout(field, rollout, SampledDraw(seed)) for seed in range(enough)]
    extreme = [play_rollout(field, rollout, draw) for draw in ruled_draws()]
    return _with_spreads(way, sampled, [*sampled, *extreme], is_exact=False)


def _depends_on_order(field: Field) -> bool:
    """Whether nothing about member ids counts but their order, so that all orders are all there is."""
    return isinstance(field.assignor, KafkasAssignor) and field.assignor.name in {"range", "roundrobin"}


def _with_spreads(way: RolloutWay, usual: Sequence[Played], every: Sequence[Played], *, is_exact: bool) -> RolloutWay:
    return replace(
        way,
        rebalances=_spread(lambda played: played.rebalances, usual, every),
        moves=_spread(lambda played: played.moves, usual, every),
        replayed=len(every),
        is_exact=is_exact,
    )


def _spread(count: Callable[[Played], int], usual: Sequence[Played], every: Sequence[Played]) -> Spread:
    found = sorted(map(count, usual))
    return Spread(min(map(count, every)), found[(len(found) - 1) // 2], max(map(count, every)))


# --- what was measured ------------------------------------------------------------------------------------------------


def _with_pauses(way: RolloutWay, roster: Roster, field: Field) -> RolloutWay:
    """The pauses by the group's own rebalances, if they were of this kind."""
    partitions = max(1, sum(roster.counts.values()))
    measured = _measured_rebalances(roster.group) if _kind_of(field) == _kind_now(roster) else []
    pause = _pause(measured, partitions)
    if pause is None or way.rebalances is None:
        sentence = f"No {_kind_of(field)} rebalance of this group has been measured, so its pauses are unknown."
        return replace(way, unknown=(*way.unknown, sentence))
    times = way.rebalances
    whole = Spread(pause.least * times.least, pause.median * times.median, pause.most * times.most)
    return replace(way, pause_ms=pause, whole_pause_ms=whole, measured=len(measured))


def measured_pause(group: GroupState, partitions: int) -> Spread | None:
    """For how long a rebalance of this group stopped each of its partitions, on average (ms); None: none is known."""
    return _pause(_measured_rebalances(group), max(1, partitions))


def _pause(measured: Sequence[Rebalance], partitions: int) -> Spread | None:
    if not measured:
        return None
    pauses = sorted(round(each.pause_ms / partitions) for each in measured)
    return Spread(pauses[0], pauses[(len(pauses) - 1) // 2], pauses[-1])


def _measured_rebalances(group: GroupState) -> list[Rebalance]:
    """The newest rebalances whose pause is known, since the group last changed how it rebalances."""
    found: list[Rebalance] = []
    for each in reversed(group.history):
        if _CHANGES_KIND & set(each.causes):
            break
        if each.ended_ms is not None and each.paused_partitions and not each.is_first and stopped_members(each):
            found.append(each)
    return found


def _kind_of(field: Field) -> str:
    if field.roster.is_modern:
        return "KIP-848"
    return "cooperative" if field.is_cooperative else "eager"


def _kind_now(roster: Roster) -> str:
    if roster.is_modern:
        return "KIP-848"
    return "cooperative" if roster.group.protocol == COOPERATIVE else "eager"


# --- what is assumed --------------------------------------------------------------------------------------------------


def _assumptions(roster: Roster, question: RolloutQuestion) -> Iterator[str]:
    yield "Pods leave the group when they stop. Each new pod subscribes to the topics of the one that it replaces."
    yield "Old pods stop in any order; member ids of new pods sort anywhere among the others."
    if question.rollout.surge != 0 and not question.rollout.is_recreated:
        yield "A pod can be ready before it has joined, so joins and stops of one step come in any order."
    yield "Joins and stops within 10 s may fall into one rebalance or into several."
    yield "No other rebalance happens meanwhile; topics keep their partitions."
    yield "Static members restart in place: each pod stops before its new one starts, and surge has no effect."
    session_ms = _least_session_ms(roster)
    if session_ms is not None and not roster.is_modern:
        yield f"A static member keeps its partitions if it is back within its session timeout, {age(session_ms)} here."
    if not roster.is_modern:
        yield "Assignors without the name of a library are those of Kafka's Java client, with KIP-848 the broker's."
    if roster.is_modern or question.protocol != CLASSIC:
        yield (
            f"A KIP-848 group keeps the place of a static member for {age(SESSION_MS)}, the broker's default; no "
            "record has its setting."
        )

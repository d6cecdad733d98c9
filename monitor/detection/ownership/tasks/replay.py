"""The broker's task assignor, replayed for what members had, against the targets that the broker chose.

Which release the broker has is not known. Up to Kafka 4.3 the assignor receives the old targets, from 4.4 on what the
members ran, and there it has another rule for ties. One of the two results has to be met.

The coordinator's map of members iterates by hash code. Members of one place come in an order that no record has, so the
other orders are tried too. And from 4.4 on a task with state may go to whom reports to have the state, which no record
has either: then only what stays where it was is certain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from monitor.assignors.errors import AssignorError
from monitor.assignors.java.bucket_orders import bucket_orders
from monitor.assignors.kafka_broker.sticky_task import MemberTasks, StickyTaskAssignor, SubtopologyTasks, TaskMember
from monitor.detection.ownership.tasks.target_check import TargetCheck, TargetResult, UncheckedReason, unknown_result
from monitor.model import IdPartitions, Value

MOST_ORDERS: Final = 1_000
MOST_WORK: Final = 20_000
"""So many orders of the members are tried at most, and fewer of large groups: so many tasks are assigned in all. That
takes about a fifth of a second."""

Targets = Mapping[str, MemberTasks]
"""What each member is to run."""

_Tasks = frozenset[tuple[str, int]]


class Question(Value):
    """What the assignor received: members with their old targets, and with what they ran."""

    by_targets: tuple[TaskMember, ...]
    by_held: tuple[TaskMember, ...]
    subtopologies: tuple[SubtopologyTasks, ...]
    standby_replicas: int

    @property
    def variants(self) -> tuple[tuple[StickyTaskAssignor, tuple[TaskMember, ...]], ...]:
        """The assignor of each release, with the members as it receives them."""
        return (StickyTaskAssignor(), self.by_targets), (StickyTaskAssignor(before_4_4=False), self.by_held)


def check_answer(question: Question, targets: Targets) -> TargetCheck:
    """Whether the targets, which have each task once, are an answer to the question."""
    try:
        return _check(question, targets)
    except AssignorError:
        return unknown_result(UncheckedReason.TASKS)


def _check(question: Question, targets: Targets) -> TargetCheck:
    wanted = _comparable(targets.values())
    answers = [
        assignor.assign(members, question.subtopologies, question.standby_replicas)
        for assignor, members in question.variants
    ]
    if wanted in map(_comparable, answers):
        return TargetCheck(TargetResult.EQUAL)
    different = TargetCheck(TargetResult.DIFFERENT, given=_nearest(answers, wanted))
    if not _keep_what_stays(question, targets):
        return different
    orders = list(islice(bucket_orders([m.member_id for m in question.by_targets], _most_orders(question) + 1), None))
    if any(wanted == _comparable(answer) for answer in _other_answers(question, orders[1:])):
        return TargetCheck(TargetResult.TIE)
    if len(orders) > _most_orders(question):
        return unknown_result(UncheckedReason.ORDERS)
    has_state = any(part.is_stateful and part.tasks for part in question.subtopologies)
    return unknown_result(UncheckedReason.STATE) if has_state else different


def _other_answers(question: Question, orders: Iterable[Sequence[str]]) -> Iterator[tuple[MemberTasks, ...]]:
    named = [(assignor, {member.member_id: member for member in members}) for assignor, members in question.variants]
    for order in orders:
        for assignor, members in named:
            in_order = [members[member_id] for member_id in order]
            yield assignor.assign_in_order(in_order, question.subtopologies, question.standby_replicas)


def _keep_what_stays(question: Question, targets: Targets) -> bool:
    """Whether each active task is left where it was that stays there in any order and whatever members report."""
    return any(
        _is_shared_out_twice(members)
        or all(
            _tasks(kept.active) <= _tasks(targets[kept.member_id].active)
            for kept in assignor.keep_active(members, question.subtopologies)
        )
        for assignor, members in question.variants
    )


def _is_shared_out_twice(members: Iterable[TaskMember]) -> bool:
    """Whether two members had one active task: then it depends on their order with whom it stays."""
    had = [task for member in members for task in _tasks(member.active)]
    return len(set(had)) < len(had)


def _most_orders(question: Question) -> int:
    tasks = sum(part.tasks for part in question.subtopologies) * (1 + question.standby_replicas)
    return max(1, min(MOST_ORDERS, MOST_WORK // max(1, tasks + len(question.by_targets))))


def _nearest(
    answers: Sequence[tuple[MemberTasks, ...]], wanted: Mapping[str, tuple[_Tasks, _Tasks]]
) -> tuple[MemberTasks, ...]:
    """The answer that differs in the fewest members; of the older release, if both differ in as many."""
    return min(answers, key=lambda answer: sum(wanted[k] != each for k, each in _comparable(answer).items()))


def _comparable(answer: Iterable[MemberTasks]) -> dict[str, tuple[_Tasks, _Tasks]]:
    return {each.member_id: (_tasks(each.active), _tasks(each.standby)) for each in answer}


def _tasks(entries: Iterable[IdPartitions]) -> _Tasks:
    return frozenset((entry.id, number) for entry in entries for number in entry.partitions)

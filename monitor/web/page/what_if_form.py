"""The form that asks what if, and the answer as the page of a group shows it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.datastructures import QueryParams

from monitor.assignors.dialects import Exactness, dialects_of
from monitor.assignors.registry import SYSTEM_OF, offered_names
from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.explain.simulation import why_not_simulated
from monitor.explain.what_if import Change, MemberChange, Move, PartitionCount, what_if
from monitor.explain.what_if_text import consequences, held_after, held_before, mark, moving, sizes, task_move
from monitor.kinds.streams import TASK_ASSIGNOR
from monitor.messages.names import shown
from monitor.model import KINDS, Assigner, GroupVerdict, Value
from monitor.model.escaping import escaped
from monitor.web.page.member_labels import Holder, Holders
from monitor.web.views.query import NUMBERS, is_number
from monitor.web.views.what_if_limits import affordable

ASKED: Final = "what-if"
"""In the query of an address that asks."""

MOST_ROWS: Final = 200
"""Longer tables are cut; the command ``groupwatch what-if --json`` has all."""

LISTED_MEMBERS: Final = 500
"""With up to so many members, those to go without can be chosen in a list."""

_ONE_VALUE: Final = ("assignor", "leader", "members", "grown", "to")
"""The form has one field for each of these. In an address that has more of one, all but one would count for nothing."""


class WhatIfForm(Value):
    """The form with what was filled in. ``assignors`` and ``topics`` can be chosen; a kind without is not rehearsed.

    ``has_leader``: a member assigns, by the assignor of its client library. ``repeated`` are fields that an address,
    which a person has typed, has more than once. ``refusal`` is the reason why a kind is not simulated.
    """

    assignors: tuple[str, ...]
    topics: tuple[str, ...]
    is_asked: bool = False
    assignor: str = ""
    has_leader: bool = False
    leader: str = ""
    members: str = ""
    without: tuple[str, ...] = ()
    topic: str = ""
    partitions: str = ""
    repeated: tuple[str, ...] = ()
    refusal: str | None = None


class MemberRow(Value):
    """A member before and after. ``mark`` says in a word what is remarkable, "" if nothing is."""

    member: Holder
    mark: str
    before: int
    after: int
    has_before: str
    has_after: str
    is_same: bool


class MoveRow(Value):
    """A partition that gets another owner."""

    move: Move
    before: tuple[Holder, ...]
    after: tuple[Holder, ...]


class WhatIfAnswer(Value):
    """The answer; its sentences say what else there is to know. ``more_members`` and ``more_moves`` are not listed.

    ``task_moves`` are sentences on the tasks of a streams group, which has no moves of partitions.
    """

    assignor: str
    assignor_before: str
    moving: str
    members: tuple[MemberRow, ...]
    moves: tuple[MoveRow, ...]
    task_moves: tuple[str, ...]
    more_members: int
    more_moves: int
    sentences: tuple[str, ...]
    assumptions: tuple[str, ...]


def _assignors(verdict: GroupVerdict) -> tuple[str, ...]:
    """The assignors that can be chosen; none where the group is of a kind that is not rehearsed.

    Kafka's own, and those of client libraries that have the same name on the wire as the group's.
    """
    traits = verdict.traits
    if traits.broker_assigns_tasks and verdict.members:
        return (TASK_ASSIGNOR,)
    if not traits.assignors or not verdict.members:
        return ()
    own = offered_names(SYSTEM_OF[verdict.kind])
    if traits.assigns is not Assigner.LEADER:
        return own
    dialects = [row.name for row in dialects_of(verdict.assignor or "") if row.exactness is not Exactness.CHECKED]
    return (*own, *dialects)


def what_if_form(verdict: GroupVerdict, query: QueryParams) -> WhatIfForm:
    """The form for this group, as it was sent."""
    subscribed = {topic for member in verdict.members for topic in member.topics}
    called = [name for each in verdict.members for name in (each.member_id, each.instance_id, each.client_id) if name]
    return WhatIfForm(
        assignors=_assignors(verdict),
        topics=tuple(sorted(subscribed)) if not KINDS[verdict.kind].is_self_assigned else (),
        is_asked=ASKED in query,
        assignor=query.get("assignor", ""),
        has_leader=KINDS[verdict.kind].assigns is Assigner.LEADER and len(verdict.members) > 1,
        leader=_meant(query.get("leader", ""), called),
        members=query.get("members", ""),
        without=tuple(_meant(each, called) for each in query.getlist("without")),
        topic=_meant(query.get("grown", ""), sorted(subscribed)),
        partitions=query.get("to", ""),
        repeated=tuple(name for name in _ONE_VALUE if len(query.getlist(name)) > 1),
        refusal=why_not_simulated(verdict.group, verdict.kind, verdict.traits),
    )


def _meant(sent: str, names: Sequence[str]) -> str:
    """The name that a form means: on a page, also in a form, names are as they are shown (``Pages``)."""
    return sent if sent in names else next((name for name in names if escaped(name) == sent), sent)


def what_if_answer(inputs: GroupInputs, form: WhatIfForm, holders: Holders) -> WhatIfAnswer:
    """What the group's assignment would be.

    Raises:
        QuestionError: something that was filled in cannot be so, or the assignment cannot be computed.
    """
    answer = what_if(inputs, affordable(_change(form)))
    in_tasks, task_moves = answer.task_moves is not None, answer.task_moves or ()
    before = "" if answer.assignor_before in (None, answer.assignor) else answer.assignor_before or ""
    return WhatIfAnswer(
        assignor=answer.assignor,
        assignor_before=before,
        moving=moving(answer),
        members=tuple(_member_row(each, holders) for each in answer.members[:MOST_ROWS]),
        moves=() if in_tasks else tuple(_move_row(each, holders) for each in answer.moves[:MOST_ROWS]),
        task_moves=tuple(map(task_move, task_moves[:MOST_ROWS])),
        more_members=max(0, len(answer.members) - MOST_ROWS),
        more_moves=max(0, len(task_moves if in_tasks else answer.moves) - MOST_ROWS),
        sentences=consequences(answer),
        assumptions=answer.assumptions,
    )


def _change(form: WhatIfForm) -> Change:
    if form.repeated:
        raise QuestionError(f"{form.repeated[0]} may be given only once.")
    if bool(form.topic) != bool(form.partitions.strip()):
        raise QuestionError("A topic and its new number of partitions belong together: fill in both or none.")
    return Change(
        assignor=form.assignor or None,
        leader=form.leader or None,
        members=_whole(form.members, "The number of members"),
        without=tuple(each for each in form.without if each),
        partitions=tuple(
            PartitionCount(form.topic, count)
            for count in [_whole(form.partitions, "The number of partitions")]
            if count is not None
        ),
    )


def _whole(text: str, what: str) -> int | None:
    text = text.strip()
    if not text:
        return None
    if not is_number(text):
        raise QuestionError(f"{what} must be {NUMBERS}, not {shown(text)}.")
    return int(text)


def _member_row(each: MemberChange, holders: Holders) -> MemberRow:
    before, after = sizes(each)
    return MemberRow(
        member=holders[each.member_id],
        mark=mark(each),
        before=before,
        after=after,
        has_before=held_before(each),
        has_after=held_after(each),
        is_same=each.before == each.after and each.tasks_before == each.tasks_after,
    )


def _move_row(move: Move, holders: Holders) -> MoveRow:
    return MoveRow(
        move=move,
        before=tuple(holders[each] for each in move.before),
        after=tuple(holders[each] for each in move.after),
    )

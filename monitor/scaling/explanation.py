"""The explanation of a group with how many members it needs, where an entry ``[[scale]]`` asks for that."""

from __future__ import annotations

from msgspec.structs import replace

from monitor.detection.evaluation_input import GroupInputs
from monitor.explain.query import explained
from monitor.explain.statements import About, Explanation, Statement
from monitor.model.scaling import Scaling
from monitor.scaling.answer import scaling_now
from monitor.scaling.text import measured_text, needed_text


def fully_explained(inputs: GroupInputs, topic: str | None = None, partition: str | None = None) -> Explanation:
    """The explanation of a group, with the number of members that it needs; or that of one of its partitions.

    Raises:
        QuestionError: the group has nothing to do with that partition, or only a half of it is named.
    """
    explanation = explained(inputs, topic, partition)
    target = inputs.settings.scale
    if topic is not None or target is None or inputs.unjudged is not None or not inputs.group.members:
        return explanation
    told = _statement(scaling_now(inputs, target))
    return replace(explanation, statements=(*explanation.statements, told))


def _statement(scaling: Scaling) -> Statement:
    sentence = f"The group {needed_text(scaling)}"
    return Statement(about=About.NEEDED, sentence=sentence, evidence=(measured_text(scaling),))

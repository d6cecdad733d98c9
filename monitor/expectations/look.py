"""One look at a group: what a source has of it and the verdict on that, or why there is none."""

from __future__ import annotations

from monitor.detection.evaluate import evaluate
from monitor.detection.evaluation_input import GroupInputs
from monitor.messages.names import shown
from monitor.model import GroupVerdict, Value


class UnknownGroup(Value):
    """A group of which a source can say nothing now, or not enough; the sentence says why."""

    sentence: str


class Look(Value):
    """A group as it was once: what its verdict is made of, and the verdict."""

    inputs: GroupInputs
    verdict: GroupVerdict


def look_at(inputs: GroupInputs) -> Look | UnknownGroup:
    """The verdict on a group. One that cannot be evaluated is unknown: what is left of it could look like health."""
    if inputs.unjudged is not None:
        return _not_evaluated(inputs.unjudged.unjudged or "nothing is known of it")
    try:
        verdict = evaluate(inputs.group, inputs.catalog, inputs.now_ms, inputs.settings)
    except Exception as error:  # a rule that fails on this group
        return _not_evaluated(f"{type(error).__name__}: {error}")
    return Look(inputs=inputs, verdict=verdict)


def not_known_now(cluster: str, state: str) -> str:
    """The sentence about a cluster of which a job says nothing now; ``state`` is its state in a sentence."""
    return f"The groups of {shown(cluster)} are not known now. {state}"


def _not_evaluated(reason: str) -> UnknownGroup:
    return UnknownGroup(f"It cannot be evaluated: {reason}")

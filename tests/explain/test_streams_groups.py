"""What is explained of streams groups of the broker: captured ones, and what cannot be recomputed."""

import pytest
from msgspec.structs import replace

from monitor.detection.evaluation_input import GroupInputs
from monitor.explain.group import explain_group
from monitor.explain.statements import About
from monitor.model import Catalog, Phase
from tests.detection.ownership.test_task_targets import pair
from tests.support.builders import catalog, topic
from tests.support.captured_streams import after_each, streams_logs

HEAD = "The coordinator assigns tasks with sticky, its only task assignor."
UNCHECKED = (
    "groupwatch could not recompute the targets of epoch {}. It checks only that every task has one member, and no "
    "member more than its share."
)


def told(state, topics):
    explanation = explain_group(GroupInputs(group=state, catalog=topics, now_ms=state.phase_ms + 1_000))
    (statement,) = [each for each in explanation.statements if each.about is About.ASSIGNOR]
    return statement.sentence, statement.evidence


def captured(epoch):
    """The captured group as its targets of an epoch had been stored."""
    states = (state for _, state in after_each(streams_logs()["stc893-streams"]) if state is not None)
    return next(state for state in states if state.target_epoch == epoch)


@pytest.mark.parametrize(
    ("epoch", "sentence", "evidence"),
    [
        (8, "The targets of epoch 8 are what it computes from the previous tasks of the members.", ()),
        (
            16,
            "The targets of epoch 16 are what it computes from the previous tasks of the members, up to a tie.",
            ("The result depends on the order in which members joined, if their ids share a bucket of a hash map.",),
        ),
    ],
)
def test_captured_targets_are_what_the_assignor_computes(epoch, sentence, evidence):
    assert told(captured(epoch), Catalog(cluster="c", pass_ms=0)) == (f"{HEAD} {sentence}", evidence)


def settled(*, is_stateful=False, targets=(0, 1), **change):
    broker = pair(is_stateful=is_stateful, targets=targets)
    broker.settle("a", "b")
    return replace(broker.state(), **change)


TOPICS = catalog(topic("in-0", 2))


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (settled(phase=Phase.NOT_READY), "The topology is not ready, so there are no tasks."),
        (
            settled(phase=Phase.ASSIGNING, generation=4),
            "The coordinator has not assigned tasks for the newest epoch yet.",
        ),
        (
            settled(assignor_input=None),
            "The previous tasks of the members are not known. They are known from the next epoch on, if groupwatch "
            "reads the group from the log.",
        ),
        (
            settled(targets=(0, 2)),
            "The targets do not contain every task exactly once: the topics may have changed since.",
        ),
        (
            settled(is_stateful=True, targets=(1, 0)),
            "From Kafka 4.4 on, the result depends on the state that members report, which is in no record.",
        ),
    ],
)
def test_why_targets_could_not_be_recomputed(state, reason):
    assert told(state, TOPICS) == (f"{HEAD} {UNCHECKED.format(3)}", (reason,))


def test_targets_that_are_not_the_assignors_are_told():
    assert told(settled(targets=(1, 0)), TOPICS) == (f"{HEAD} The targets of epoch 3 are not what it computes.", ())

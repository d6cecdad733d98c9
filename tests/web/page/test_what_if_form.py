"""The form of what-if and its answer; the arithmetic of the assignors is that of tests/explain/test_what_if.py."""

import re

import pytest
from starlette.datastructures import QueryParams

from monitor.detection.evaluate import evaluate
from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.model import CONNECT, GroupKind, GroupVerdict
from monitor.web.page.group import group_page
from monitor.web.page.member_labels import Holders
from monitor.web.page.on_demand import Forms, answered
from monitor.web.page.options import PageOptions
from monitor.web.page.render import Pages
from monitor.web.page.rollout_form import RolloutForm
from monitor.web.page.scale_form import ScaleForm
from monitor.web.page.what_if_form import WhatIfAnswer, WhatIfForm, what_if_answer, what_if_form
from monitor.web.views.overview import ClusterLine
from monitor.web.views.what_if_limits import require_small_group
from tests.detection.ownership.test_task_targets import pair
from tests.support.builders import NOW, catalog, group, member, topic

CLUSTER = ClusterLine("c", "", None, ready=True, failing=False, evaluated="1 s", stale=False, groups=1, progress=None)
TOPICS = catalog(topic("a", 3), topic("b", 3))
BOTH = ("a", "b")
PAIR = group(
    member("C0", BOTH, {"a": [0, 1], "b": [0, 1]}, client_id="front"),
    member("C1", BOTH, {"a": [2], "b": [2]}, client_id="back"),
)


def verdict(**fields) -> GroupVerdict:
    return evaluate(group(*PAIR.members, **fields), TOPICS, NOW, DetectionSettings())


def answer(query: str) -> WhatIfAnswer:
    form = what_if_form(verdict(), QueryParams(query))
    return what_if_answer(GroupInputs(group=PAIR, catalog=TOPICS, now_ms=NOW), form, Holders(verdict().members))


def test_the_form_offers_what_the_group_can_have_and_keeps_what_was_filled_in():
    form = what_if_form(
        verdict(), QueryParams("what-if=1&assignor=sticky&members=3&without=C0&without=C1&grown=a&to=9")
    )
    assert form == WhatIfForm(
        assignors=(
            *("range", "roundrobin", "sticky", "cooperative-sticky"),
            *("sarama.range", "kafka-go.range", "franz-go.range", "kafka-python.range", "aiokafka.range"),
            "librdkafka.range",
        ),
        topics=("a", "b"),
        is_asked=True,
        assignor="sticky",
        has_leader=True,
        members="3",
        without=("C0", "C1"),
        topic="a",
        partitions="9",
    )
    assert not what_if_form(verdict(), QueryParams("")).is_asked


def test_a_kind_of_group_that_is_not_rehearsed_and_a_group_without_members_have_no_form():
    shared = what_if_form(verdict(kind=GroupKind.SHARE), QueryParams(""))
    assert (shared.assignors, "a share group: its members consume" in (shared.refusal or "")) == ((), True)
    empty = evaluate(group(), TOPICS, NOW, DetectionSettings())
    assert what_if_form(empty, QueryParams("")).assignors == ()


def test_the_answer_shows_members_moves_and_balance():
    """Round robin deals a0 a1 a2 b0 b1 b2 to C0 C1 C0 C1 C0 C1; range gave C0 the first two of each topic."""
    told = answer("what-if=1&assignor=roundrobin")
    assert (told.assignor, told.assignor_before) == ("roundrobin", "range")
    assert told.moving == "3 partitions get a different owner:"
    assert [(row.member.name, row.before, row.has_before, row.after, row.has_after) for row in told.members] == [
        ("front", 4, "a 0-1; b 0-1", 3, "a 0, 2; b 1"),
        ("back", 2, "a 2; b 2", 3, "a 1; b 0, 2"),
    ]
    assert [(row.move.topic, row.move.partition, row.before[0].number, row.after[0].number) for row in told.moves] == [
        ("a", 1, 1, 2),
        ("a", 2, 2, 1),
        ("b", 0, 1, 2),
    ]
    assert told.sentences == (
        "Balance before: at most 4 partitions per member, optimum 3 (ratio 1.33); after: at most 3 partitions per "
        "member, optimum 3 (ratio 1.00).",
    )


def test_who_joins_and_who_leaves_is_marked():
    assert [row.mark for row in answer("what-if=1&members=3").members] == ["", "", "joins"]
    assert [row.mark for row in answer("what-if=1&without=C1").members] == ["", "leaves"]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("members=-1", "The number of members must be a whole number from 1 to 999999999, not -1."),
        ("members=1e3", "The number of members must be a whole number from 1 to 999999999, not 1e3."),
        ("members=0", "The number of members must be a whole number from 1 to 999999999, not 0."),
        ("members=10001", "groupwatch simulates 1 to 10,000 members, not 10001."),
        ("grown=a&to=many", "The number of partitions must be a whole number from 1 to 999999999, not many."),
        ("grown=a&to=4&grown=a&to=5", "grown may be given only once."),
        ("members=2&members=3", "members may be given only once."),
        ("grown=a", "A topic and its new number of partitions belong together: fill in both or none."),
        ("to=4", "A topic and its new number of partitions belong together: fill in both or none."),
        (
            "grown=a&to=100001",
            "The server simulates at most 100,000 partitions. Run groupwatch what-if for up to 1,000,000.",
        ),
        ("grown=a&to=2", "a has 3 partitions; Kafka cannot change that to 2: a topic can only grow."),
        ("without=C9", "The group has no member C9; its members are C0 (front), C1 (back)."),
        ("assignor=copartition%0A", "copartition\\n"),
    ],
)
def test_what_cannot_be_is_a_sentence(query, sentence):
    with pytest.raises(QuestionError) as error:
        answer(f"what-if=1&{query}")
    assert sentence in str(error.value)


def streams_form(query: str) -> tuple[GroupInputs, WhatIfForm]:
    """A streams group: a has the task 0_0, b has 0_1."""
    broker = pair(is_stateful=False, targets=(0, 1))
    broker.settle("a", "b")
    inputs = GroupInputs(group=broker.state(), catalog=catalog(topic("in-0", 2)), now_ms=NOW)
    found = evaluate(inputs.group, inputs.catalog, NOW, DetectionSettings())
    return inputs, what_if_form(found, QueryParams(query))


def test_a_streams_group_is_simulated_in_tasks():
    inputs, form = streams_form("what-if=1&without=b")
    assert (form.assignors, form.topics, form.has_leader) == (("sticky",), ("in-0",), False)
    found = what_if_answer(inputs, form, Holders(evaluate(inputs.group, inputs.catalog, NOW, inputs.settings).members))
    assert (found.moving, found.task_moves, found.moves) == (
        "1 task gets a different member:",
        ("Task 0_1 moves from b to a.",),
        (),
    )
    assert [(row.before, row.has_before, row.after, row.has_after, row.mark) for row in found.members] == [
        (1, "0_0", 2, "0_0, 0_1", ""),
        (1, "0_1", 0, "", "leaves"),
    ]


def test_groups_whose_leader_cannot_be_simulated_have_no_form():
    """Classic groups of Kafka Streams, and Connect clusters."""
    assert what_if_form(verdict(protocol="stream"), QueryParams("")).assignors == ()
    workers = group(member("w", []), protocol="sessioned", protocol_type=CONNECT)
    assert what_if_form(evaluate(workers, TOPICS, NOW, DetectionSettings()), QueryParams("")).assignors == ()


def test_the_page_lists_what_happens_to_each_task():
    inputs, form = streams_form("what-if=1&without=b")
    judged = evaluate(inputs.group, inputs.catalog, NOW, inputs.settings)
    asked = answered(lambda: inputs, judged, PageOptions(path="/"), Forms(form, RolloutForm(), ScaleForm()))
    page = Pages().group(group_page(judged, None), CLUSTER, PageOptions(path="/"), asked)
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    assert "1 task gets a different member:" in words
    assert "Moved tasks Task 0_1 moves from b to a." in words
    assert "Moved partitions" not in words
    assert "At most 1 active task per member before, 2 after." in words


def test_the_server_forecasts_rollouts_of_small_groups_only():
    large = group(*[member(f"C{number}", ("a",)) for number in range(11)])
    require_small_group(GroupInputs(group=PAIR, catalog=TOPICS, now_ms=NOW))
    for inputs in (
        GroupInputs(group=large, catalog=TOPICS, now_ms=NOW),
        GroupInputs(group=PAIR, catalog=catalog(topic("a", 201)), now_ms=NOW),
    ):
        with pytest.raises(QuestionError, match="at most 10 members and 200 partitions"):
            require_small_group(inputs)

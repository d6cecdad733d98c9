"""The form that forecasts a rollout, and its answer; tests/explain/test_rollout_cost.py is about the replay."""

import re

import pytest
from starlette.datastructures import QueryParams

from monitor.detection.evaluate import evaluate
from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.explain.rollout_plan import Rollout
from monitor.model import CONNECT, GroupKind, GroupState
from monitor.web.page.group import group_page
from monitor.web.page.on_demand import answered, forms_of
from monitor.web.page.options import PageOptions
from monitor.web.page.render import Pages
from monitor.web.page.rollout_form import CostLine, RolloutAnswer, RolloutForm, rollout_answer, rollout_form
from monitor.web.views.overview import ClusterLine
from tests.support.builders import NOW, catalog, group, member, topic

CLUSTER = ClusterLine("c", "", None, ready=True, failing=False, evaluated="1 s", stale=False, groups=1, progress=None)
TOPICS = catalog(topic("a", 4))
PAIR = group(
    member("C0", ("a",), {"a": [0, 1]}, session_timeout_ms=45_000),
    member("C1", ("a",), {"a": [2, 3]}, session_timeout_ms=45_000),
)


def form(query: str, of: GroupState = PAIR) -> RolloutForm:
    return rollout_form(evaluate(of, TOPICS, NOW, DetectionSettings()), QueryParams(query))


def answer(query: str) -> RolloutAnswer:
    return rollout_answer(GroupInputs(group=PAIR, catalog=TOPICS, now_ms=NOW), form(query))


def test_the_form_keeps_what_was_filled_in():
    sent = form("forecast=1&order=surge%3D0&start=45s&way=static")
    assert (sent.is_asked, sent.order, sent.start, sent.way) == (True, "surge=0", "45s", "static")
    assert sent.rollout() == Rollout(surge=0, start_ms=45_000)
    assert form("forecast=1").rollout() == Rollout(surge=1, start_ms=20_000)
    assert form("forecast=1&order=recreate").rollout() == Rollout(None, 20_000, is_recreated=True)
    assert not form("what-if=1").is_asked


def test_a_group_that_uses_kip_848_is_not_offered_it():
    modern = group(member("C0", ("a",), {"a": [0, 1, 2, 3]}), kind=GroupKind.CONSUMER)
    assert [each.value for each in form("").ways] == ["", "static", "kip-848"]
    assert [each.value for each in form("", modern).ways] == ["", "static"]


def test_groups_without_a_forecast_have_no_form():
    """Groups without members, Connect clusters, classic groups of Kafka Streams."""
    workers = group(member("w", []), protocol="sessioned", protocol_type=CONNECT)
    streams = group(*PAIR.members, protocol="stream")
    for each in (group(), workers, streams):
        assert form("", each) == RolloutForm()


def test_static_members_that_are_back_in_time_move_nothing():
    found = answer("forecast=1&way=static")
    assert found.lines == (CostLine("range, static members", "0", "0", "unknown", "unknown"),)
    assert found.heading.startswith("A rollout of g of cluster c, with 2 members and 4 partitions.")


def test_pods_that_all_stop_first_move_partitions_while_one_is_alone():
    """At least nothing moves. At most two partitions move to the last old pod, and two from the first new one."""
    (line,) = answer("forecast=1&order=recreate").lines
    assert (line.moves.split(" / ")[0], line.moves.split(" / ")[2]) == ("0", "4")


@pytest.mark.parametrize("query", ["forecast=1&start=soon", "forecast=1&order=sideways"])
def test_what_cannot_be_is_said_in_place(query: str):
    with pytest.raises(QuestionError, match="is no rollout; give for example"):
        answer(query)
    assert "is no rollout; give for example" in words_of(query)


def test_the_page_shows_the_forecast_below_the_form():
    words = words_of("forecast=1&way=static")
    assert "Assignor Rebalances Moves Pause in each Pause in all range, static members 0 0 unknown unknown" in words
    assert "Assumed: Pods leave the group when they stop." in words
    assert "Assumed:" not in words_of("")


def words_of(query: str) -> str:
    """The words of the group's page."""
    inputs = GroupInputs(group=PAIR, catalog=TOPICS, now_ms=NOW)
    judged = evaluate(PAIR, TOPICS, NOW, DetectionSettings())
    asked = answered(lambda: inputs, judged, PageOptions(path="/"), forms_of(judged, QueryParams(query)))
    page = Pages().group(group_page(judged, None), CLUSTER, PageOptions(path="/"), asked)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))

"""The form that asks how many members a group needs, and its answer; tests/scaling is about the numbers."""

import re

import pytest
from msgspec.structs import replace
from starlette.datastructures import QueryParams

from monitor.detection.evaluate import evaluate
from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.model import CONNECT, GroupState
from monitor.model.scaling import MemberRate, ScaleMemory, Scaling
from monitor.web.page.group import group_page
from monitor.web.page.on_demand import answered, forms_of
from monitor.web.page.options import PageOptions
from monitor.web.page.render import Pages
from monitor.web.page.scale_form import ScaleAnswer, ScaleForm, scale_answer, scale_form
from monitor.web.views.overview import ClusterLine
from tests.scaling.fleet import Fleet, even
from tests.support.builders import NOW, catalog, group, member

CLUSTER = ClusterLine("c", "", None, ready=True, failing=False, evaluated="1 s", stale=False, groups=1, progress=None)
MEASURED = ScaleMemory(rates=tuple([MemberRate(number, "m00", "h", 200.0) for number in range(10)]))
FLEET = Fleet(even(6, 60.0), [400.0, 400.0]).run(700)


def form(query: str, of: GroupState = FLEET.state) -> ScaleForm:
    return scale_form(evaluate(of, FLEET.catalog, FLEET.now_ms, DetectionSettings()), QueryParams(query))


def answer(query: str) -> ScaleAnswer:
    return scale_answer(FLEET.inputs(memory=MEASURED), form(query))


def words_of(query: str, scaling: Scaling | None = None) -> str:
    inputs = FLEET.inputs(memory=MEASURED)
    judged = replace(evaluate(inputs.group, inputs.catalog, inputs.now_ms, inputs.settings), scaling=scaling)
    asked = answered(lambda: inputs, judged, PageOptions(path="/"), forms_of(judged, QueryParams(query)))
    page = Pages().group(group_page(judged, None), CLUSTER, PageOptions(path="/"), asked)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_the_form_keeps_what_was_filled_in():
    sent = form("scale=1&target=2m&most=8")
    assert (sent.is_there, sent.is_asked, sent.target, sent.most_members()) == (True, True, "2m", 8)
    assert not form("forecast=1").is_asked
    assert form("scale=1").most_members() is None


def test_groups_without_members_or_partitions_of_their_own_have_no_form():
    workers = group(member("w", []), protocol="sessioned", protocol_type=CONNECT)
    assert form("", group()) == ScaleForm()
    assert form("", workers) == ScaleForm()


def test_the_answer_has_the_numbers_that_help():
    """60 records a second into each of 6 partitions; a member reads 200 and keeps 40 of these: two partitions each."""
    found = answer("scale=1")
    assert found.heading == (
        "g of cluster c has 2 members and needs 3. 3 members are enough to read all that waits within 1 min."
    )
    assert [(line.members, line.partitions, line.busiest, line.remark) for line in found.lines] == [
        ("1", "6", "180%", "too slow"),
        ("2", "3", "90%", "now, no headroom"),
        ("3", "2", "60%", "needed"),
        ("6", "1", "30%", ""),
    ]
    assert found.measured == "Lag: 0 records. Incoming: 360 records/s. A member reads: 200 records/s (10 measurements)."


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("scale=1&target=soon", "soon is no duration; give for example 60s or 5m."),
        ("scale=1&target=1ms", "The target is at least 1 s."),
        ("scale=1&most=many", "many is no number of members."),
        ("scale=1&most=0", "0 is no number of members."),
        ("scale=1&most=99999999999999", "99999999999999 is no number of members."),
        ("scale=1&most=²", "² is no number of members."),
    ],
)
def test_what_cannot_be_so_is_a_sentence(query, sentence):
    with pytest.raises(QuestionError) as error:
        answer(query)
    assert str(error.value) == sentence
    assert sentence in words_of(query)


def test_a_large_group_is_for_the_command():
    large = Fleet(even(501, 1.0), [400.0])
    with pytest.raises(QuestionError, match=r"at most 500 partitions\. Run groupwatch scale"):
        scale_answer(GroupInputs(large.run(20).state, large.catalog, large.now_ms), form("scale=1"))


def test_the_page_shows_the_number_of_the_job_and_the_table_on_request():
    scaling = Scaling(60_000, "A rebalance has just ended.", 4, 4)
    assert "How many members it needs 4 members. A rebalance has just ended." in words_of("", scaling)
    assert "Unknown. It has none." in words_of("", Scaling(60_000, "It has none."))
    shown = words_of("scale=1")
    assert "g of cluster c has 2 members and needs 3." in shown
    assert "Too slow: a record would wait longer than 1 min, now or if the load stays." in shown
    assert "Assumed: A member reads as fast as members of this group did while they had lag" in shown
    assert "needs 3" not in words_of("")


def test_a_group_that_is_not_there_any_more_is_no_question():
    assert scale_form(evaluate(group(), catalog(), NOW, DetectionSettings()), QueryParams("scale=1")) == ScaleForm()

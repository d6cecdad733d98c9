"""Expectations on the page and in the API: whose groups, what is not met, and a file that cannot be used."""

import json
import re

import pytest
from msgspec.structs import replace

from monitor.model import Finding, FindingKind
from monitor.model.expectations import ExpectationsHealth, GroupExpectations, Met
from tests.web.examples import NOW_MS, offsets_only, ready_cluster, snapshot
from tests.web.test_app import client

NOT_AS_EXPECTED = Finding(
    FindingKind.EXPECTATION,
    "critical",
    NOW_MS - 600_000,
    "The group is not as its entry orders says. It has 2 members.",
)
ORDERS = replace(
    offsets_only("orders"),
    findings=(NOT_AS_EXPECTED,),
    expectations=GroupExpectations(Met.NO, not_met=("members", "findings"), unknown=("static",), team="check out"),
)
BILLING = replace(offsets_only("billing"), expectations=GroupExpectations(Met.YES, team="money"))
REFUNDS = replace(offsets_only("refunds"), expectations=GroupExpectations(Met.UNKNOWN, team="money"))
NOBODYS = offsets_only("somebody's")
PROBLEM = "expectations.toml cannot be used, so the job goes by the expectations that it read before."
CLUSTER = ready_cluster(ORDERS, BILLING, REFUNDS, NOBODYS)
CLIENT = client(snapshot(replace(CLUSTER, expectations=ExpectationsHealth())))


def text(path: str, of=CLIENT) -> str:
    """A page without its marks."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", of.get(path).text))


def listed(path: str) -> set[str]:
    return set(re.findall(r'href="/groups/main/([^"?#]+)" data-row', CLIENT.get(path).text))


def test_a_team_finds_its_own_groups():
    assert listed("/?team=money") == {"billing", "refunds"}
    assert listed("/?team=money&q=refu") == {"refunds"}
    assert listed("/?team=nobody") == set()
    assert len(listed("/")) == 4


def test_the_list_has_the_teams_with_the_number_of_their_groups():
    page = CLIENT.get("/?team=money").text
    assert re.findall(r'href="([^"]*)" data-soft data-key="team-[^"]*"( aria-current="true")?', page) == [
        ("/?team=check+out", ""),
        ("/", ' aria-current="true"'),
    ]
    assert "Team: check out 1 money 2" in text("/")
    assert "Team:" not in text("/", client(snapshot(ready_cluster(NOBODYS))))


def test_the_list_keeps_the_team_when_it_is_searched_or_sorted():
    page = CLIENT.get("/?team=money").text
    assert '<input type="hidden" name="team" value="money"' in page
    assert "/?team=money&amp;sort=lag" in page


@pytest.mark.parametrize(
    ("group", "told"),
    [
        ("orders", "Team check out Expectations not met: members, findings ; unknown: static"),
        ("billing", "Team money Expectations met"),
        ("refunds", "Team money Expectations unknown"),
    ],
)
def test_the_page_of_a_group_says_whose_it_is_and_what_is_not_met(group, told):
    assert told in text(f"/groups/main/{group}")
    assert "Expectations" not in text("/groups/main/somebody's")


def test_the_finding_has_its_severity_on_the_page_and_a_runbook():
    assert "Not as expected critical The group is not as its entry orders says." in text("/groups/main/orders")
    assert "/help/runbooks#groupwatchexpectationcritical" in CLIENT.get("/groups/main/orders").text


def test_the_api_has_the_team_and_takes_it():
    groups = json.loads(CLIENT.get("/api/v1/groups?team=check%20out").content)
    assert [each["group"] for each in groups] == ["orders"]
    assert groups[0]["expectations"] == {
        "met": "no",
        "not_met": ["members", "findings"],
        "unknown": ["static"],
        "team": "check out",
    }
    assert [each["group"] for each in json.loads(CLIENT.get("/api/v1/groups?team=money&team=x").content)] == [
        "billing",
        "refunds",
    ]
    (finding,) = json.loads(CLIENT.get("/api/v1/findings").content)
    assert (finding["team"], finding["severity"]) == ("check out", "critical")
    assert json.loads(CLIENT.get("/api/v1/findings?team=money").content) == []


def test_a_file_that_cannot_be_used_is_told_and_does_not_make_the_job_unready():
    broken = client(snapshot(replace(CLUSTER, expectations=ExpectationsHealth(PROBLEM))))
    assert PROBLEM in text("/", broken)
    answer = broken.get("/readyz")
    assert (answer.status_code, answer.text) == (200, f"ready\n{PROBLEM}\n")
    (condition,) = json.loads(broken.get("/api/v1/clusters").content)
    assert condition["warning"] == PROBLEM

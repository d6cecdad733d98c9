"""The dashboards as Grafana's model of them: whole, in order, and leading where they say."""

from __future__ import annotations

import copy
import json
import re
from itertools import pairwise
from string import ascii_uppercase
from typing import Any, Final
from urllib.parse import quote, urlsplit

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards.grafana.fleet import FINDINGS
from dashboards.grafana.group import STATES
from dashboards.grafana.group_lag import STATUSES
from dashboards.grafana.links import TAG
from dashboards.grafana.variables import PAGE_ADDRESS
from monitor.config.settings import HttpSettings
from monitor.metrics.render import STATES as EXPOSED_STATES
from monitor.metrics.render import STATUSES as EXPOSED_STATUSES
from monitor.metrics.specs import (
    BATCH_DURATION_SECONDS,
    CLUSTER_OWN_FINDING_GROUPS,
    CLUSTER_OWN_FINDING_OLDEST_SECONDS,
    CLUSTER_UNEVALUATED_GROUPS,
    CLUSTER_UNREADABLE_GROUPS,
    COLLECTOR_PASS_DURATION_SECONDS,
    CONNECT_WORKER_TASKS,
    EXPECTATIONS_UP,
    GROUP_COMMITS_BLOCKED_SECONDS,
    GROUP_DEAD_LETTERS,
    GROUP_DEAD_LETTERS_TOTAL,
    GROUP_EXPECTATION_INFO,
    GROUP_EXPIRED_PARTITIONS,
    GROUP_FINDING_SINCE,
    GROUP_IN_FLIGHT,
    GROUP_LAG_SINCE,
    GROUP_OFFSETS_EXPIRE,
    GROUP_RETRY_WAITING,
    GROUP_RETRY_WAITING_SINCE,
    GROUP_SENT_BACK_TOTAL,
    GROUP_UNCOMMITTED_PARTITIONS,
    GROUP_UNREADABLE,
    MEMBER_LAG,
    MEMBER_TASKS,
    METRICS,
    PARTITION_COMMITS,
    PARTITION_LAST_COMMIT,
    RECORDED_TIMESTAMP_SECONDS,
    RECORDING_EVALUATED_TIMESTAMP_SECONDS,
    RECORDING_FAILED_GROUPS,
    RECORDING_UNREAD_ROWS,
    SCALE_FAMILIES,
    TOPIC_INCOMING_SKEW_RATIO,
    TOPIC_TRUNCATED_RECORDS,
)
from monitor.model import FindingKind
from monitor.web.views.addresses import PAGE, GroupAddress, group_address
from tests.dashboards.boards import BOARDS, asked, panels

ON_NO_DASHBOARD: Final = (
    dict.fromkeys(
        (GROUP_FINDING_SINCE.name, GROUP_LAG_SINCE.name),
        "the boards show the age; this is for rules that compute it from the scrape's own time",
    )
    | dict.fromkeys(
        (MEMBER_TASKS.name, CONNECT_WORKER_TASKS.name),
        "opt-in: the board has the tasks of the group, and its page those of each member",
    )
    | dict.fromkeys(
        (BATCH_DURATION_SECONDS.name, COLLECTOR_PASS_DURATION_SECONDS.name),
        "deprecated: the boards have the histogram of the same",
    )
    | dict.fromkeys(
        (*SCALE_FAMILIES,),
        "for autoscalers, of groups that [[scale]] names; the page of the group has the number with its reason",
    )
    | {
        RECORDED_TIMESTAMP_SECONDS.name: "an alert watches its age; the board shows whether the recording is written",
        RECORDING_EVALUATED_TIMESTAMP_SECONDS.name: "for queries in SQL: how far the tables reach",
        RECORDING_FAILED_GROUPS.name: "the page has a sentence for it",
        RECORDING_UNREAD_ROWS.name: "the page has a sentence for it",
        MEMBER_LAG.name: "opt-in: the board has the lag of the group, and its page that of each member",
        PARTITION_LAST_COMMIT.name: "opt-in: for rules about commits; the boards show the age of the lag",
        PARTITION_COMMITS.name: "opt-in: for rules about commits",
        CLUSTER_OWN_FINDING_OLDEST_SECONDS.name: "each has an alert, and a line in the head of the page",
        CLUSTER_OWN_FINDING_GROUPS.name: "the alert and the page have it",
        EXPECTATIONS_UP.name: "it has an alert, and the page has the sentence",
        GROUP_EXPECTATION_INFO.name: "opt-in by a file: findings and alerts tell it, and the page filters by team",
        CLUSTER_UNEVALUATED_GROUPS.name: "the page names the broker, and marks the groups",
        CLUSTER_UNREADABLE_GROUPS.name: "the page has the sentence; the boards count the records that cannot be read",
        GROUP_COMMITS_BLOCKED_SECONDS.name: "for rules about the lag; the page has the finding of the cluster",
        TOPIC_INCOMING_SKEW_RATIO.name: "the page of the topic shows it with the rate of each partition",
        GROUP_EXPIRED_PARTITIONS.name: "the findings and pages name them",
        GROUP_OFFSETS_EXPIRE.name: "for rules with a time of their own; a finding has it a day before",
        GROUP_UNCOMMITTED_PARTITIONS.name: "the board has their records, and the findings and pages name them",
        TOPIC_TRUNCATED_RECORDS.name: "the page of the topic shows it, with when and where it was",
    }
    | dict.fromkeys(
        (
            GROUP_SENT_BACK_TOTAL.name,
            GROUP_RETRY_WAITING.name,
            GROUP_RETRY_WAITING_SINCE.name,
            GROUP_DEAD_LETTERS_TOTAL.name,
            GROUP_DEAD_LETTERS.name,
            GROUP_IN_FLIGHT.name,
            GROUP_UNREADABLE.name,
        ),
        "RocketMQ only: the findings and the page of the group have them",
    )
)
"""Families that no dashboard shows, with the reason."""

UNITS: Final = {"short", "none", "percentunit", "s", "bytes", "Bps", "cps", "bool_yes_no"}
"""The ids of units that are used, all of which Grafana's list of units has."""

EVERY_PANEL: Final = [(name, panel) for name, board in BOARDS.items() for panel in panels(board)]
EVERY_BOARD: Final = pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS.keys())


def titled(case: Any) -> str:
    return case if isinstance(case, str) else case["title"]


def model(board: dict[str, Any]) -> dict[str, Any]:
    """What Grafana's own model of dashboards keeps of one."""
    register_default_plugins()
    return json.loads(json.dumps(Dashboard.from_json(copy.deepcopy(board)), cls=JSONEncoder))


@EVERY_BOARD
def test_nothing_of_a_dashboard_is_unknown_to_grafanas_model(board: dict[str, Any]):
    """But for what annotations of Prometheus have, which the model of annotations in general does not name."""
    kept, written = model(board), copy.deepcopy(board)
    for mark in [*written["annotations"].get("list", []), *kept["annotations"].get("list", [])]:
        for name in ("target", "titleFormat", "textFormat"):
            mark.pop(name, None)
    assert kept == written


def test_alerts_and_rebalances_are_marked_for_any_version_of_grafana():
    marks = {name: board["annotations"].get("list", []) for name, board in BOARDS.items()}
    titles = {name: [mark["titleFormat"] for mark in each] for name, each in marks.items() if each}
    alert = ["{{alertname}} ({{severity}})"]
    assert titles == {"fleet": alert, "group": ["Rebalance"], "rebalances": ["Rebalance"]}
    for mark in (mark for each in marks.values() for mark in each):
        assert mark["enable"]
        assert mark["expr"] == mark["target"]["expr"]
        assert mark["textFormat"] == "{{cluster}} {{group}}"


@EVERY_BOARD
def test_a_dashboard_can_be_edited(board: dict[str, Any]):
    assert board["editable"] is True


@pytest.mark.parametrize(("name", "panel"), EVERY_PANEL, ids=titled)
def test_a_panel_without_data_does_not_say_that_all_is_well(name: str, panel: dict[str, Any]):
    """Nothing may be known. A cell of a table without a value has a dash instead."""
    said = panel["fieldConfig"]["defaults"]["noValue"]
    assert re.search(r"^unknown$|, or no data$|, or metrics\.\w+ is not set$", said), said
    if panel["type"] == "table":
        looks = [each for override in panel["fieldConfig"]["overrides"] for each in override["properties"]]
        cells = [look["value"] for look in looks if look["id"] == "noValue"]
        assert cells == ["–"] * len(panel["targets"])  # noqa: RUF001 -- the dash of the page


@EVERY_BOARD
def test_panels_have_numbers_of_their_own(board: dict[str, Any]):
    numbers = [panel["id"] for panel in board["panels"]]
    assert len(set(numbers)) == len(numbers)


@EVERY_BOARD
def test_panels_do_not_overlap_and_leave_no_gap(board: dict[str, Any]):
    """Grafana's grid has 24 columns. Panels fill it from the top, so what is there twice or not at all is a mistake."""
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in board["panels"])
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    height = max(y for _, y in cells) + 1
    assert sorted(cells) == [(x, y) for x in range(24) for y in range(height)]


@EVERY_BOARD
def test_panels_stand_in_the_order_in_which_they_are_read(board: dict[str, Any]):
    places = [(panel["gridPos"]["y"], panel["gridPos"]["x"]) for panel in board["panels"]]
    assert all(one < other for one, other in pairwise(places))


@EVERY_BOARD
def test_titles_of_panels_differ(board: dict[str, Any]):
    titles = [panel["title"] for panel in panels(board) if panel["type"] != "stat"]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize(("name", "panel"), EVERY_PANEL, ids=titled)
def test_a_panel_says_what_it_shows_and_in_which_unit(name: str, panel: dict[str, Any]):
    assert panel["title"]
    assert panel["description"].rstrip().endswith((".", ")"))
    defaults = panel["fieldConfig"]["defaults"]
    overridden = [each for override in panel["fieldConfig"]["overrides"] for each in override["properties"]]
    assert {defaults["unit"], *(each["value"] for each in overridden if each["id"] == "unit")} <= UNITS


@pytest.mark.parametrize(("name", "panel"), EVERY_PANEL, ids=titled)
def test_a_panel_asks_something_and_each_of_its_queries_has_a_name(name: str, panel: dict[str, Any]):
    refs = [target["refId"] for target in panel["targets"]]
    assert refs == list(ascii_uppercase[: len(refs)])
    assert refs
    assert all(target["expr"] and target["instant"] is not target["range"] for target in panel["targets"])


def sources(part: Any) -> list[dict[str, str]]:
    """Every reference to a data source, wherever it is."""
    if isinstance(part, list):
        return [source for each in part for source in sources(each)]
    if isinstance(part, dict):
        own = [part["datasource"]] if "datasource" in part else []
        return own + [source for each in part.values() for source in sources(each)]
    return []


@EVERY_BOARD
def test_every_query_goes_to_the_selected_data_source_at_first_grafanas_default(board: dict[str, Any]):
    """Grafana has an option ``default`` if its default data source has that type; else the first one is selected."""
    first = board["templating"]["list"][0]
    assert (first["type"], first["name"], first["query"]) == ("datasource", "datasource", "prometheus")
    assert (first["current"], first["multi"]) == ({"text": "default", "value": "default"}, False)
    assert all(source == {"type": "prometheus", "uid": "${datasource}"} for source in sources(board))
    targets = sum(len(panel["targets"]) for panel in panels(board))
    assert len(sources(board)) > targets + len(panels(board))


@EVERY_BOARD
def test_every_variable_that_is_named_can_be_chosen(board: dict[str, Any]):
    chosen = {variable["name"] for variable in board["templating"]["list"]}
    named = set(re.findall(r"\$\{?([a-z_]\w*)", json.dumps(board)))
    grafanas = {"__rate_interval", "__range", "__all", "__field", "__data", "__url_time_range"}
    assert named - grafanas == chosen


@EVERY_BOARD
def test_a_variable_depends_only_on_those_before_it_and_allows_several_values(board: dict[str, Any]):
    before: set[str] = set()
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            assert set(re.findall(r"\$(\w+)", variable["query"]["query"])) <= before
            assert variable["multi"]
            assert variable["includeAll"]
            assert variable["current"]["value"] == ["$__all"]
        before.add(variable["name"])


def urls(part: Any) -> set[str]:
    """Every address that a click leads to."""
    if isinstance(part, list):
        return set().union(*map(urls, part))
    if isinstance(part, dict):
        own = {part["url"]} if "url" in part else set()
        return own | urls(list(part.values()))
    return set()


def test_links_lead_to_dashboards_that_are_there_and_set_variables_that_these_have():
    found = {url for board in BOARDS.values() for url in urls(board) if url.startswith("/d/")}
    variables = {board["uid"]: {each["name"] for each in board["templating"]["list"]} for board in BOARDS.values()}
    assert found
    for url in found:
        parts = urlsplit(url)
        assert set(re.findall(r"var-(\w+)=", parts.query)) <= variables[parts.path.removeprefix("/d/")]


@pytest.mark.parametrize("name", ["orders", "a/b", "100% c?d#e&f", "ü"])
def test_the_link_to_a_page_is_the_address_of_the_group(name: str):
    """Percent-encoding is what Grafana does with ``:percentencode``."""
    pages = {url for board in BOARDS.values() for url in urls(board) if "/groups/" in url}
    assert len(pages) == 2
    for url in pages:
        shown = re.sub(r"\$\{__[a-z.]+\.cluster:percentencode\}", "main", url)
        shown = re.sub(r"\$\{__[a-z.]+\.group:percentencode\}", quote(name, safe=""), shown)
        address, begin, rest = shown.partition(PAGE)
        assert address == "${groupwatch:raw}"
        assert group_address(begin + rest, PAGE) == GroupAddress("main", name)


def test_the_page_is_where_groupwatch_serves_it_unless_told_otherwise():
    assert f"http://127.0.0.1:{HttpSettings().port}" == PAGE_ADDRESS


def test_dashboards_have_addresses_that_stay():
    assert {name: board["uid"] for name, board in BOARDS.items()} == {
        "fleet": "groupwatch",
        "group": "groupwatch-group",
        "rebalances": "groupwatch-rebalances",
        "topics": "groupwatch-topics",
        "itself": "groupwatch-itself",
    }


@EVERY_BOARD
def test_a_dashboard_links_to_all_others(board: dict[str, Any]):
    assert board["tags"] == [TAG]
    link, page = board["links"]
    assert (link["type"], link["tags"], link["includeVars"], link["keepTime"]) == ("dashboards", [TAG], True, True)
    assert (page["type"], page["url"]) == ("link", "${groupwatch:raw}/")


def test_every_family_is_on_a_dashboard_or_there_is_a_reason():
    named = {name for query in asked() for name in re.findall(r"groupwatch_\w+", query.expr)}
    assert {spec.name for spec in METRICS} - named == set(ON_NO_DASHBOARD)


def test_every_state_and_status_has_a_name_and_every_kind_of_finding_a_line():
    assert [meaning.text for meaning in STATUSES] == [status.value.upper() for status in EXPOSED_STATUSES]
    assert len(STATES) == len(EXPOSED_STATES)
    assert set(FINDINGS) == set(FindingKind)


@pytest.mark.parametrize(
    ("title", "label", "order"), [("State", "state", EXPOSED_STATES), ("Status", "status", EXPOSED_STATUSES)]
)
def test_the_numbers_of_a_timeline_stand_for_what_is_exposed_in_its_order(title: str, label: str, order: list[str]):
    (query,) = [each for each in asked() if (each.board, each.title) == ("group", title)]
    found = re.findall(rf'(\d) \* \([^)]*{label}="(\w+)"', query.expr)
    assert found == [(str(place), value) for place, value in enumerate(order)]

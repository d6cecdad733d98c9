"""The pages of help: each finding and each alert has its place there, every link leads somewhere, and nothing runs."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from monitor.alert_rules import RULES
from monitor.findings.alerts import alert_name
from monitor.findings.table import FINDINGS
from monitor.model.cluster_findings import ClusterFindingKind
from monitor.web.app import create_app
from monitor.web.http.external_path import UnderPath
from monitor.web.page.help_page import Passage, help_page, rendered_page
from monitor.web.views.addresses import HELP_PAGES, finding_help, runbook_help
from tests.web.examples import NOW_MS, Served, orders, ready_cluster, shared, snapshot
from tests.web.test_cluster_findings import CLIENT as WITH_A_FINDING_OF_THE_CLUSTER

DOCS = Path(__file__).parents[3] / "docs"


class Tags(HTMLParser):
    """The ids and links of a page, the names of all its tags and attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names |= {tag, *(name for name, _ in attrs)}
        for name, value in attrs:
            if name in ("id", "href"):
                (self.ids if name == "id" else self.links).append(value or "")


def client() -> TestClient:
    return TestClient(create_app(Served(snapshot(ready_cluster(orders()))), lambda: NOW_MS))


@pytest.fixture(scope="module")
def pages() -> dict[str, Tags]:
    served = client()
    return {name: Tags(served.get(f"/help/{name}").text) for name in HELP_PAGES}


@pytest.mark.parametrize("name", HELP_PAGES)
def test_a_page_of_help_is_that_of_docs(name: str):
    """The package has a link to it, which a wheel and an image have as a file."""
    packed = Path(help_page.__wrapped__.__code__.co_filename).parent / "help" / f"{name}.md"
    assert packed.resolve() == DOCS / f"{name}.md"
    heading = (DOCS / f"{name}.md").read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    assert help_page(name).title == heading
    assert f">{heading}</h1>" in client().get(f"/help/{name}").text


def test_every_finding_and_every_alert_has_its_place(pages: dict[str, Tags]):
    for spec in FINDINGS:
        assert f"{spec.kind.value}-{spec.reason}" in pages["findings"].ids
    assert {rule.name.lower() for rule in RULES} | {"groupwatchclustermissing"} <= set(pages["runbooks"].ids)


def test_no_link_of_help_leads_nowhere(pages: dict[str, Tags]):
    for name, page in pages.items():
        assert len(set(page.ids)) == len(page.ids)
        for link in page.links:
            path, _, section = link.partition("#")
            if (path.startswith("/help/") and path != "/help/") or (section and not path):
                target = path.removeprefix("/help/") or name
                assert target in pages, link
                assert not section or section in pages[target].ids, link
            else:
                assert re.match(r"https://|/[a-z.]*(?:$|[/?])", link), link


@pytest.mark.parametrize(
    ("name", "href", "served"),
    [
        ("findings", "start/incident.md#now", "/help/start/incident#now"),
        ("start/incident", "../runbooks.md#x", "/help/runbooks#x"),
        ("start/incident", "terminal.md", "/help/start/terminal"),
        ("start/incident", "runbooks.md", None),
        ("start/incident", "../../README.md", None),
    ],
)
def test_a_link_is_seen_from_the_folder_of_its_page(name: str, href: str, served: str | None):
    assert Tags(rendered_page(name, f"[a]({href})").body).links == ([] if served is None else [served])


def test_the_page_of_a_group_links_to_help_that_there_is(pages: dict[str, Tags]):
    served = TestClient(create_app(Served(snapshot(ready_cluster(orders(), shared()))), lambda: NOW_MS))
    texts = [served.get(f"/groups/main/{group}").text for group in ("orders", "pool")]
    links = [link.removeprefix("/help/").partition("#") for text in texts for link in Tags(text).links if "#" in link]
    named = {(page, section) for page, _, section in links if page in pages}
    assert {("concepts", "lag-honestly"), ("concepts", "share-groups"), ("concepts", "rebalance-cost")} < named
    assert [each for each in named if each[1] not in pages[each[0]].ids] == []


def test_help_has_nothing_that_the_policy_of_pages_forbids(pages: dict[str, Tags]):
    assert {name for page in pages.values() for name in page.names if name.startswith("on")} == set()
    assert {"style", "iframe", "img"} & {name for page in pages.values() for name in page.names} == set()


def test_html_in_markdown_is_shown_as_it_is_written():
    text = "# <b>a</b>\n\n<script>x</script> [a](javascript:x) [b](x.md#y) [c](findings.md#z) `<i>`\n\n# A\n\n# A\n"
    page = Tags(rendered_page("x", f"{text}\n|n|\n|-:|\n|1|\n").body)
    assert {"script", "b", "i", "style"} & page.names == set()
    assert "td" in page.names
    assert page.links == ["/help/findings#z"]
    assert page.ids == ["bab", "a", "a-1"]


def test_a_page_of_help_is_served_as_other_pages_are():
    served = client()
    got, head, other = served.get("/help/findings"), served.head("/help/findings"), served.get("/")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(got.content))
    assert got.headers.keys() == other.headers.keys()
    assert got.headers["content-type"] == other.headers["content-type"]
    assert served.get("/help/none").status_code == 404
    assert served.get("/help/..%2f..%2fapp").status_code == 404


def test_below_a_prefix_help_links_below_it():
    app = create_app(Served(snapshot(ready_cluster(orders()))), lambda: NOW_MS)
    links = Tags(TestClient(UnderPath(app, "/ops")).get("/ops/help/concepts").text).links
    assert "/ops/help/findings#all-findings" in links
    assert [link for link in links if not link.startswith(("/ops/", "#", "https://"))] == []


@pytest.mark.parametrize("path", ["/", "/groups/main/orders"])
def test_badges_and_what_to_do_lead_to_their_places(pages: dict[str, Tags], path: str):
    group = orders()
    found = Tags(client().get(path).text).links
    for finding in group.findings:
        kind, reason = finding.kind.value, finding.reason
        alert = alert_name(kind, reason)
        assert finding_help(kind, reason) in found
        assert (finding_help(kind, reason) if alert is None else runbook_help(alert)) in found
    assert "/help/runbooks#groupwatchpartitionorphaned" in found


def test_every_finding_of_a_cluster_has_its_place_and_a_runbook(pages: dict[str, Tags]):
    rows = re.findall(r"^\| `(\w+)/(\w+)` \|", (DOCS / "findings.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {kind for kind, _ in rows} == {kind.value for kind in ClusterFindingKind}
    expressions = {rule.name: rule.expr for rule in RULES}
    for kind, reason in rows:
        assert f"{kind}-{reason}" in pages["findings"].ids
        alert = alert_name(kind, reason)
        assert alert is not None
        assert alert.lower() in pages["runbooks"].ids
        assert alert == "GroupwatchGroupsUnreadable" or (kind in expressions[alert] and reason in expressions[alert])


def test_the_line_of_a_clusters_finding_leads_there():
    links = Tags(WITH_A_FINDING_OF_THE_CLUSTER.get("/").text).links
    assert "/help/findings#offsets_topic-not_enough_replicas" in links
    assert "/help/runbooks#groupwatchoffsetstopicnotwritable" in links


def test_passages_have_their_headings_and_places():
    table = "|a|b|\n|-|-|\n|`lag`, `slow`|c|\n| | |\n"
    text = f"Above\nall.\n\n# One\n\nSome `code`.\n\n{table}\n## Two\n\n- x\n\n```sh\nrun  it\n```\n"
    assert rendered_page("x", text).passages == (
        Passage("", "", "Above all."),
        Passage("One", "one", ""),
        Passage("One", "one", "Some code."),
        Passage("One", "one", "a, b"),
        Passage("One: lag slow", "lag-slow", "lag, slow, c"),
        Passage("Two", "two", ""),
        Passage("Two", "two", "x"),
        Passage("Two", "two", "run it"),
    )


def hits(page: str) -> list[str]:
    """The addresses that a page of results links to, in order."""
    listed = re.search(r'<ol class="hits">(.*?)</ol>', page, re.DOTALL)
    assert listed is not None
    return Tags(listed[1]).links


def test_a_heading_with_all_words_is_the_first_result():
    assert hits(client().get("/help/search?q=groupwatchLAGold").text)[0] == "/help/runbooks#groupwatchlagold"
    assert hits(client().get("/help/search?q=expire+offsets").text)[0] == "/help/findings#offsets-that-expire"


def test_a_row_is_found_by_words_of_several_cells():
    assert "/help/findings#lag-not_committing" in hits(client().get("/help/search?q=lag+not_committing+warning").text)


@pytest.mark.parametrize("query", ["lag", "offset", "e", "retention.ms", "groupwatch report"])
def test_results_lead_to_places_that_there_are(pages: dict[str, Tags], query: str):
    found = hits(client().get("/help/search", params={"q": query}).text)
    assert 0 < len(found) <= 30
    assert len(set(found)) == len(found)
    for href in found:
        name, _, anchor = href.removeprefix("/help/").partition("#")
        assert not anchor or anchor in pages[name].ids, href


@pytest.mark.parametrize("query", ['"><script>x</script>', "\u202e", "(?x", "\\x", "", " ", "\x00", "nothing-has-this"])
def test_whatever_is_sought_is_shown_as_text(query: str):
    response = client().get("/help/search", params={"q": query})
    assert response.status_code == 200
    assert "<script>x" not in response.text
    assert "\u202e" not in response.text
    assert hits(response.text) == [] if query.strip() else "Nothing has" not in response.text


def test_of_a_long_query_the_start_is_sought():
    page = client().get("/help/search", params={"q": "lag" + " " * 97 + "x" * 10_000}).text
    assert hits(page)
    assert "xx" not in page.split('<article class="help">')[1].split("<ol")[0]


def test_all_pages_are_listed_with_the_search_and_every_page_has_it():
    served = client()
    for path in ("/help/", "/help", "/help/search"):
        page = served.get(path).text
        assert {f"/help/{name}" for name in HELP_PAGES} <= set(Tags(page).links)
        assert '<form action="/help/search" method="get"' in page
    assert '<form action="/help/search" method="get"' in served.get("/help/concepts").text
    below = TestClient(UnderPath(create_app(Served(snapshot(ready_cluster(orders())))), "/ops"))
    assert '<form action="/ops/help/search" method="get"' in below.get("/help/").text

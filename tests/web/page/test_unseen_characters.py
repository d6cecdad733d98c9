"""Names with characters that cannot be seen: pages write them out everywhere, links and forms mean the name itself."""

from __future__ import annotations

import html
import re
from urllib.parse import quote, urlencode

import pytest
from msgspec.structs import replace

from monitor.detection.evaluate import evaluate
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.model import ClusterSnapshot, CollectorHealth, Finding, FindingKind, GroupState, Phase
from monitor.web.app import create_app
from monitor.web.collect_app import create_collect_app
from monitor.web.page.render import Pages
from tests.model.test_escaping import BIDI, CONTROLS, SEPARATORS
from tests.support.builders import NOW, catalog, commit, group, member, topic
from tests.web.examples import Served, ready_cluster, snapshot
from tests.web.saved import Saved
from tests.web.test_app import Client

LONG_AGO = NOW - 8 * 86_400_000
UNSEEN = f"{BIDI}{CONTROLS}{SEPARATORS}"
PLAIN = "\u05d4\u05d6 \u0637\u0644 \u6ce8\u6587 \U0001f600"
"""Hebrew, Arabic, Chinese, a face."""


def state(end: str) -> GroupState:
    """A group of which every name ends so: partition 2 has no owner, partition 0 another than range gives."""
    name = f"t{end}"
    alpha, beta = (
        member(
            f"{each}-1{end}",
            [name],
            {name: [number]},
            client_id=f"{each}{end}",
            host=f"/{each}{end}",
            instance_id=f"i-{each}{end}",
            rack=f"r{end}",
        )
        for each, number in (("alpha", 1), ("beta", 0))
    )
    made = group(alpha, beta, offsets=[commit(name, 0, 40), commit(name, 1, 100)])
    return replace(made, cluster=f"c{end}", group=f"g{end}")


def app(end: str) -> Client:
    """Everything that a cluster can say, each ending so."""
    own = state(end)
    topics = replace(catalog(topic(f"t{end}", 3, grown=1)), cluster=own.cluster)
    verdict = evaluate(own, topics, NOW, DetectionSettings())
    said = Finding(kind=FindingKind.LAG, reason="behind", since_ms=NOW, sentence=f"Raw {end}")
    left = replace(own, group=f"u{end}", phase=Phase.EMPTY, members=(), offsets=(commit(f"t{end}", 0, 40, LONG_AGO),))
    unknown = replace(verdict, group=f"k{end}", assignor=f"com.example.Own{end}", findings=(*verdict.findings, said))
    away = CollectorHealth(own.cluster, "kafka", f"n{end}", problem=f"No {end}", warning=f"Yes {end}")
    shown = replace(ready_cluster(verdict, unknown, cluster=own.cluster), collectors=(away,), findings_problem=end)
    waiting = ClusterSnapshot(cluster=f"w{end}", problem=f"Away {end}")
    served = Served(snapshot(shown, waiting), {own.cluster: Saved(topics, (own, left), NOW)})
    return Client(create_app(served, lambda: NOW + 1_000))


def page_of(letter: str, end: str, query: str = "") -> str:
    return f"/groups/{quote(f'c{end}', safe='')}/{quote(f'{letter}{end}', safe='')}?{query}"


def pages(end: str) -> list[str]:
    """The addresses of every page that has to do with such names, and of some that there are not."""
    what_if = urlencode({"what-if": 1, "members": 3, "without": f"beta-1{end}", "grown": f"t{end}", "to": 9})
    wrong = urlencode({"what-if": 1, "without": f"nobody{end}", "explain": 1, "topic": f"u{end}", "partition": end})
    return [
        f"/?{urlencode({'q': end, 'cluster': f'c{end}', 'sort': end, 'kind': end})}",
        "/?all=1",
        "/libraries",
        f"/topics/?{urlencode({'q': end, 'cluster': f'c{end}', 'sort': end, 'kind': end})}",
        "/topics/?kind=unused",
        f"/topics/{quote(f'c{end}', safe='')}/{quote(f't{end}', safe='')}",
        f"/topics/{quote(f'c{end}', safe='')}/{quote(f'absent{end}', safe='')}",
        page_of("g", end, "explain=1"),
        page_of("g", end, urlencode({"explain": 1, "topic": f"t{end}", "partition": 0, "map": f"t{end}"})),
        page_of("g", end, what_if),
        page_of("g", end, wrong),
        page_of("k", end),
        page_of("absent", end),
        f"/groups/{quote(f'w{end}', safe='')}/x",
        f"/groups/{quote(f'absent{end}', safe='')}/x",
    ]


@pytest.mark.parametrize("path", pages(UNSEEN), ids=range(15))
def test_no_page_has_a_character_that_cannot_be_seen(path: str):
    """But for the line breaks between the tags, which are the templates'."""
    text = app(UNSEEN).get(path).text
    assert [f"{ord(char):04x}" for char in UNSEEN if char != "\n" and char in text] == []
    assert re.findall(r'="[^"]*\n', text) == [], "a line break in an attribute"
    assert "\\u202e" in text or "No group matches" in text or "No topic matches" in text


@pytest.mark.parametrize("letter", ["g", "k"])
def test_links_lead_to_the_name_itself(letter: str):
    client = app(UNSEEN)
    (href,) = re.findall(rf'href="(/groups/[^"]*/{letter}[^"]*)"', client.get("/").text)
    assert f"{html.unescape(href)}?" == page_of(letter, UNSEEN)
    text = client.get(html.unescape(href)).text
    (api,) = re.findall(r'href="(/api/v1/groups/[^"]*)"', text)
    assert client.get(html.unescape(api)).json()["group"] == f"{letter}{UNSEEN}"
    why = [html.unescape(each) for each in re.findall(r'class="why" href="([^"]*)"', text)]
    assert len(why) == 3
    assert all(quote(f"t{BIDI}") in each for each in why)


def test_every_link_of_every_page_is_ascii():
    client = app(UNSEEN)
    hrefs = [href for path in pages(UNSEEN) for href in re.findall(r'(?:href|action)="([^"]*)"', client.get(path).text)]
    assert len(hrefs) > 100
    assert [href for href in hrefs if not (href.isascii() and href.isprintable())] == []


def test_the_form_of_what_if_means_the_names_that_it_shows():
    """Range gives partitions 0 and 1 to alpha and 2 to beta; of alpha alone all three."""
    client = app(UNSEEN)
    text = client.get(page_of("g", UNSEEN)).text
    values = [html.unescape(each) for each in re.findall(r'<option value="([^"]+)"', what_if_form(text))]
    values = [each for each in values if "." not in each]  # the assignors of client libraries
    (alpha_leads, beta_leads), (grown, alpha, beta) = values[:2], values[2:]
    assert (alpha_leads, beta_leads) == (alpha, beta)
    assert grown.startswith("t\\u202a")
    assert alpha.startswith("alpha-1\\u202a")
    query = urlencode({"what-if": 1, "grown": grown, "to": 4, "without": beta})
    answer = client.get(page_of("g", UNSEEN, query)).text
    assert 'role="alert"' not in answer
    assert "leaves" in answer
    assert len(re.findall(r"<option [^>]* selected>", what_if_form(answer))) == 2


def what_if_form(page: str) -> str:
    """The form alone."""
    return page.partition('id="what-if"')[2].partition("</form>")[0]


@pytest.mark.parametrize("sought", ["\u202e", "\\u202E", "G\u202a\u202b", "g\\u202a"])
def test_a_name_is_found_by_what_is_in_it_and_by_what_is_shown_of_it(sought: str):
    client = app(UNSEEN)
    query = urlencode({"q": sought})
    assert page_of("g", UNSEEN).rstrip("?") in client.get(f"/?{query}").text
    found = client.get(f"/api/v1/groups?{query}&{urlencode({'cluster': f'c{UNSEEN}'})}").json()
    assert f"g{UNSEEN}" in [each["group"] for each in found]


@pytest.mark.parametrize("path", [*pages(PLAIN)[1:6], pages(PLAIN)[7]])
def test_names_in_other_scripts_are_shown_as_they_are(path: str):
    text = app(PLAIN).get(path).text
    assert PLAIN in text
    assert "\\u" not in text


def test_what_is_html_already_is_not_written_out_once_more():
    assert Pages().message("1", "<b>\n").count("&lt;b&gt;\\n") == 1


def test_probes_and_refusals_are_a_line_for_each_cluster_whatever_it_is_called():
    told = app(UNSEEN).get("/readyz").text
    assert told.count("\n") == 1
    assert [char for char in UNSEEN if char != "\n" and char in told] == []
    away = CollectorHealth("c", "k", f"n{UNSEEN}", problem=f"Away{UNSEEN}")
    collecting = Client(create_collect_app(lambda: (away,))).get("/readyz").text
    assert collecting.count("\n") == 1
    assert [char for char in UNSEEN if char != "\n" and char in collecting] == []


@pytest.mark.parametrize("path", pages(UNSEEN)[12:])
def test_an_error_of_the_api_is_a_sentence_without_them(path: str):
    answer = app(UNSEEN).get(path.replace("/groups/", "/api/v1/groups/"))
    assert answer.status_code in (404, 503)
    assert [char for char in UNSEEN if char in answer.json()["error"]] == []


def test_a_topic_that_there_is_not_is_an_error_of_the_api_without_them():
    answer = app(UNSEEN).get(f"/api/v1/topics/{quote(f'c{UNSEEN}', safe='')}/{quote(f'absent{UNSEEN}', safe='')}")
    assert answer.status_code == 404
    assert [char for char in UNSEEN if char in answer.json()["error"]] == []


def test_json_has_names_as_they_are():
    """They are data there: what shows them escapes them."""
    named = app(UNSEEN).get(page_of("g", UNSEEN).replace("/groups/", "/api/v1/groups/")).json()
    assert (named["group"], named["members"][0]["client_id"]) == (f"g{UNSEEN}", f"alpha{UNSEEN}")

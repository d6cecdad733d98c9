"""The page as people see it: in a real Chromium, with its own script and without."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from monitor.model import CommittedOffset, GroupState, WireForm
from monitor.web.app import create_app
from monitor.web.server import HttpServer
from tests.web.fleet import PARTITIONS, Fleet, fleet, group, topic
from tests.web.page.conftest import Site

HOSTILE = (
    "<script>window.__pwned = 1</script>",
    '"><svg onload="window.__pwned = 1">',
    "' onmouseover='window.__pwned = 1",
    "line\nbreak \u202egnitset",
    "{{ 7*7 }}",
    "x" * 10_000,
)
FOLDERS = (".", "..", "~.")
WIDE = 1_200
DRIFTS, DOUBLE, CALM = "payments.writer-00000", "payments.writer-00040", "audit.notifier-00127"
ORPHANED = "payments.writer-00080"


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Fleet, str]]:
    """The fleet, where it is served."""
    hostile = [replace(group(name, f"t{n}"), group=name) for n, name in enumerate((*HOSTILE, *FOLDERS))]
    evil = topic(HOSTILE[0])
    reading_evil = named_badly(group("reads.evil", evil.topic, trouble="drift"))
    wide = group("wide.one", "wide", trouble="drift", partitions=WIDE, members=40)
    named = [replace(group(f"strategy-{n}", f"t{n}"), protocol=name) for n, name in enumerate(STRATEGIES)]
    shown = fleet(200, *hostile, *named, reading_evil, wide, topics=(evil, topic("wide", WIDE)))
    with HttpServer(create_app(shown, lambda: shown.now_ms + 3_000), port=0) as server:
        yield shown, server.url


def named_badly(state: GroupState) -> GroupState:
    """The same with members that write the bytes of librdkafka; a client id and a host try to become elements."""
    first, *others = [
        replace(each, user_data=b"", rack="", wire=WireForm(subscription_version=3)) for each in state.members
    ]
    return replace(state, members=(replace(first, client_id=HOSTILE[1], host=HOSTILE[0]), *others))


def rows(page: Page) -> list[str]:
    """The names of the listed groups, in order."""
    return page.locator("a[data-row]").all_inner_texts()


def renew(page: Page) -> None:
    """What the page does by itself every five seconds."""
    page.evaluate("renew()")


# --- the list ---------------------------------------------------------------------------------------------------------


def test_a_search_shows_what_it_finds_while_one_types(site: Site):
    page = site.open()
    assert len(rows(page)) == 50
    page.keyboard.press("/")
    page.keyboard.type("WRITER-00080")
    expect(page.locator("a[data-row]")).to_have_text([ORPHANED])
    assert page.url.endswith("/?q=WRITER-00080")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("a[data-row]")).to_have_count(50)
    assert page.url == f"{site.url}/"


def test_the_list_can_be_sorted_and_turned_and_the_address_says_so(site: Site):
    page = site.open()
    assert rows(page)[0] == DOUBLE, "the worst first"
    assert rows(page).index(ORPHANED) < rows(page).index(DRIFTS)
    page.locator("thead").get_by_role("link", name="Lag", exact=True).click()
    expect(page.locator("a[data-row]").first).to_have_text("wide.one")
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    page.get_by_role("columnheader", name="Group").get_by_role("link").click()
    expect(page.locator("a[data-row]").first).to_have_text(HOSTILE[1])
    page.get_by_role("columnheader", name="Group").get_by_role("link").click()
    expect(page.locator("a[data-row]").first).to_have_text(FOLDERS[2])
    page.go_back()
    page.go_back()
    expect(page.locator("a[data-row]").first).to_have_text("wide.one")


def test_only_groups_with_a_finding_of_a_kind_can_be_listed(site: Site):
    page = site.open()
    page.get_by_role("navigation", name="Which groups").get_by_role("link", name="Orphaned").click()
    expect(page.locator("a[data-row]")).to_have_text([ORPHANED])
    page.get_by_role("link", name="With findings").click()
    expect(page.locator("a[data-row]")).to_have_count(7)
    finding = page.locator("tr", has_text=ORPHANED).locator("details").first
    expect(finding.locator(".advice")).to_be_hidden()
    finding.locator("summary").click()
    expect(finding.locator(".advice")).to_contain_text("Most client libraries notice new partitions")


def test_keys_lead_through_the_list_into_a_group_and_back(site: Site):
    page = site.open()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("ArrowUp")
    expect(page.locator("a[data-row]").first).to_be_focused()
    page.keyboard.press("o")
    expect(page.locator("tr", has_text=DOUBLE).locator(".advice").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(DOUBLE)
    page.keyboard.press("u")
    expect(page.get_by_role("heading", level=1)).to_contain_text("have findings")
    page.keyboard.press("p")
    expect(page.locator("a[data-row]")).to_have_count(7)


# --- live -------------------------------------------------------------------------------------------------------------


def test_a_renewal_changes_only_what_is_new_and_keeps_focus_scroll_selection_and_what_is_unfolded(site: Site):
    page = site.open()
    page.evaluate("document.querySelectorAll('tbody tr').forEach((row, number) => (row.marked = number))")
    page.locator("tr", has_text=ORPHANED).locator("summary").first.click()
    calm = page.locator("tr", has_text=CALM)
    calm.locator("a").focus()
    calm.scroll_into_view_if_needed()
    page.evaluate("getSelection().selectAllChildren(document.activeElement)")
    before = page.evaluate("scrollY")
    assert before > 0
    with lagging(site.fleet, CALM, 123_456):
        renew(page)
        expect(calm).to_contain_text("2,469,120")  # 20 partitions
        expect(calm.locator("a")).to_be_focused()
        assert page.evaluate("getSelection().toString()") == CALM
        assert abs(page.evaluate("scrollY") - before) <= 100, "a row above has grown by its finding at most"
        expect(page.locator("tr", has_text=ORPHANED).locator(".advice").first).to_be_visible()
        assert page.evaluate("[...document.querySelectorAll('tbody tr')].filter((row) => 'marked' in row).length") >= 49


class lagging:  # noqa: N801 -- reads as a statement: with lagging(...)
    """While it lasts, the group is so many records behind in each partition."""

    def __init__(self, shown: Fleet, name: str, behind: int) -> None:
        self.shown, self.name, self.behind = shown, name, behind
        self.state = shown.states["main"][name]

    def __enter__(self) -> None:
        offsets: tuple[CommittedOffset, ...] = tuple(
            replace(each, offset=1_000_000 - self.behind) for each in self.state.offsets
        )
        self.shown.states["main"][self.name] = replace(self.state, offsets=offsets)
        self.shown.judge_again()

    def __exit__(self, *_: object) -> None:
        self.shown.states["main"][self.name] = self.state
        self.shown.judge_again()


def test_a_page_whose_server_is_gone_says_that_it_is_stale_until_it_is_back(site: Site):
    page = site.open()
    page.route("**/*", lambda route: route.abort())
    renew(page)
    expect(page.get_by_role("status")).to_contain_text("Stale: groupwatch is unreachable. It does not respond.")
    expect(page.locator("a[data-row]")).to_have_count(50)
    page.unroute("**/*")
    renew(page)
    expect(page.get_by_role("status")).to_be_hidden()
    page.route("**/*", lambda route: route.fulfill(status=401, body="Who are you?"))
    renew(page)
    expect(page.get_by_role("status")).to_contain_text("It responds HTTP 401.")
    expect(page.locator("a[data-row]")).to_have_count(50)
    site.said.clear()  # the browser's own words on the requests that failed


def test_a_server_that_is_busy_is_not_said_to_be_away_but_what_a_proxy_says_is(site: Site):
    """The words of a server that has too much to do are those of monitor.web.http.limits."""
    page = site.open()
    page.route("**/*", lambda route: route.fulfill(status=503, content_type="text/plain; charset=utf-8", body="Later."))
    renew(page)
    expect(page.get_by_role("status")).to_contain_text("Stale: groupwatch is busy (503): too many requests at once.")
    page.unroute("**/*")
    page.route("**/*", lambda route: route.fulfill(status=503, content_type="text/html", body="<h1>No upstream</h1>"))
    renew(page)
    expect(page.get_by_role("status")).to_contain_text("groupwatch is unreachable. It responds HTTP 503.")
    page.unroute("**/*")
    renew(page)
    expect(page.get_by_role("status")).to_be_hidden()
    site.said.clear()  # the browser's own words on the requests that failed


def test_going_back_to_a_fragment_that_is_no_percent_encoding_shows_the_page(site: Site):
    page = site.open("/#%")
    page.locator("thead").get_by_role("link", name="Lag", exact=True).click()
    page.wait_for_url("**/?sort=lag")
    page.go_back()
    expect(page.locator("a[data-row]").first).to_have_text(DOUBLE)
    assert page.url == f"{site.url}/#%"


def test_the_page_of_a_group_that_is_gone_says_so_and_shows_it_when_it_is_back(site: Site):
    page = site.open(f"/groups/main/{DRIFTS}")
    state = site.fleet.states["main"].pop(DRIFTS)
    renew(page)
    expect(page.get_by_role("main")).to_contain_text(f"No group named {DRIFTS} was found in cluster main.")
    site.fleet.states["main"][DRIFTS] = state
    renew(page)
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    site.said.clear()  # the browser's own words on the 404


def test_a_paused_page_stands_still(site: Site):
    page = site.open()
    page.get_by_role("link", name="Pause").click()
    expect(page.get_by_text("Paused")).to_be_visible()
    with lagging(site.fleet, ORPHANED, 100_000):
        renew(page)
        expect(page.locator("tr", has_text=ORPHANED)).to_contain_text("570")
        page.get_by_role("link", name="Resume").click()
        expect(page.locator("tr", has_text=ORPHANED)).to_contain_text("2,000,000")


# --- a group ----------------------------------------------------------------------------------------------------------


def test_the_map_shows_who_has_what_and_says_it_in_words_as_well(site: Site):
    """Range gives five partitions to each of four; the last of the first and the first of the second are exchanged."""
    page = site.open(f"/groups/main/{DRIFTS}")
    first = page.locator("table.map tbody tr").first
    marks = first.locator(".cell").all_inner_texts()
    assert [mark.strip() for mark in marks[:7]] == ["■", "■", "■", "■", "○", "≠", ""]
    page.get_by_text("Text version").click()
    texts = page.locator(".as-text tbody tr").first.locator("td").all_inner_texts()
    assert texts == ["0-3, 5", "5", "4"]


def test_a_large_topic_lists_the_partitions_of_each_member(site: Site):
    page = site.open("/groups/main/wide.one")
    first = page.locator("table.map-wide tbody tr").first
    expect(first.locator(".tile")).to_have_count(31)  # 30 that it has, and the one that it should have
    expect(page.locator("table.map-wide .tile")).to_have_count(WIDE + 2)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_if_answers_in_place_and_a_renewal_leaves_the_answer(site: Site):
    page = site.open(f"/groups/main/{CALM}")
    page.get_by_label("Assignor").select_option("roundrobin")
    page.get_by_label("Number of members").fill("5")
    page.get_by_role("button", name="Simulate").click()
    answer = page.get_by_role("region", name="Simulation")
    expect(answer).to_contain_text("16 partitions get a different owner:")  # of 20, each fifth of the first five stays
    expect(answer).to_contain_text("new-1")
    assert "assignor=roundrobin" in page.url
    renew(page)
    expect(answer).to_be_visible()
    page.reload()
    expect(answer).to_be_visible()
    page.get_by_label("Number of members").fill("many")
    page.get_by_role("button", name="Simulate").click()
    expect(page.get_by_role("alert")).to_have_text(
        "The number of members must be a whole number from 1 to 999999999, not many."
    )


def test_a_rollout_is_forecast_in_place_and_a_renewal_leaves_the_forecast(site: Site):
    page = site.open(f"/groups/main/{CALM}")
    page.get_by_label("Order").select_option(label="one by one, old first")
    page.get_by_label("A new pod joins after").fill("30s")
    page.get_by_role("button", name="Forecast").click()
    forecast = page.get_by_role("region", name="Forecast of a rollout")
    expect(forecast).to_contain_text(
        "Each old pod stops before its new one starts; a new pod joins 30 s after its start."
    )
    expect(forecast.get_by_role("columnheader")).to_have_text(
        ["Assignor", "Rebalances", "Moves", "Pause in each", "Pause in all"]
    )
    renew(page)
    expect(forecast).to_be_visible()
    page.get_by_label("A new pod joins after").fill("soon")
    page.get_by_role("button", name="Forecast").click()
    expect(page.get_by_role("alert")).to_contain_text("surge=0,start=soon is no rollout")


def test_after_going_back_the_form_of_what_if_says_what_the_address_asks(site: Site):
    page = site.open(f"/groups/main/{CALM}?what-if=1&assignor=range")
    assignor, members = page.get_by_label("Assignor"), page.get_by_label("Number of members")
    assignor.select_option("roundrobin")
    members.fill("5")
    page.get_by_role("button", name="Simulate").click()
    expect(page.get_by_role("region", name="Simulation")).to_contain_text("new-1")
    assignor.select_option("sticky")  # chosen, not asked
    members.fill("7")
    page.go_back()
    expect(assignor).to_have_value("range")
    expect(members).to_have_value("")
    page.go_forward()
    expect(assignor).to_have_value("roundrobin")
    expect(members).to_have_value("5")


def test_what_is_chosen_in_the_form_stays_while_the_page_is_sorted_and_renewed(site: Site):
    page = site.open(f"/groups/main/{CALM}")
    page.get_by_label("Assignor").select_option("roundrobin")
    page.locator("[data-key=partitions-table]").get_by_role("link", name="Lag", exact=True).click()
    page.wait_for_url("**sort=lag**")
    renew(page)
    expect(page.get_by_label("Assignor")).to_have_value("roundrobin")


def test_a_group_and_a_partition_explain_themselves_when_they_are_asked(site: Site):
    page = site.open(f"/groups/main/{ORPHANED}")
    assert page.get_by_role("region", name="Explanation").count() == 0
    page.get_by_role("link", name="Explain this group").click()
    told = page.get_by_role("region", name="Explanation")
    expect(told).to_contain_text("Its assignor is range (from the log); groupwatch replays it exactly.")
    renew(page)
    expect(told).to_be_visible()
    page.locator("[data-key='20/grown']").get_by_role("link", name="why").click()
    expect(told).to_contain_text("Explanation of partition 20 of grown")
    page.get_by_role("link", name="Close").click()
    expect(told).to_have_count(0)


def test_partitions_are_sorted_by_lag(site: Site):
    page = site.open(f"/groups/main/{CALM}")
    page.locator("[data-key=partitions-table]").get_by_role("link", name="Lag", exact=True).click()
    first = page.locator("[data-key=partitions-table] tbody tr").first
    expect(first.locator("td").first).to_have_text(str(PARTITIONS - 1))  # a partition is three records further behind


# --- names, looks, and no script --------------------------------------------------------------------------------------


def test_hostile_names_stay_text_wherever_they_stand(site: Site):
    page = site.open()
    renew(page)
    for name in HOSTILE:
        page.locator("#q").fill(name.splitlines()[0][:60])
        expect(page.locator("a[data-row]")).to_have_count(1)
        page.locator("a[data-row]").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text(name.splitlines()[0][:20])
        page.goto(f"{site.url}/")
    page.goto(f"{site.url}/groups/main/reads.evil?explain=1&what-if=1&members=2&without={HOSTILE[0]}")
    renew(page)
    expect(page.get_by_role("region", name="Explanation")).to_contain_text("window.__pwned")
    assert page.evaluate("window.__pwned") is None
    assert page.locator("main script, main svg[onload], [onmouseover]").count() == 0


def test_groups_that_are_named_like_folders_are_opened_by_their_links(site: Site):
    """A browser takes . and .. out of a path, percent-encoded or not."""
    page = site.open("/?all=1")
    for name in FOLDERS:
        page.locator("a[data-row]").get_by_text(name, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        link = page.get_by_role("link", name="This group as JSON")
        assert link.evaluate("async (link) => (await (await fetch(link.href)).json()).group") == name
        page.goto(f"{site.url}/?all=1")


def test_the_libraries_are_reached_from_the_list_and_left_by_a_key(site: Site):
    """The members of one group write the bytes of librdkafka; nothing is known of the others."""
    page = site.open()
    page.get_by_role("link", name="Client libraries").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Client libraries")
    members = str(len(site.fleet.states["main"]["reads.evil"].members))
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="librdkafka"))
    expect(row.get_by_role("cell")).to_have_text(["2.4 or newer", "certain", members, "1", "reads.evil"])
    page.get_by_role("link", name="how sure that is").click()
    expect(page.get_by_role("heading", name="How sure")).to_be_in_viewport()
    page.keyboard.press("u")
    expect(page.locator("a[data-row]").first).to_be_visible()


def test_light_and_dark_can_be_read_and_narrow_screens_hold_the_page(site: Site):
    for scheme in ("light", "dark"):
        for path in ("/", f"/groups/main/{ORPHANED}?explain=1", "/groups/main/reads.evil", "/libraries"):
            page = site.open(path, color_scheme=scheme, viewport={"width": 400, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= 400
            assert page.evaluate(LOW_CONTRAST) == [], f"{path} in {scheme}"


LOW_CONTRAST = """() => {
  const parts = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const one = (c) => ((c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * one(r) + 0.7152 * one(g) + 0.0722 * one(b);
  };
  const paper = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = parts(getComputedStyle(each).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
  };
  const found = new Set();
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility() || element.closest("option, .sr, .skip")) continue;
    const [a, b] = [light(parts(getComputedStyle(element).color)), light(paper(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.add(`${element.className || element.nodeName} ${ratio.toFixed(2)}`);
  }
  return [...found];
}"""
"""Texts that stand out from their background less than WCAG 2 asks for (AA: 4.5 to 1)."""


STRATEGIES = {
    "AllocateMessageQueueAveragely": "AVG",
    "AllocateMessageQueueAveragelyByCircle": "AVG_BY_CIRCLE",
    "AllocateMessageQueueConsistentHash": "CONSISTENT_HASH",
    "AllocateMachineRoomNearby": "MACHINE_ROOM_NEARBY",
    "com.example.OwnStickyPartitionAssignor": "OwnStickyPartitionAssignor",
    "cooperative-sticky": "cooperative-sticky",
    "org.apache.kafka.clients.consumer.Notaclasswithoutanyhumpsinitsnamewhichislong": (
        "Notaclasswithoutanyhumpsinitsnamewhichis…"
    ),
}
BROKEN_WORDS = """(cell) => {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), broken = [];
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(text);
    if (new Set([...range.getClientRects()].map((each) => each.top)).size > 1) broken.push(text.data);
  }
  return broken;
}"""
"""The words of an element that begin in one line and go on in another."""


@pytest.mark.parametrize("width", [1280, 400])
def test_names_of_assignors_are_short_in_the_list_and_break_between_words_only(site: Site, width: int):
    page = site.open("/?q=strategy&all=1", viewport={"width": width, "height": 800})
    for number, (name, shown) in enumerate(STRATEGIES.items()):
        cell = page.locator("tr", has_text=f"strategy-{number}").locator(".assignor")
        assert (cell.inner_text().replace("\n", ""), cell.get_attribute("title")) == (shown, name)
        assert cell.evaluate(BROKEN_WORDS) == [], f"{name} at {width}"
        if "humps" not in name:
            assert cell.evaluate("(cell) => cell.scrollWidth <= cell.clientWidth"), f"{name} is cut at {width}"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.goto(f"{site.url}/groups/main/strategy-1")
    facts = page.locator(".facts-large div", has_text="Assignor").locator("dd")
    expect(facts).to_have_text("AllocateMessageQueueAveragelyByCircle")


def test_without_a_script_links_and_forms_do_the_same(site: Site):
    page = site.open(java_script_enabled=False)
    assert page.locator("noscript meta[http-equiv=refresh], meta[http-equiv=refresh]").count() == 1
    expect(page.locator("#show-keys")).to_be_hidden()
    page.get_by_role("link", name="Client libraries").click()
    expect(page.get_by_role("rowheader", name="librdkafka")).to_be_visible()
    page.get_by_role("link", name="All groups").click()
    page.get_by_role("searchbox", name="Group").fill("WRITER-00080")
    page.get_by_role("button", name="Find").click()
    assert rows(page) == [ORPHANED]
    page.get_by_role("link", name=ORPHANED).click()
    page.get_by_role("link", name="Explain this group").click()
    expect(page.get_by_role("region", name="Explanation")).to_be_visible()
    assert page.locator("meta[http-equiv=refresh]").count() == 0, "who reads an answer is left alone"
    page.get_by_label("Number of members").fill("1")
    page.get_by_role("button", name="Simulate").click()
    expect(page.get_by_role("region", name="Simulation")).to_be_visible()

"""The pages of topics as people see them: in a real Chromium, with the script and without."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from playwright.sync_api import expect

from monitor.model import CommittedOffset, EndOffsetAt, GroupState, Phase, TopicState
from monitor.web.app import create_app
from monitor.web.server import HttpServer
from tests.web.fleet import MINUTE_MS, NOW_MS, Fleet, fleet, group, topic
from tests.web.page.conftest import Site
from tests.web.page.test_page_in_browser import HOSTILE, LOW_CONTRAST

WEEK_MS = 7 * 86_400_000
READ = "payments.events-000"
COMMAND = "kafka-consumer-groups.sh --bootstrap-server BROKER:9092"


def skewed(name: str) -> TopicState:
    """Two partitions, of 3 and 1 records a second: 3 over the mean of 2 is 1.5."""
    made = topic(name, 2)
    rates = (3, 1)
    partitions = [
        replace(
            each,
            end=1_000 + 300 * rate,
            ends=(EndOffsetAt(NOW_MS - 5 * MINUTE_MS, 1_000), EndOffsetAt(NOW_MS, 1_000 + 300 * rate)),
        )
        for each, rate in zip(made.partitions, rates, strict=True)
    ]
    return replace(made, partitions=tuple(partitions))


def left(name: str, topics: tuple[str, ...]) -> GroupState:
    """A group that lost its members eight days ago."""
    long_ago_ms = NOW_MS - WEEK_MS - 86_400_000
    offsets = tuple(CommittedOffset(topic=each, partition=0, offset=5, committed_ms=long_ago_ms) for each in topics)
    made = group(name, topics[0])
    return replace(made, phase=Phase.EMPTY, phase_ms=long_ago_ms, members=(), offsets=offsets)


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Fleet, str]]:
    """The fleet, where it is served."""
    hostile = [topic(name) for name in HOSTILE]
    reading = [replace(group(f"reads-{n}", name), group=f"reads-{n}") for n, name in enumerate(HOSTILE[:2])]
    shown = fleet(
        200,
        *reading,
        left("stopped", ("uneven",)),
        left("$(reboot)\n", (HOSTILE[3],)),
        topics=(*hostile, skewed("uneven")),
    )
    with HttpServer(create_app(shown, lambda: shown.now_ms + 3_000), port=0) as server:
        yield shown, server.url


def test_a_search_and_the_keys_lead_to_a_topic_and_back(site: Site):
    page = site.open()
    page.get_by_role("link", name="Topics", exact=True).click()
    expect(page.locator("a[data-row]")).to_have_count(50)
    page.keyboard.press("/")
    page.keyboard.type("PAYMENTS.EVENTS-000")
    expect(page.locator("a[data-row]")).to_have_text([READ])
    assert page.url.endswith("/topics/?q=PAYMENTS.EVENTS-000")
    expect(page.locator("#q")).to_be_focused()
    page.locator("#q").blur()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(READ)
    page.keyboard.press("u")
    expect(page.locator("a[data-row]")).to_have_count(50)


def test_a_topic_shows_the_groups_that_read_it_with_owners_and_lag(site: Site):
    """The first group of the fleet drifts: a member has partitions 0 to 3 and 5. Partition n is 3 n records behind."""
    page = site.open(f"/topics/main/{READ}")
    groups = page.locator("[data-key='groups-table'] tbody tr")
    expect(groups).to_have_count(1)
    expect(groups.first.locator("td").nth(2)).to_have_text(f"{sum(3 * n for n in range(20)):,}")
    section = page.locator("main section").first
    cells = section.get_by_role("row").filter(has=page.get_by_role("rowheader", name="5", exact=True)).locator("td")
    expect(cells.nth(0)).to_have_text("#1 worker-00")
    expect(cells.nth(1)).to_have_text("999,985")
    expect(cells.nth(2)).to_have_text("15")
    cells.nth(0).get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("payments.writer-00000")
    assert page.url.endswith("#m1")
    page.get_by_role("link", name=READ).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(READ)


def test_what_comes_in_and_what_no_group_reads_stand_on_the_page(site: Site):
    page = site.open("/topics/main/uneven")
    expect(page.locator("[data-key='facts']")).to_contain_text("In per second4")
    expect(page.locator("[data-key='facts']")).to_contain_text("Skew1.5")
    expect(page.locator("main")).to_contain_text("No group reads 2 partitions now: 0, 1.")
    expect(page.locator("[data-key='groups-table'] tbody tr")).to_contain_text("only offsets")
    expect(page.locator("[data-key='log'] tbody tr").first.locator("td").nth(3)).to_have_text("75 %")


def test_the_topics_that_no_group_reads_and_the_most_uneven_are_found(site: Site):
    page = site.open("/topics/")
    page.get_by_role("link", name="No group reads it").click()
    expect(page.get_by_role("rowheader", name="uneven")).to_be_visible()
    expect(page.get_by_role("rowheader", name=READ)).to_have_count(0)
    page.get_by_role("link", name="Skew", exact=True).click()
    expect(page.locator("a[data-row]").first).to_have_text("uneven")


def test_what_could_be_deleted_has_a_command_that_is_text(site: Site):
    page = site.open("/topics/")
    page.get_by_role("link", name="Could be deleted").click()
    expect(page.locator("code.command")).to_have_text(
        [f"{COMMAND} --delete --group $'$(reboot)\\x0a'", f"{COMMAND} --delete --group stopped"]
    )
    expect(page.locator("main")).to_contain_text("groupwatch deletes nothing")
    page.get_by_role("searchbox", name="Group or topic").fill("STOP")
    expect(page.locator("code.command")).to_have_text([f"{COMMAND} --delete --group stopped"])


def test_hostile_names_of_topics_stay_text(site: Site):
    page = site.open("/topics/?all=1")
    for name in HOSTILE[:3]:
        expect(page.locator("a[data-row]", has_text=name).first).to_be_visible()
    for place in range(2):
        page.goto(f"{site.url}/groups/main/reads-{place}")
        page.locator("[data-key='facts'] a[href^='/topics/']").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE[place])
    assert page.evaluate("window.__pwned") is None


def test_light_and_dark_can_be_read_and_narrow_screens_hold_the_pages(site: Site):
    for scheme in ("light", "dark"):
        for path in ("/topics/", "/topics/?kind=unused", f"/topics/main/{READ}", "/topics/main/uneven"):
            page = site.open(path, color_scheme=scheme, viewport={"width": 400, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= 400, path
            assert page.evaluate(LOW_CONTRAST) == [], f"{path} in {scheme}"


def test_without_a_script_links_and_forms_do_the_same(site: Site):
    page = site.open(java_script_enabled=False)
    page.get_by_role("link", name="Topics", exact=True).click()
    page.get_by_role("searchbox", name="Topic").fill("UNEVEN")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("link", name="uneven", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("uneven")
    page.get_by_role("link", name="All topics").click()
    page.get_by_role("link", name="Could be deleted").click()
    expect(page.locator("code.command")).to_have_count(2)

"""What the page of a group says of groups that are read, and of bytes."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from monitor.model import GroupKind, GroupVerdict, ObservedOffset, Source
from monitor.web.page.group import group_page
from monitor.web.page.options import PageOptions
from monitor.web.page.render import Pages
from monitor.web.views.group_list import Listing, Wish
from monitor.web.views.overview import ClusterLine, overview
from monitor.web.views.summary import verdict_json
from tests.detection.ownership.test_client_libraries import verdict_on as captured_verdict
from tests.support.captured_groups import catalog_of, lab, metaq, metaq_catalog, queues, rocketmq, topic, verdict_on
from tests.web.examples import falling_behind, newer_broker, offsets_only, ready_cluster, snapshot

PAGES = Pages()


def page_of(verdict: GroupVerdict) -> str:
    cluster = ClusterLine(
        "mq", "", None, ready=True, failing=False, evaluated="1 s", stale=False, groups=1, progress=None
    )
    return PAGES.group(group_page(verdict, None), cluster, PageOptions(path="/"))


def test_a_group_that_is_read_says_so_and_has_no_epoch():
    page = page_of(verdict_on(rocketmq("5.5.0", "lab-group"), lab("LabTopic")))
    assert "<dt>Source</dt><dd>polls of the system</dd>" in page
    assert "<dt>Assignment</dt><dd>since 55 s</dd>" in page
    assert "Epoch" not in page
    assert "Paused" not in page, "polls do not show it"
    assert "broker-a-7" in page


def test_the_page_of_a_newer_brokers_group_says_why_its_members_are_unknown():
    page = page_of(newer_broker("late"))
    assert "The brokers write version 5 of GroupMetadata; this groupwatch reads 0 to 4." in page
    assert "<dt>Members</dt><dd>unknown</dd>" in page


def test_the_page_of_a_metaq_group_speaks_of_bytes():
    reading = metaq("metaq-zk-twelve", "twelve-def")
    read = [ObservedOffset("meta-twelve", f"0-{n}", 100 if n == 10 else 350) for n in range(12)]
    reading = replace(reading, offsets=tuple(read))
    catalog = catalog_of("metaq", topic("metaq", "meta-twelve", [f"0-{n}" for n in range(12)], end=350))
    page = page_of(verdict_on(reading, catalog))
    assert ">Lag</a></dt><dd>250 bytes</dd>" in page
    assert "250 record" not in page


def test_members_that_do_not_answer_and_ids_that_several_have_are_remarked():
    reading = rocketmq("5.5.0", "lab-group")
    one, two, three = reading.members
    page = page_of(
        verdict_on(
            replace(reading, members=(replace(one, answers=False), replace(two, connections=2), three)), lab("LabTopic")
        )
    )
    assert '<span class="remark">does not respond</span>' in page
    assert '<span class="remark">2 connections</span>' in page


def test_the_row_of_a_partition_says_how_many_records_were_perhaps_not_read():
    page = page_of(falling_behind())
    assert "up to 490 perhaps not read</abbr>" in page
    assert page.count("perhaps not read</abbr>") == 2
    assert "perhaps not read" not in page_of(offsets_only("quiet"))


def test_who_broadcasts_has_no_partition_with_two_owners_too_many():
    page = page_of(verdict_on(rocketmq("5.5.0-modes", "lab-broadcast"), lab("LabTopic")))
    assert "two owners" not in page
    assert "The members use broadcasting" in page


def test_names_of_queues_break_out_of_nothing():
    hostile = '<script>alert(1)</script>"-0'
    reading = rocketmq("5.5.0", "lab-group")
    catalog = catalog_of("mq", topic("mq", "LabTopic", sorted([*queues(8), hostile])))
    page = page_of(verdict_on(reading, catalog))
    assert page.count("<script") == 1, "the page's own"
    assert "&lt;script&gt;" in page


def test_the_api_tells_the_source_and_how_partitions_are_shared():
    verdict = verdict_on(rocketmq("5.5.0-modes", "lab-broadcast"), lab("LabTopic"))
    told = msgspec.json.decode(verdict_json(verdict))
    assert (told["kind"], told["source"], told["sharing"]) == (GroupKind.ROCKETMQ, Source.SYSTEM, "broadcast")


def test_the_list_of_groups_says_where_lag_is_in_bytes():
    verdict = replace(verdict_on(metaq("metaq-zk-twelve", "twelve-def"), metaq_catalog("metaq-zk-twelve")), lag=250)
    calm = ready_cluster(verdict, cluster="metaq")
    page = PAGES.overview(overview(Listing(snapshot(calm)), 0, Wish(), None), PageOptions(path="/"))
    assert "250 bytes" in page


def test_one_member_is_marked_as_the_leader_of_its_group():
    verdict = captured_verdict("sarama.sticky.same")
    assert [member.leads for member in verdict.members].count(True) == 1
    assert page_of(verdict).count(">group leader<") == 1


def test_where_only_invariants_of_an_assignor_are_checked_the_page_says_so():
    page = page_of(captured_verdict("sarama.sticky.same"))
    assert "depends on what only the leader knows. groupwatch checks its invariants." in page
    assert "what only the leader knows" not in page_of(captured_verdict("sarama.roundrobin.same"))

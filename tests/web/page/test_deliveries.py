"""The page of a share group shows the records of each partition as a strip of offsets."""

from __future__ import annotations

from msgspec.structs import replace
from starlette.datastructures import QueryParams

from monitor.web.page.delivery_lines import WORDS, delivery_lines
from monitor.web.page.group import group_page
from monitor.web.page.on_demand import Asked
from monitor.web.page.options import PageOptions
from monitor.web.page.what_if_form import what_if_form
from tests.web.examples import sent_back, shared
from tests.web.page.test_connect import CLUSTER, PAGES, shown, words


def test_a_strip_has_each_batch_in_its_color_and_its_place():
    """Five offsets, 10 to 14: one accepted, one given up, two before their last delivery, one that nobody has had."""
    (line,) = delivery_lines(shared())
    assert (line.first, line.last) == (10, 14)
    ground, *batches = line.pieces
    assert (ground.kind, ground.width) == ("waiting", 1000)
    assert [(piece.kind, piece.x, piece.width) for piece in batches] == [
        ("done", 0, 200),
        ("archived", 200, 200),
        ("last", 400, 400),
    ]
    assert batches[2].title == "waiting for the last delivery: offsets 12 to 13, delivery count 4"


def test_partitions_with_records_that_were_delivered_in_vain_come_first():
    (delivery,) = shared().deliveries
    fine = replace(delivery, partition=1, given_up=0, last_tries=0, waiting_redelivery=0)
    again = replace(fine, partition=2, waiting_redelivery=1)
    lines = delivery_lines(replace(shared(), deliveries=(fine, again, delivery)))
    assert [line.delivery.partition for line in lines] == [0, 2, 1]


def test_the_page_says_what_the_colors_mean_and_which_offsets_it_shows():
    page = shown(shared())
    for kind, meaning in WORDS.items():
        assert f'<li><span class="delivery {kind}" aria-hidden="true"></span> {meaning}</li>' in page
    assert "10 to 14 2 4 2 1 1 10 9 s ago" in words(page)


def test_a_strip_ends_where_the_batches_that_are_shown_end():
    """Behind them are others, which are not all of records that wait."""
    (delivery,) = shared().deliveries
    many = replace(shared(), deliveries=(replace(delivery, more_batches=7),))
    (line,) = delivery_lines(many)
    assert (line.first, line.last) == (10, 13)
    assert "10 to 13 (first 3 batches)" in words(shown(many))


def test_the_page_says_why_nothing_can_be_rehearsed():
    asked = Asked(form=what_if_form(shared(), QueryParams("")))
    page = PAGES.group(group_page(shared(), None), CLUSTER, PageOptions(path="/"), asked)
    assert "What if There is no simulation. Group pool is a share group: its members" in words(page)


def test_a_partition_without_an_acknowledgment_has_no_strip():
    (delivery,) = shared().deliveries
    page = shown(replace(shared(), deliveries=(replace(delivery, start_offset=None, batches=(), answered_ms=None),)))
    assert "no acknowledgment yet" in words(page)
    assert '<svg class="strip"' not in page


def test_nobody_is_expected_to_own_a_partition_alone():
    page = words(shown(shared()))
    assert "Owners First waiting End Lag" in page
    assert "Expected owner" not in page


def test_where_share_state_is_not_read_nothing_is_said_of_records():
    page = words(shown(replace(shared(), delivery_totals=None)))
    assert "Share state is not read, so it is unknown what became of the records." in page
    assert "rejected or given up" not in page


def test_the_page_of_a_group_of_rocketmq_has_what_was_sent_back():
    page = words(shown(sent_back()))
    assert "Records sent back Sent back 44 Waiting 7 Given up 20, 18 of them kept In flight 3" in page
    assert "Records sent back" not in shown(shared())

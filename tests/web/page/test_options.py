"""What stands in the address of a page."""

import hypothesis.strategies as st
from hypothesis import given
from starlette.datastructures import QueryParams

from monitor.web.page.options import PageOptions


def test_an_option_is_changed_and_the_others_stay():
    options = PageOptions.read("/", QueryParams("q=a%26b&sort=lag&paused=1&nonsense=1"))
    assert options.href() == "/?q=a%26b&sort=lag&paused=1"
    assert options.href(paused=False, kind="drift") == "/?q=a%26b&kind=drift&sort=lag"
    assert PageOptions("/x").href() == "/x"


def test_who_sorts_again_by_a_column_turns_the_order():
    by_lag = PageOptions("/", sort="lag")
    assert (by_lag.sorted_by("lag"), by_lag.sorted_by("group")) == ("/?sort=-lag", "/?sort=group")
    assert PageOptions("/", sort="-lag").sorted_by("lag") == "/?sort=lag"
    assert (by_lag.order_of("lag", is_number=True), by_lag.order_of("group")) == ("descending", None), "most first"
    assert PageOptions("/", sort="-lag").order_of("lag", is_number=True) == "ascending"
    assert PageOptions("/", sort="group").order_of("group") == "ascending"


def test_a_kind_that_there_is_not_is_none():
    assert PageOptions("/", kind="<b>").finding_kind is None


TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXT, TEXT, TEXT, st.booleans(), st.booleans())
def test_an_address_says_what_it_was_made_from(search, cluster, map_topic, paused, explain):
    options = PageOptions("/", search=search, cluster=cluster, map_topic=map_topic, paused=paused, explain=explain)
    assert PageOptions.read("/", QueryParams(options.href().partition("?")[2])) == options

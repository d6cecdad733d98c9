"""A group is read again for its topics only when its state was stored anew."""

from msgspec.structs import replace

from monitor.tracking.serialization import encode_state
from streaming_jobs.driver.cluster_view import ClusterView
from streaming_jobs.driver.group_uses import GroupUseCache
from streaming_jobs.ingest.schemas import BucketRow, RowKind
from tests.support.builders import catalog, group, member, topic

CATALOG = catalog(topic("orders", 2))


def stored(name: str, *topics: str) -> BucketRow:
    return BucketRow(0, RowKind.GROUP, name, encode_state(replace(group(member("a", topics)), group=name)))


def test_the_topics_of_all_groups_are_those_of_their_newest_states():
    view, cache = ClusterView("c"), GroupUseCache()
    view.take([stored("b", "mail"), stored("a", "orders")])
    first = cache.uses(view.stored_groups(), CATALOG)
    assert [(use.group, use.reads) for use in first] == [("a", ("orders",)), ("b", ("mail",))]
    assert cache.uses(view.stored_groups(), CATALOG) is first
    view.take([stored("b", "mail", "orders"), BucketRow(0, RowKind.GROUP, "a", None)])
    newest = cache.uses(view.stored_groups(), CATALOG)
    assert [(use.group, use.reads) for use in newest] == [("b", ("mail", "orders"))]


def test_a_state_that_cannot_be_read_costs_only_its_group():
    view, cache = ClusterView("c"), GroupUseCache()
    view.take([stored("a", "orders"), BucketRow(0, RowKind.GROUP, "broken", b"\xc1")])
    assert [use.group for use in cache.uses(view.stored_groups(), CATALOG)] == ["a"]

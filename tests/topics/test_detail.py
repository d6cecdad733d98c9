"""A topic with every group: owners, lag, retention margin, and the partitions that no group reads."""

from msgspec.structs import replace

from monitor.detection.evaluate import evaluate
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.model import EndFall, GroupState, Phase, Truncations
from monitor.topics.detail import GroupPartition, Reading, TopicInputs, Truncation, topic_detail
from monitor.topics.uses import group_use
from tests.support.builders import NOW, catalog, commit, group, member, topic

CUT = topic("orders", 3)
ORDERS = replace(CUT, partitions=tuple(replace(each, earliest=40) for each in CUT.partitions))
CATALOG = catalog(ORDERS, topic("mail", 1))


def reading(state: GroupState, name: str) -> Reading:
    state = replace(state, group=name)
    return Reading(group_use(state, CATALOG), evaluate(state, CATALOG, NOW, DetectionSettings()))


BILLING = reading(
    group(
        member("C0", ["orders", "mail"], {"orders": [0, 1], "mail": [0]}),
        offsets=[commit("orders", 0, 70), commit("orders", 1, 30), commit("mail", 0)],
    ),
    "billing",
)
STOPPED = reading(group(phase=Phase.EMPTY, offsets=[commit("orders", 2, 100)]), "stopped")
SCRIPT = reading(group(phase=Phase.OFFSETS_ONLY, offsets=[commit("orders", 2, 100)]), "script")


def detail(*readings: Reading, **more):
    return topic_detail(TopicInputs("c", "orders", NOW, ORDERS, readings, **more))


def test_a_group_shows_only_its_partitions_of_the_topic():
    """The logs start at 40 and end at 100: 30 behind with a margin of 30, 70 behind with 10 lost."""
    (found,) = detail(BILLING).groups
    first, second, third = found.partitions
    assert (first.owners, first.committed, first.lag, first.margin) == (("C0",), 70, 30, 30)
    assert (second.owners, second.committed, second.lag, second.margin) == (("C0",), 30, 70, -10)
    assert third == GroupPartition(2)
    assert (found.lag, found.margin, found.members, found.is_reader) == (100, -10, 1, True)


def test_a_partition_is_read_if_it_has_an_owner():
    found = detail(BILLING)
    assert ([each.readers for each in found.partitions], found.unread) == ([1, 1, 0], (2,))


def test_a_stopped_group_reads_nothing_although_it_has_offsets():
    found = detail(BILLING, STOPPED)
    assert ([each.is_reader for each in found.groups], found.unread) == ([True, False], (2,))


def test_consumers_that_only_commit_read_what_they_commit():
    found = detail(BILLING, SCRIPT)
    assert ([each.readers for each in found.partitions], found.unread) == ([1, 1, 1], ())
    assert found.groups[1].members is None


def test_without_every_group_it_is_unknown_what_no_group_reads():
    assert detail(BILLING, hidden=1).unread is None
    assert detail(BILLING, failed=("broken",)).unread is None
    assert detail(BILLING, elsewhere=True).unread is None


def test_a_topic_that_no_collector_sees_has_groups_and_no_partitions():
    found = topic_detail(TopicInputs("c", "orders", NOW, None, (STOPPED,)))
    assert (found.partitions, found.pass_ms, found.unread, len(found.groups)) == ((), None, (), 1)


def test_a_partition_shows_when_its_end_went_back_last():
    fall = EndFall(from_ms=1_000, at_ms=2_000, before=130, after=95)
    cut = replace(ORDERS.partitions[1], truncations=Truncations(EndFall(8_000, 9_000, 99, 98), fall, 35))
    state = replace(ORDERS, partitions=(ORDERS.partitions[0], cut, ORDERS.partitions[2]))
    found = topic_detail(TopicInputs("c", "orders", NOW, state))
    assert [each.truncation for each in found.partitions] == [None, Truncation(1_000, 2_000, 130, 95), None]

"""The map of small groups, drawn by hand."""

from msgspec.structs import replace

from monitor.model import GroupVerdict, MemberVerdict, OrphanReason, PartitionVerdict, Sharing
from monitor.web.page.assignment_map import MOST_COLUMNS, MOST_TILES, Mark, TopicMap, assignment_map
from monitor.web.page.member_labels import Holders
from tests.web.examples import orders

LETTERS = {
    Mark.RIGHT: "#",
    Mark.HELD: "h",
    Mark.STRAY: "s",
    Mark.AWAITED: "o",
    Mark.DOUBLE: "2",
    Mark.ORPHAN: "x",
}


def map_of(verdict: GroupVerdict, wanted: str = "") -> tuple[TopicMap, ...]:
    return assignment_map(verdict, Holders(verdict.members), wanted)


def drawn(topic: TopicMap) -> list[str]:
    """A line for each row: a letter for each column."""
    return [
        f"{row.holder.name if row.holder else 'nobody'} "
        + "".join("." if cell is None else LETTERS[cell.mark] for cell in row.cells)
        for row in topic.rows or ()
    ]


def test_who_has_what_and_who_should():
    """Partition 0 is C0's as it should be; 1 is C0's and C1's; 2 is nobody's and C0's to be; 3 is C1's, C0's to be."""
    (topic,) = map_of(orders())
    assert topic.columns == (0, 1, 2, 3)
    assert drawn(topic) == ["nobody ..x.", "front #2oo", "back .2.s"]
    assert [(row.has, row.stray, row.awaited) for row in topic.rows] == [
        ("2", "", ""),
        ("0-1", "", "2-3"),
        ("1, 3", "3", ""),
    ]
    assert topic.summary == "1 without an owner, 1 with several owners, 1 with an unexpected owner"
    told = topic.rows[1].cells[2]
    assert told is not None
    assert told.title == "Partition 2: no owner; expected: #1 front"


def test_nobody_is_expected_where_the_assignor_is_not_known():
    (topic,) = map_of(replace(orders(), expectation="invariants"))
    assert drawn(topic) == ["nobody ..x.", "front h2..", "back .2.h"]


def test_members_that_broadcast_all_have_all():
    rows = tuple(PartitionVerdict(topic="t", partition=n, owners=("C0", "C1")) for n in range(2))
    group = replace(orders(), expectation="none", sharing=Sharing.BROADCAST, partitions=rows)
    (topic,) = map_of(group)
    assert (drawn(topic), topic.summary) == (["front hh", "back hh"], "")


def test_a_member_that_the_group_does_not_have_and_one_that_has_nothing_have_rows():
    idle = MemberVerdict(member_id="C2", client_id="idle", topics=("t",))
    rows = (PartitionVerdict(topic="t", partition=0, owners=("gone",), expected="C0"),)
    group = replace(orders(), members=(*orders().members, idle), partitions=rows)
    (topic,) = map_of(group)
    assert drawn(topic) == ["front o", "idle .", "gone s"]


def many(counts: dict[str, int], **wrong: int) -> GroupVerdict:
    """Topics of one member's, in the ``wrong`` ones of which a partition has no owner."""
    rows = [
        PartitionVerdict(
            topic=name,
            partition=n,
            owners=() if wrong.get(name) == n else ("C0",),
            expected="C0",
            orphan=OrphanReason.GREW if wrong.get(name) == n else None,
        )
        for name, count in counts.items()
        for n in range(count)
    ]
    return replace(orders(), partitions=tuple(rows))


def test_a_topic_with_many_partitions_is_no_table_and_has_no_empty_cells():
    (topic,) = map_of(many({"t": MOST_COLUMNS + 1}))
    assert topic.columns == ()
    assert [(len(row.tiles), row.cells) for row in topic.rows] == [(MOST_COLUMNS + 1, ())]


def test_of_a_large_group_what_is_wrong_is_unfolded_and_drawn_first():
    half = MOST_TILES // 2 + 1
    a, b, c = map_of(many({"a": half, "b": half, "c": 10}, b=7))
    assert [(each.is_open, each.rows is not None) for each in (a, b, c)] == [
        (False, False),
        (True, True),
        (False, True),
    ]
    a, *_ = map_of(many({"a": half, "b": half, "c": 10}, b=7), wanted="a")
    assert (a.is_open, a.rows is not None) == (True, True), "whoever asks for it gets it"

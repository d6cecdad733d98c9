"""Queries that the API refuses, each with the sentence that says why; and the lists against a naive reading of them."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.model import (
    Certainty,
    ClientLibrary,
    ClusterSnapshot,
    Finding,
    FindingKind,
    GroupKind,
    GroupSummary,
    Library,
    LibraryMembers,
    LibraryUse,
    Phase,
)
from monitor.web.api.lists import ApiLists, CursorError, Order, Place, Wanted, cursor, encoded, read_cursor
from tests.support.examples import example_count

REASONS = {FindingKind.LAG: "behind", FindingKind.ORPHANED: "grew", FindingKind.DRIFT: "current"}


def summary(cluster: str, group: str, lag: int | None = None, members: int | None = 1, *findings: Finding):
    return GroupSummary(cluster, group, GroupKind.CLASSIC.value, Phase.STABLE, "range", members, lag, findings)


def found(kind: FindingKind, since_ms: int = 5) -> Finding:
    return Finding(kind=kind, reason=REASONS[kind], since_ms=since_ms, sentence="s")


def clusters(*groups: GroupSummary) -> list[ClusterSnapshot]:
    """Ready clusters that hold these, each with its groups by name."""
    names = dict.fromkeys(each.cluster for each in groups)
    return [
        ClusterSnapshot(
            cluster=name,
            ready=True,
            evaluated_ms=10,
            groups=tuple(sorted((each for each in groups if each.cluster == name), key=lambda each: each.group)),
        )
        for name in names
    ]


THREE = clusters(
    summary("b", "x", 7, 2, found(FindingKind.LAG)),
    summary("b", "y", None, None),
    summary("a", "z", 7, 9, found(FindingKind.DRIFT), found(FindingKind.ORPHANED)),
    summary("a", "Xa", 30, 0),
)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        pytest.param(Wanted(), "Xa z x y", id="all, by cluster and name"),
        pytest.param(Wanted(order=Order.WORST), "z x Xa y", id="orphaned before lag, then by cluster and name"),
        pytest.param(Wanted(order=Order.LAG), "Xa z x y", id="largest lag first, unknown last"),
        pytest.param(Wanted(order=Order.MEMBERS), "z x Xa y", id="most members first, unknown last"),
        pytest.param(Wanted(search="X"), "Xa x", id="a part of the name in any case"),
        pytest.param(Wanted(problems=True), "z x", id="with findings"),
        pytest.param(Wanted(findings=(FindingKind.DRIFT,)), "z", id="with this finding"),
        pytest.param(Wanted(findings=(FindingKind.DRIFT, FindingKind.LAG)), "z x", id="with one of these findings"),
        pytest.param(Wanted(clusters=("b",)), "x y", id="of this cluster"),
        pytest.param(Wanted(kinds=(GroupKind.METAQ,)), "", id="of a kind that there is not"),
        pytest.param(Wanted(states=(Phase.EMPTY, Phase.STABLE)), "Xa z x y", id="in one of these states"),
        pytest.param(Wanted(order=Order.LAG, limit=2), "Xa z", id="the first two"),
    ],
)
def test_the_groups_that_are_wanted_come_in_the_order_that_is_wanted(wanted, names):
    assert [each.group for each in ApiLists(THREE).groups(wanted).rows] == names.split()


def test_groups_of_a_cluster_that_is_not_ready_are_not_told_of():
    waiting = msgspec.structs.replace(THREE[0], ready=False, evaluated_ms=None)
    assert [each.group for each in ApiLists([waiting, THREE[1]]).groups(Wanted()).rows] == ["Xa", "z"]


def test_findings_come_worst_first_and_longest_first_each_with_its_group_and_advice():
    late = summary("c", "late", 1, 1, found(FindingKind.ORPHANED, 1), found(FindingKind.LAG, 2))
    rows = ApiLists([*THREE, *clusters(late)]).findings(Wanted()).rows
    told = [(each.group, each.kind.value, each.since_ms, each.evaluated_ms) for each in rows]
    assert told == [
        ("late", "orphaned", 1, 10),
        ("z", "orphaned", 5, 10),
        ("late", "lag", 2, 10),
        ("x", "lag", 5, 10),
        ("z", "drift", 5, 10),
    ]


def test_only_the_findings_of_a_kind_are_told_not_the_others_of_the_same_group():
    rows = ApiLists(THREE).findings(Wanted(findings=(FindingKind.DRIFT,))).rows
    assert [(each.group, each.kind) for each in rows] == [("z", FindingKind.DRIFT)]


def using(cluster: str, group: str, *members: LibraryMembers) -> GroupSummary:
    return msgspec.structs.replace(summary(cluster, group), libraries=members)


def test_libraries_come_by_cluster_and_most_members_first():
    java, go = (
        ClientLibrary((each,), Certainty.CERTAIN, versions)
        for each, versions in ((Library.JAVA, "3.4 or newer"), (Library.KAFKA_GO, None))
    )
    shown = clusters(
        using("b", "x", LibraryMembers(go, 2)),
        using("a", "y", LibraryMembers(java, 1), LibraryMembers(go, 2)),
        using("a", "z", LibraryMembers(java, 2)),
        using("c", "none"),
    )
    of_a = [
        LibraryUse(
            cluster="a",
            libraries=(Library.JAVA,),
            certainty=Certainty.CERTAIN,
            versions="3.4 or newer",
            members=3,
            groups=2,
            group_names=("y", "z"),
        ),
        LibraryUse(
            cluster="a",
            libraries=(Library.KAFKA_GO,),
            certainty=Certainty.CERTAIN,
            members=2,
            groups=1,
            group_names=("y",),
        ),
    ]
    of_b = msgspec.structs.replace(of_a[1], cluster="b", group_names=("x",))
    lists = ApiLists(shown)
    assert lists.libraries(Wanted()).rows == (*of_a, of_b)
    assert lists.libraries(Wanted(clusters=("b",))).rows == (of_b,)
    assert lists.libraries(Wanted(clusters=("b", "a"))).matching == 3
    assert lists.libraries(Wanted(clusters=("c",))).rows == ()


def fleets(letters: str) -> st.SearchStrategy[list[GroupSummary]]:
    """Groups of two clusters, with names of these letters."""
    groups = st.builds(
        summary,
        st.sampled_from("ab"),
        st.text(letters, max_size=3),
        st.none() | st.integers(min_value=0, max_value=2**70),
        st.none() | st.integers(min_value=0, max_value=3),
        st.builds(found, st.sampled_from(list(REASONS)), st.integers(min_value=1, max_value=3)),
    )
    return st.lists(groups, max_size=15, unique_by=lambda each: (each.cluster, each.group))


@settings(max_examples=example_count(0.5))
@given(fleets("xy\u00e9/\ud800"), st.sampled_from(Order), st.integers(min_value=1, max_value=4))
def test_the_pages_of_a_list_are_together_the_whole_list(groups, order, limit):
    lists, wanted = ApiLists(clusters(*groups)), Wanted(order=order, limit=limit)
    pages, after = [], None
    for _ in range(len(groups) + 1):
        cut = lists.groups(msgspec.structs.replace(wanted, after=after))
        assert cut.matching == len(groups)
        pages.append(cut.rows)
        if cut.after is None:
            break
        after = read_cursor(order, cursor(order, cut.after))
    assert [each for page in pages for each in page] == list(lists.groups(Wanted(order=order)).rows)
    assert all(len(page) == limit for page in pages[:-1])


@settings(max_examples=example_count(0.5))
@given(fleets("xy\u00e9/"), st.integers(min_value=1, max_value=4))
def test_the_pages_of_the_findings_are_together_all_findings(groups, limit):
    lists, rows, after = ApiLists(clusters(*groups)), [], None
    for _ in range(len(groups) + 1):
        cut = lists.findings(Wanted(limit=limit, after=after))
        rows += cut.rows
        after = cut.after
        if after is None:
            break
    assert sorted((each.cluster, each.group) for each in rows) == sorted((each.cluster, each.group) for each in groups)


def test_a_group_that_comes_or_goes_between_two_pages_moves_no_other():
    before, after = ApiLists(THREE).groups(Wanted(limit=2)), clusters(summary("a", "A"), *THREE[0].groups)
    assert [each.group for each in before.rows] == ["Xa", "z"]
    assert [each.group for each in ApiLists(after).groups(Wanted(limit=2, after=before.after)).rows] == ["x", "y"]


@pytest.mark.parametrize("text", ["", "x", "%", "é", "W10", "WyJuYW1lIiwxXQ", "A" * 10_000])
def test_a_cursor_that_no_answer_has_given_is_refused(text):
    with pytest.raises(CursorError, match=r"^The cursor is invalid: no response has given it\.$"):
        read_cursor(Order.NAME, text)


def test_a_cursor_of_another_order_is_refused():
    text = cursor(Order.LAG, Place(0, 0, "a", "b"))
    with pytest.raises(CursorError, match=r"^The cursor is of a list that is sorted by lag\.$"):
        read_cursor(Order.NAME, text)


def test_a_group_that_json_cannot_hold_takes_no_other_with_it():
    rows = [summary("a", "x"), summary("a", "\ud800"), summary("a", "z")]
    assert [each["group"] for each in msgspec.json.decode(encoded(rows))] == ["x", "z"]


@pytest.mark.parametrize("count", [0, 1, 499, 500, 501, 1_300])
def test_a_list_of_any_length_is_the_json_of_its_rows(count):
    rows = [summary("a", f"group-{number}", number) for number in range(count)]
    assert msgspec.json.decode(encoded(rows), type=list[GroupSummary]) == rows


def test_nothing_waiting_is_more_than_not_known():
    lists = ApiLists(clusters(summary("a", "unknown", None, None), summary("a", "zero", 0, 0)))
    for order in (Order.LAG, Order.MEMBERS):
        assert [each.group for each in lists.groups(Wanted(order=order)).rows] == ["zero", "unknown"]

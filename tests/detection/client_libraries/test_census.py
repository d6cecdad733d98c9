"""The census counts every member once, by what is known of its library, and every group for each library in it."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from monitor.detection.client_libraries.census import count_members, take_census
from monitor.detection.client_libraries.recognition import recognize_libraries
from monitor.model import UNKNOWN_LIBRARY, Certainty, ClientLibrary, Library, LibraryMembers, LibraryUse
from tests.detection.client_libraries.test_recognition import library_in
from tests.detection.ownership.test_client_libraries import captured, state_of

JAVA = ClientLibrary((Library.JAVA,), Certainty.CERTAIN, "3.4 or newer")
OLD_JAVA = ClientLibrary((Library.JAVA,), Certainty.CERTAIN, "2.4 to 3.3")
LIKELY_JAVA = ClientLibrary((Library.JAVA,), Certainty.LIKELY, "2.4 to 3.3")
SARAMA = ClientLibrary((Library.SARAMA,), Certainty.LIKELY)
EITHER = ClientLibrary((Library.JAVA, Library.SARAMA), Certainty.POSSIBLE)


def test_the_members_of_the_captured_groups_are_counted_by_the_library_that_they_ran():
    groups = [(name, count_members(recognize_libraries(state_of(name)).values())) for name in captured()]
    members: Counter[str] = Counter()
    for use in take_census("c", groups):
        members[use.library.label] += use.members
    ran: Counter[str] = Counter()
    for name in captured():
        ran[library_in(name).value] += len(state_of(name).members)
    assert members == ran
    assert sum(members.values()) == 154


def test_a_group_is_counted_for_each_library_of_its_members():
    """Two Java members and one of Sarama; three more Java members elsewhere."""
    mixed, plain = count_members([JAVA, SARAMA, JAVA]), count_members([JAVA] * 3)
    assert mixed == (LibraryMembers(JAVA, 2), LibraryMembers(SARAMA, 1))
    assert take_census("c", [("z", mixed), ("none", ()), ("a", plain)]) == (
        LibraryUse(
            cluster="c",
            libraries=(Library.JAVA,),
            certainty=Certainty.CERTAIN,
            versions="3.4 or newer",
            members=5,
            groups=2,
            group_names=("a", "z"),
        ),
        LibraryUse(
            cluster="c",
            libraries=(Library.SARAMA,),
            certainty=Certainty.LIKELY,
            members=1,
            groups=1,
            group_names=("z",),
        ),
    )


def test_most_members_come_first_and_equal_numbers_by_library_certainty_and_release():
    each = [UNKNOWN_LIBRARY, SARAMA, JAVA, EITHER, LIKELY_JAVA, OLD_JAVA]
    uses = take_census("c", [("g", count_members([*each, UNKNOWN_LIBRARY]))])
    assert [use.library for use in uses] == [UNKNOWN_LIBRARY, OLD_JAVA, JAVA, LIKELY_JAVA, EITHER, SARAMA]
    assert [use.members for use in uses] == [2, 1, 1, 1, 1, 1]


def test_without_members_there_is_nothing_to_count():
    assert take_census("c", []) == take_census("c", [("g", ()), ("h", ())]) == ()


@given(st.lists(st.lists(st.sampled_from([JAVA, OLD_JAVA, SARAMA, EITHER, UNKNOWN_LIBRARY])), max_size=6))
def test_the_order_of_groups_and_members_does_not_matter(groups: list[list[ClientLibrary]]):
    named = [(str(number), group) for number, group in enumerate(groups)]
    uses = take_census("c", [(name, count_members(group)) for name, group in named])
    assert uses == take_census("c", [(name, count_members(group[::-1])) for name, group in named[::-1]])
    assert sum(use.members for use in uses) == sum(map(len, groups))
    for use in uses:
        assert use.groups == len(use.group_names)
        assert use.group_names == tuple(sorted(name for name, group in named if use.library in group))

"""What an explanation of a group says about the number of members that it needs."""

from msgspec.structs import replace

from monitor.explain.statements import About
from monitor.model.scaling import MemberRate, ScaleMemory, ScaleTarget
from monitor.scaling.explanation import fully_explained
from tests.scaling.fleet import Fleet, even

TARGET = ScaleTarget()


def test_a_group_with_an_entry_is_explained_with_the_members_that_it_needs():
    """60 records a second into each of 6 partitions: a member of 200 has room for two of them."""
    fleet = Fleet(even(6, 60.0), [400.0, 400.0]).run(700)
    memory = ScaleMemory(rates=tuple([MemberRate(number, "m00", "h", 200.0) for number in range(10)]), since_ms=1)
    told = fully_explained(fleet.inputs(TARGET, memory)).statements[-1]
    assert told.about is About.NEEDED
    assert (
        told.sentence
        == "The group has 2 members and needs 3. 3 members are enough to read all that waits within 1 min."
    )
    assert told.evidence == (
        "Lag: 0 records. Incoming: 360 records/s. A member reads: 200 records/s (10 measurements).",
    )


def test_what_is_not_known_is_said():
    told = fully_explained(Fleet(even(6, 60.0), [400.0, 400.0]).run(700).inputs(TARGET, ScaleMemory(since_ms=1)))
    assert told.statements[-1].sentence == (
        "The group has 2 members, and the number stays at 2. How fast a member reads is not known yet. It is "
        "measured once records wait for a member for a minute or two."
    )


def test_groups_without_an_entry_partitions_and_groups_without_members_have_no_number():
    inputs = Fleet(even(6, 60.0), [400.0, 400.0]).run(700).inputs(TARGET)
    empty = replace(inputs, group=replace(inputs.group, members=()))
    without = Fleet(even(6, 60.0), [400.0, 400.0]).run(700).inputs()
    found = [fully_explained(without), fully_explained(empty), fully_explained(inputs, "orders", "0")]
    assert not [each for told in found for each in told.statements if each.about is About.NEEDED]

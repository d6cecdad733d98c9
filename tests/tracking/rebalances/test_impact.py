"""What commits around a rebalance tell of its pause and of the burst after it; the numbers are worked out by hand."""

import pytest
from msgspec.structs import replace

from monitor.model import CurrentRemoved, GroupKind, OffsetCommitted
from tests.tracking.rebalances.test_moves import chosen, fold, generation, goes, joins, member, owns
from tests.tracking.test_group_captures import events

STEADY = [(5_000 * n, 10 * n) for n in range(1, 5)]
"""Ten records every five seconds, until 20 s."""


def commits(points, partition=0):
    return [
        OffsetCommitted(group="g", topic="t", partition=partition, offset=offset, committed_ms=at_ms)
        for at_ms, offset in points
    ]


def begun(*points):
    return fold(generation(1, member("a", 0, 1), at=0), generation(2, member("a", 0, 1), at=1), *commits(points))


def cost(state):
    newest = state.history[-1]
    return newest.paused_partitions, newest.pause_ms, newest.burst_records


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(STEADY, [(33_000, 75)], (1, 8_000, 35), id="8 s longer than the usual 5 s"),
        pytest.param(STEADY, [(25_000, 50)], (0, 0, 0), id="as long as usual"),
        pytest.param(STEADY, [(33_000, 40)], (0, 0, 0), id="nothing was waiting: the same offset again"),
        pytest.param(STEADY, [(33_000, 20)], (1, 8_000, 0), id="read again from an earlier offset"),
        pytest.param(STEADY, [(33_000, 75), (60_000, 90)], (1, 8_000, 35), id="the second commit is no resumption"),
        pytest.param(
            [(0, 1), (9_000, 2), (12_000, 3), (20_000, 4)],
            [(30_500, 5)],
            (1, 2_500, 1),
            id="longer than 8 s",
        ),
        pytest.param([(14_000, 1), (17_000, 2), (20_000, 3)], [(60_000, 9)], (0, 0, 0), id="what is usual is unknown"),
        pytest.param(STEADY, [(322_001, 99)], (0, 0, 0), id="it was idle for long after the rebalance"),
        pytest.param([], [(33_000, 75)], (0, 0, 0), id="never committed before"),
    ],
)
def test_the_pause_of_a_partition(before, after, expected):
    """The rebalance ends at 22 s."""
    state = fold(generation(3, member("a", 0), member("b", 1), at=22_000), state=begun(*before))
    assert cost(fold(*commits(after), state=state)) == expected


def test_the_pause_of_a_group_that_has_committed_every_second_for_long():
    """Its commits of 20 minutes are remembered one a minute; those gaps of 60 s are not its rhythm."""
    every_second = [(1_000 * n, n) for n in range(1, 1_201)]
    state = fold(generation(3, member("a", 0), member("b", 1), at=1_205_000), state=begun(*every_second))
    assert cost(fold(*commits([(1_221_000, 1_300)]), state=state)) == (1, 20_000, 100)


def test_bursts_of_commits_are_a_rhythm_and_no_pause():
    """Twelve commits in 120 ms, every 30 s. The newest ten are 10 ms apart; that there was nothing for the rest of each
    older minute is known, too, so a burst that comes at its time is not late."""
    bursts = [(30_000 * n + 10 * k, 12 * n + k) for n in range(1, 41) for k in range(12)]
    state = fold(generation(3, member("a", 0), member("b", 1), at=1_215_000), state=begun(*bursts))
    assert cost(fold(*commits([(1_230_000, 12 * 41)]), state=state)) == (0, 0, 0)


def test_pauses_of_partitions_are_summed_and_of_rebalances_too():
    state = fold(*commits(STEADY, 1), state=begun(*STEADY))
    state = fold(generation(3, member("a", 0), member("b", 1), at=22_000), state=state)
    state = fold(*commits([(33_000, 75)]), *commits([(30_000, 70)], 1), state=state)
    assert cost(state) == (2, 8_000 + 5_000, 35 + 30)
    state = fold(generation(4, member("a", 0, 1), at=36_000), *commits([(43_000, 80)]), state=state)
    assert cost(state) == (1, 5_000, 5), "usual are 5 s: one of the gaps before was the other pause"
    assert (state.pause_ms, state.burst_records) == (18_000, 70)


def test_a_commit_before_the_next_rebalance_belongs_to_the_one_before():
    state = fold(generation(3, member("a", 0), member("b", 1), at=22_000), state=begun(*STEADY))
    state = fold(*commits([(33_000, 75)]), generation(4, member("a", 0, 1), at=34_000), state=state)
    assert [rebalance.pause_ms for rebalance in state.history[-2:]] == [8_000, 0]


def test_a_group_that_had_no_members_was_not_paused_by_a_rebalance():
    state = fold(generation(3, at=22_000), generation(4, member("b", 0, 1), at=900_000), state=begun(*STEADY))
    assert fold(*commits([(901_000, 99)]), state=state).pause_ms == 0


def test_partitions_that_were_idle_long_before_a_rebalance_were_not_paused_by_it():
    state = fold(generation(3, member("a", 0), member("b", 1), at=9_000_000), state=begun(*STEADY))
    assert fold(*commits([(9_001_000, 75)]), state=state).pause_ms == 0


def test_offsets_that_are_reset_while_nobody_is_there_are_no_pause():
    state = fold(generation(3, at=22_000), state=begun(*STEADY))
    assert fold(*commits([(40_000, 999_999)]), state=state).pause_ms == 0


def test_a_kip_848_group_pauses_only_where_something_moves():
    state = fold(*joins("a", 1), chosen(1), owns("a", 1, 0, 1), *commits(STEADY), *commits(STEADY, 1))
    state = fold(*joins("b", 22_000), chosen(22_000), owns("a", 22_000, 0), owns("b", 22_000, 1), state=state)
    state = fold(*commits([(25_000, 50)]), *commits([(31_000, 60)], 1), state=state)
    assert cost(state) == (1, 6_000, 20)


# --- KIP-848, with commits that name the topic ------------------------------------------------------------------------

KEY = 0x89 - 0x100
"""Of the topic with the id "id", which is the byte 0x89 in base64."""


def read(points, partition=0, key=KEY):
    return [replace(event, topic_key=key) for event in commits(points, partition)]


def told(event, at_ms):
    return replace(event, current=replace(event.current, since_ms=at_ms))


ALONE = [*joins("a", 1), chosen(1), owns("a", 1, 0, 1), *read(STEADY), *read(STEADY, 1)]
JOINING = [*joins("b", 21_000), chosen(21_000), owns("b", 21_000, waits=True)]
GIVING = [told(owns("a", 1, 0, gives_back=(1,)), 22_000), told(owns("a", 21_000, 0), 24_000)]


def by_one(*events):
    """The state, which is the same in one batch and in many."""
    state = None
    for event in events:
        state = fold(event, state=state)
    assert state == fold(*events)
    return state


def test_a_partition_pauses_from_when_its_owner_is_told_to_give_it_back_until_another_has_it():
    """Told at 22 s, taken at 25 s, read at 26 s: 3 s, and 15 records by then; the other partition goes on."""
    after = [told(owns("b", 21_000, 1), 25_000), *read([(26_000, 55)], 1), *read([(25_000, 50), (33_000, 70)])]
    state = by_one(*ALONE, *JOINING, *GIVING, *after)
    assert cost(state) == (1, 3_000, 15)
    assert (state.pause_ms, state.burst_records, state.taken) == (3_000, 15, ())


def test_what_its_new_owner_reads_before_the_last_member_is_done_was_paused_too():
    """Two members join, and the second has to wait until after the first has committed."""
    others = [*JOINING, *joins("c", 21_500), chosen(21_500), owns("c", 21_500, waits=True)]
    giving = [told(owns("a", 1, gives_back=(0, 1)), 22_000), told(owns("a", 21_500), 24_000)]
    taking = [told(owns("b", 21_500, 1), 25_000), *read([(26_000, 55)], 1)]
    state = by_one(*ALONE, *others, *giving, *taking)
    assert (state.under_way.pause_ms, state.under_way.paused_partitions, state.pause_ms) == (3_000, 1, 3_000)
    overtaken = by_one(*ALONE, *others, *giving, *taking, *joins("d", 27_000)).under_way
    assert (overtaken.pause_ms, overtaken.paused_partitions, overtaken.burst_records) == (3_000, 1, 15)
    done = [told(owns("c", 21_500, 0), 30_000), *read([(31_000, 60)])]
    state = by_one(*ALONE, *others, *giving, *taking, *done)
    assert state.under_way is None
    assert cost(state) == (2, 3_000 + 8_000, 15 + 20)


def test_the_partitions_of_a_member_that_died_pause_from_its_last_commit_on_as_far_as_that_is_unusual():
    """It commits last at 20 s and is removed at 65 s; usual are 5 s, so 67 s are 42 s too late."""
    dead = [
        CurrentRemoved(group="g", kind=GroupKind.CONSUMER, member_id="a"),
        replace(goes("a"), removed_ms=65_000),
        *joins("b", 65_000),
        chosen(65_000),
        told(owns("b", 65_000, 0, 1), 66_000),
    ]
    state = by_one(*ALONE, *dead, *read([(67_000, 90)], 1))
    assert cost(state) == (1, 42_000, 50)
    (taken,) = state.taken
    assert (taken.stopped_ms, taken.gained_ms, taken.topic_key, taken.partitions) == (65_000, 66_000, KEY, (0,))


@pytest.mark.parametrize(
    "after",
    [
        pytest.param([(26_000, 40)], id="nothing was waiting"),
        pytest.param([(325_001, 90)], id="it was idle for long afterwards"),
    ],
)
def test_a_partition_that_changes_hands_without_work_is_not_paused(after):
    state = by_one(*ALONE, *JOINING, *GIVING, told(owns("b", 21_000, 1), 25_000), *read(after, 1))
    assert cost(state) == (0, 0, 0)


def test_a_topic_of_another_id_is_not_the_one_that_changed_hands():
    other = [replace(event, topic="u", topic_key=KEY + 1) for event in [*read(STEADY, 1), *read([(33_000, 70)], 1)]]
    state = by_one(*ALONE, *other[:-1], *JOINING, *GIVING, told(owns("b", 21_000, 1), 25_000), other[-1])
    assert cost(state) == (0, 0, 0)


def test_real_handovers_take_as_long_as_the_clients_say():
    """Kafka 4.3.1, a member that takes 6 s to give its partitions back. The clients say that from its being told to the
    new owner's having them passed 6162, 6162, 6230 and 6380 ms (clients.jsonl of the capture: "revoking", "assigned");
    the log's records are up to a heartbeat apart from that. No records flow, so no pause is counted."""
    state, found = None, {}
    for _, _, event in events("4.3.1")["birch-nectar45-group"]:
        state = fold(event, state=state)
        for taken in state.taken if state else ():
            found |= {
                (taken.gained_ms, partition): taken.gained_ms - taken.stopped_ms for partition in taken.partitions
            }
    slow = sorted(lasted_ms for lasted_ms in found.values() if lasted_ms > 1_000)
    assert slow == pytest.approx([6_162, 6_162, 6_230, 6_380], abs=250)
    assert state is None or state.pause_ms == 0

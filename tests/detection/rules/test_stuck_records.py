"""Groups whose owners leave at one record, and such that only look like it. Times are in seconds.

A record comes to each partition each second, and its offset is its second. All partitions are committed each 5 s, so
a usual commit takes 15 s at most. Sessions end after 45 s, and polls may be 300 s apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.model import (
    STATIC_LEAVE_EPOCH,
    STREAM,
    CurrentRemoved,
    CurrentStored,
    EpochStored,
    GroupKind,
    GroupState,
    IdPartitions,
    ListedOffset,
    Member,
    MemberRemoved,
    MembershipStored,
    MemberStored,
    OffsetCommitted,
    OffsetsListed,
    PendingOffsets,
    Reconciliation,
    TargetEpochStored,
    TopicPartitions,
    TopicState,
)
from monitor.protocol.offsets_topic import topic_key_of
from monitor.tracking.group import fold_group
from tests.detection.lag.test_lag import partition
from tests.support.builders import catalog, member

S = 1_000
TOPIC_ID = "dG9waWN0b3BpY3RvcGljdA"
STUCK = ("lag", "stuck_record")
SILENT = ("lag", "not_committing")


def commits(number: int, from_s: int, until_s: int, every_s: int = 5, topic_key: int | None = None):
    """Commits that follow the records."""
    seconds = range(from_s, until_s + 1, every_s)
    return [OffsetCommitted("g", "t", number, second, second * S, topic_key=topic_key) for second in seconds]


def commit(number: int, offset: int, at_s: int):
    return OffsetCommitted("g", "t", number, offset, at_s * S)


def owning(name: str, numbers: Sequence[int], **more) -> Member:
    known = {"session_timeout_ms": 45 * S, "rebalance_timeout_ms": 300 * S, "client_id": name, "host": "/h"}
    instance, _, life = name.partition("#")
    if life:
        known |= {"instance_id": instance}
    return member(name, ["t"], {"t": tuple(numbers)}, **(known | more))


def generation(number: int, at_s: int, owners: Mapping[str, Sequence[int]], protocol: str = "range", **more):
    """What follows a ``#`` in the name of a member tells the lives of a static one apart."""
    members = tuple(owning(name, numbers, **more) for name, numbers in owners.items())
    return MembershipStored("g", number, "consumer", protocol if members else None, None, at_s * S, members)


def generations(*owners: tuple[int, Mapping[str, Sequence[int]]], **more):
    return [generation(number, at_s, each, **more) for number, (at_s, each) in enumerate(owners, 1)]


def time_of(event) -> int:
    match event:
        case OffsetCommitted():
            return event.committed_ms
        case OffsetsListed():
            return event.asked_ms
        case MemberRemoved() | CurrentRemoved():
            return event.removed_ms
        case CurrentStored():
            return event.current.since_ms
        case _:
            return event.stored_ms


def fold(*pieces: Iterable[object], until_s: int) -> GroupState:
    events = [event for piece in pieces for event in piece if time_of(event) <= until_s * S]
    state = fold_group("c", "g", None, sorted(events, key=time_of))
    assert state is not None
    return state


def topics(now_s: int, still: Sequence[int] = (), since_s: int = 0, **more):
    """A record a second in four partitions; nothing came to the ``still`` ones since then."""
    rows = []
    for number in range(4):
        last = since_s if number in still else now_s
        points = [(second, min(second, last)) for second in range(0, now_s + 1, 10)]
        rows.append(partition(*points, number=number))
    return catalog(TopicState(cluster="c", topic="t", pass_ms=0, topic_id=TOPIC_ID, partitions=tuple(rows)), **more)


def told(state: GroupState, now_s: int, topics_now=None):
    findings = evaluate(state, topics_now or topics(now_s), now_s * S, DetectionSettings()).findings
    about = {"lag", "transactions", "dead_member"}
    return {(f.kind.value, f.reason): [each.partition for each in f.partitions] for f in findings if f.kind in about}


def text(state: GroupState, now_s: int, reason: str, topics_now=None) -> str:
    findings = evaluate(state, topics_now or topics(now_s), now_s * S, DetectionSettings()).findings
    (found,) = [each.sentence for each in findings if each.reason == reason]
    return found


GOING_ON = [event for number in (1, 2, 3) for event in commits(number, 0, 4_000)]
UP_TO_100 = commits(0, 0, 100)
DYING = generations(
    (0, {"A": (0,), "C": (1, 2, 3)}),
    (145, {"B": (0,), "C": (1, 2, 3)}),
    (195, {"D": (0,), "C": (1, 2, 3)}),
    (245, {"E": (0,), "C": (1, 2, 3)}),
    (295, {"F": (0,), "C": (1, 2, 3)}),
)
"""The consumer dies at offset 100. Each time, its session ends 45 s later, and it has been started again by then."""


# --- a record that ends its consumers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("at_s", "is_told"), [(180, False), (244, False), (245, True), (290, True), (340, True)])
def test_a_record_is_suspected_once_two_owners_have_begun_there_and_left(at_s, is_told):
    found = told(fold(GOING_ON, UP_TO_100, DYING, until_s=at_s), at_s)
    assert found.get(STUCK) == ([0] if is_told else None)
    assert SILENT not in found or not is_told


def test_the_sentence_has_the_offset_the_span_and_the_command():
    state = fold(GOING_ON, UP_TO_100, DYING, until_s=300)
    assert text(state, 300, "stuck_record") == (
        "The record at offset 100 of partition 0 of t, or one soon after it, may stop its consumers. Before, commits "
        "there were at most 5 records apart. At least 3 owners in a row began there and left, while the group "
        "committed other partitions. kafka-console-consumer.sh "
        "--bootstrap-server BROKER:9092 --topic t --partition 0 --offset 100 --max-messages 1 prints the record."
    )


def test_it_ends_when_the_group_passes_the_record():
    passed = commits(0, 310, 400)
    assert STUCK in told(fold(GOING_ON, UP_TO_100, DYING, passed, until_s=309), 309)
    state = fold(GOING_ON, UP_TO_100, DYING, passed, until_s=310)
    assert STUCK not in told(state, 310)
    assert state.departures == ()


def test_commits_that_repeat_the_offset_change_nothing():
    """As a consumer makes them that commits its position when it closes."""
    repeated = [commit(0, 100, second) for second in (146, 150, 197, 246)]
    state = fold(GOING_ON, UP_TO_100, DYING, repeated, until_s=260)
    assert told(state, 260)[STUCK] == [0]
    assert SILENT not in told(state, 260)


def test_consumers_that_hang_at_it_until_their_poll_is_overdue():
    """A member that hangs is removed after 300 s, and others may need as long to join."""
    hanging = generations(
        (0, {"A": (0,), "C": (1, 2, 3)}),
        (500, {"B": (0,), "C": (1, 2, 3)}),
        (1_000, {"D": (0,), "C": (1, 2, 3)}),
        (1_500, {"E": (0,), "C": (1, 2, 3)}),
    )
    for at_s in (1_510, 1_600):
        found = told(fold(GOING_ON, UP_TO_100, hanging, until_s=at_s), at_s)
        assert found == {STUCK: [0]}, "and the newest of them is no dead member"


def test_a_static_member_that_dies_again_and_again():
    """Its generation is only rewritten, as it comes back within its session."""
    lives = [generation(1, at_s, {f"x#{at_s}": (0,), "C": (1, 2, 3)}) for at_s in (0, 120, 150, 180, 210)]
    assert STUCK not in told(fold(GOING_ON, UP_TO_100, lives, until_s=179), 179)
    assert told(fold(GOING_ON, UP_TO_100, lives, until_s=181), 181)[STUCK] == [0]


def test_members_that_leave_at_once_by_themselves():
    """Each fails two seconds after it has begun: too soon to tell much, so five are needed."""
    quick = [(0, {"A": (0,), "C": (1, 2, 3)})]
    quick += [(145 + 2 * index, {f"B{index}": (0,), "C": (1, 2, 3)}) for index in range(12)]
    assert STUCK not in told(fold(GOING_ON, UP_TO_100, generations(*quick), until_s=154), 170)
    assert told(fold(GOING_ON, UP_TO_100, generations(*quick[:-3]), until_s=175), 175)[STUCK] == [0]


def test_the_other_partitions_of_the_dying_owner_stand_with_it_until_somebody_else_has_them():
    both = generations(
        (0, {"A": (0, 1), "C": (2, 3)}),
        (145, {"B": (0, 1), "C": (2, 3)}),
        (195, {"D": (0, 1), "C": (2, 3)}),
        (245, {"E": (0, 1), "C": (2, 3)}),
        (295, {"F": (0,), "G": (1,), "C": (2, 3)}),
    )
    others = [*commits(1, 0, 100), *commits(1, 300, 400), *commits(2, 0, 400), *commits(3, 0, 400)]
    assert told(fold(others, UP_TO_100, both, until_s=250), 250)[STUCK] == [0, 1]
    sentence = text(fold(others, UP_TO_100, both, until_s=250), 250, "stuck_record")
    assert sentence.startswith(
        "Owners of 2 partitions of t (0-1) leave one after the other, and a record of one of these may be the cause. "
        "In partition 0 of t, it would be the one at offset 100, or one soon after it. Before, commits there were at "
    )
    assert told(fold(others, UP_TO_100, both, until_s=301), 301)[STUCK] == [0]


TOPIC_KEY = topic_key_of(TOPIC_ID)
OTHERS = [event for number in (1, 2, 3) for event in commits(number, 0, 400, topic_key=TOPIC_KEY)]


def modern(member_id: str, at_s: int, epoch: int, *numbers: int):
    """A member of a KIP-848 group comes, and has what it is to have."""
    given = (IdPartitions(TOPIC_ID, numbers),)
    kind = GroupKind.CONSUMER
    own = Member(member_id, topics=("t",), client_id=member_id, host="/h", rebalance_timeout_ms=300 * S)
    return [
        MemberStored("g", kind, own, at_s * S),
        EpochStored("g", kind, epoch, at_s * S),
        TargetEpochStored("g", kind, epoch, at_s * S),
        CurrentStored("g", kind, member_id, Reconciliation(epoch, epoch - 1, assigned=given, since_ms=at_s * S)),
    ]


def removed(member_id: str, at_s: int):
    kind = GroupKind.CONSUMER
    return [CurrentRemoved("g", kind, member_id, at_s * S), MemberRemoved("g", kind, member_id, at_s * S)]


def test_members_of_a_kip_848_group():
    lives = [*modern("C", 0, 1, 1, 2, 3), *modern("A", 0, 2, 0), *removed("A", 145)]
    lives += [*modern("B", 146, 3, 0), *removed("B", 191), *modern("D", 192, 4, 0), *removed("D", 237)]
    lives += modern("E", 238, 5, 0)
    pieces = OTHERS, commits(0, 0, 100, topic_key=TOPIC_KEY), lives
    assert STUCK not in told(fold(*pieces, until_s=230), 230)
    assert told(fold(*pieces, until_s=240), 240)[STUCK] == [0]


def away(member_id: str, at_s: int, *numbers: int):
    """A static member of a KIP-848 group leaves; its partitions are kept for it until its session is over."""
    given = (IdPartitions(TOPIC_ID, numbers),)
    current = Reconciliation(STATIC_LEAVE_EPOCH, assigned=given, since_ms=at_s * S)
    return [CurrentStored("g", GroupKind.CONSUMER, member_id, current)]


@pytest.mark.parametrize(("stood_s", "is_told"), [(44, True), (1, False)])
def test_a_static_member_of_a_kip_848_group_stands_until_it_goes_away(stood_s, is_told):
    """Each is removed 45 s after it came; the first of them go away right before that, the others soon after coming."""
    lives = [*modern("C", 0, 1, 1, 2, 3), *modern("A", 0, 2, 0), *away("A", 101, 0), *removed("A", 145)]
    for epoch, (name, came_s) in enumerate([("B", 146), ("D", 192), ("E", 238)], start=3):
        lives += [*modern(name, came_s, epoch, 0), *away(name, came_s + stood_s, 0), *removed(name, came_s + 45)]
    state = fold(OTHERS, commits(0, 0, 100, topic_key=TOPIC_KEY), lives, until_s=283)
    assert told(state, 283).get(STUCK) == ([0] if is_told else None)


@given(st.integers(1, 40), st.integers(0, 7))
def test_the_same_is_known_however_the_log_is_cut(size, start):
    static = [generation(7, at_s, {f"x#{at_s}": (0,), "C": (1, 2, 3)}) for at_s in (320, 350, 380)]
    quick = [generation(8 + n, 281 + 3 * n, {f"Q{n}": (0,), "C": (1, 2, 3)}) for n in range(12)]
    events = [*GOING_ON, *UP_TO_100, *DYING, *quick, *static, commit(0, 100, 205), *commits(0, 400, 500)]
    events = sorted([event for event in events if time_of(event) <= 450 * S], key=time_of)
    for end in (len(events), len(events) - 45):
        whole = fold_group("c", "g", None, events[:end])
        state = fold_group("c", "g", None, events[:start])
        for first in range(start, end, size):
            state = fold_group("c", "g", state, events[first : min(first + size, end)])
        assert state == whole


# --- owners that leave at once, and are started again -----------------------------------------------------------------

STOPPED = [event for number in range(4) for event in commits(number, 0, 100)]
"""Nobody commits anything after 100."""


def reasons(state: GroupState, now_s: int, topics_now=None) -> set[str]:
    """What is told of lag, in groups with and without members."""
    findings = evaluate(state, topics_now or topics(now_s), now_s * S, DetectionSettings()).findings
    return {each.reason for each in findings if each.kind.value in {"lag", "unattended", "dead_member"}}


def classic_lives(starts: Iterable[int]):
    """Each has all partitions for a second; then the group is empty."""
    each = [(at_s, {f"B{at_s}": (0, 1, 2, 3)}) for at_s in starts]
    empty = [(at_s + 1, {}) for at_s, _ in each]
    return generations((0, {"A": (0, 1, 2, 3)}), (103, {}), *sorted(each + empty))


def modern_lives(starts: Iterable[int]):
    lives = [*modern("A", 0, 1, 0, 1, 2, 3), *removed("A", 103)]
    for epoch, at_s in enumerate(starts, 2):
        lives += [*modern(f"B{at_s}", at_s, epoch, 0, 1, 2, 3), *removed(f"B{at_s}", at_s + 1)]
    return lives


def named(lives):
    """The commits, as the protocol of the group has them."""
    key = topic_key_of(TOPIC_ID) if lives is modern_lives else None
    return [event for number in range(4) for event in commits(number, 0, 100, topic_key=key)]


@pytest.mark.parametrize("lives", [classic_lives, modern_lives])
def test_owners_that_die_at_once_are_told_without_a_gap(lives):
    """Whether the group has members just now or not: they are started again six seconds after they died."""
    pieces = named(lives), lives(range(106, 700, 6))
    for at_s in (*range(145, 160, 2), *range(170, 182), *range(182, 650, 13)):
        found = reasons(fold(*pieces, until_s=at_s), at_s)
        assert found == (set() if at_s < 160 else {"not_committing"}), at_s


def test_the_sentence_names_the_offset_at_which_they_began_while_the_group_is_empty():
    state = fold(STOPPED, classic_lives(range(106, 240, 6)), until_s=239)
    assert text(state, 239, "not_committing") == (
        "4 partitions of t (0-3) have lag, and no offset has been committed there for at least 60 s. At least 20 "
        "owners in a row began in partition 0 of t at offset 100 and left."
    )


@pytest.mark.parametrize("lives", [classic_lives, modern_lives])
def test_a_group_without_members_is_unattended_once_nobody_comes_back(lives):
    """Kubernetes starts a container again after up to 300 s. The group is missed after three times as long."""
    starts = (110, 120, 140, 180, 260, 420, 720, 1_020, 1_320)
    pieces = named(lives), lives(starts)
    for at_s in (*range(425, 1_321, 17), *range(1_321, 1_321 + 900, 50), 2_220):
        assert reasons(fold(*pieces, until_s=at_s), at_s) == {"not_committing"}, at_s
    gone = fold(*pieces, until_s=1_321)
    assert reasons(gone, 1_321 + 900) == reasons(gone, 9_000) == {"no_members"}


def test_four_deaths_may_be_a_deployment():
    pieces = STOPPED, classic_lives((106, 112, 118, 124))
    assert reasons(fold(*pieces, until_s=190), 180) == set()
    assert reasons(fold(*pieces, until_s=190), 190) == {"no_members"}


def test_it_ends_with_the_first_commit_after_a_database_was_down():
    back = generation(999, 400, {"Z": (0, 1, 2, 3)})
    after = [event for number in range(4) for event in commits(number, 405, 500)]
    pieces = STOPPED, classic_lives(range(106, 398, 6)), [back], after
    assert reasons(fold(*pieces, until_s=404), 404) == {"not_committing"}
    for at_s in range(406, 500, 7):
        assert reasons(fold(*pieces, until_s=at_s), at_s) == set()


def test_a_group_that_commits_rarely_is_given_three_times_as_long():
    slow = [event for number in range(4) for event in commits(number, 0, 1_200, every_s=300)]
    pieces = slow, classic_lives(range(1_206, 2_190, 40))
    for at_s in range(1_400, 2_100, 41):
        assert reasons(fold(*pieces, until_s=at_s), at_s) == set(), at_s
    assert reasons(fold(*pieces, until_s=2_101), 2_101) == {"not_committing"}


def test_a_record_stays_suspected_when_the_others_have_stopped_later():
    """Other partitions moved while the first owners left, and never again: the record was passed by nobody."""
    others = [event for number in (1, 2, 3) for event in commits(number, 0, 200)]
    quick = [(0, {"A": (0,), "C": (1, 2, 3)})]
    quick += [(110 + 3 * index, {f"B{index}": (0,), "C": (1, 2, 3)}) for index in range(150)]
    for at_s in (171, 205, 230, 300, 500):
        assert told(fold(others, UP_TO_100, generations(*quick), until_s=at_s), at_s)[STUCK] == [0], at_s


def test_that_holds_when_later_owners_had_all_partitions():
    """So it does on real servers: sometimes both are there, and the second commits before the first has died."""
    others = [event for number in (1, 2, 3) for event in [*commits(number, 0, 100), commit(number, 205, 205)]]
    starts = [at_s for at_s in range(106, 600, 6) if at_s != 202]
    lives = [*[(at_s, {f"B{at_s}": (0, 1, 2, 3)}) for at_s in starts], *[(at_s + 1, {}) for at_s in starts]]
    shared = [(202, {"X": (0, 1), "Y": (2, 3)}), (206, {"Y": (2, 3)}), (207, {})]
    pieces = others, UP_TO_100, generations((0, {"A": (0, 1, 2, 3)}), (103, {}), *sorted([*lives, *shared]))
    assert STUCK not in told(fold(*pieces, until_s=205), 205)
    for at_s in (207, 230, 270, 350, 500, 590):
        assert told(fold(*pieces, until_s=at_s), at_s)[STUCK] == [0], at_s


def test_that_holds_for_records_that_came_after_the_first_owners_had_left():
    others = [event for number in (1, 2, 3) for event in commits(number, 0, 400)]
    quick = [(0, {"A": (0,), "C": (1, 2, 3)})]
    quick += [(110 + 3 * index, {f"B{index}": (0,), "C": (1, 2, 3)}) for index in range(170)]
    for at_s in (280, 380, 600):
        rows = list(topics(at_s).topics["t"].partitions)
        rows[0] = partition(*[(second, second if second >= 300 else min(second, 100)) for second in range(0, at_s, 10)])
        known = catalog(TopicState(cluster="c", topic="t", pass_ms=0, topic_id=TOPIC_ID, partitions=tuple(rows)))
        found = told(fold(others, UP_TO_100, generations(*quick), until_s=at_s), at_s, known)
        assert found.get(STUCK) == ([0] if at_s > 300 else None), at_s


def each_dies(from_s: int, until_s: int, every_s: int):
    """Four members with a partition each, of which one is replaced each time."""
    names = ["A0", "A1", "A2", "A3"]
    lives = [(0, {name: (number,) for number, name in enumerate(names)})]
    for turn, at_s in enumerate(range(from_s, until_s, every_s)):
        names[turn % 4] = f"B{turn}"
        lives.append((at_s, {name: (number,) for number, name in enumerate(names)}))
    return generations(*lives)


def test_members_that_all_die_are_told_when_no_deployment_takes_so_long():
    pieces = STOPPED, each_dies(103, 700, 5)
    for at_s in range(150, 400, 11):
        assert reasons(fold(*pieces, until_s=at_s), at_s) == set(), at_s
    for at_s in range(401, 600, 14):
        assert reasons(fold(*pieces, until_s=at_s), at_s) == {"not_committing"}, at_s


def test_rolling_deployments_twice_in_a_row_with_lag():
    """They commit what they read when they can, which is 50 s behind; and not at all when each has four seconds."""
    behind = [commit(number, at_s - 50, at_s) for number in range(4) for at_s in range(60, 600, 5)]
    for until_s, every_s in ((182, 10), (132, 4), (262, 20)):
        idle = [each for each in behind if not 102 <= each.committed_ms // S < (until_s if every_s < 5 else 0)]
        state = fold(idle, each_dies(102, until_s, every_s), until_s=until_s)
        for at_s in range(110, until_s + 100, 7):
            state = fold(idle, each_dies(102, until_s, every_s), until_s=at_s)
            assert reasons(state, at_s) == set(), (every_s, at_s)


def test_a_group_that_is_scaled_up_and_down_while_it_reads():
    """Each member that goes has begun at the offset that is committed; each has committed nothing."""
    behind = [commit(number, at_s - 50, at_s) for number in range(4) for at_s in range(60, 900, 15)]
    lives = [(0, {"A": (0, 1, 2, 3)})]
    for turn in range(20):
        lives.append((104 + 30 * turn, {"A": (0, 1), f"B{turn}": (2, 3)}))
        lives.append((109 + 30 * turn, {"A": (0, 1, 2, 3)}))
    for at_s in range(110, 700, 9):
        assert reasons(fold(behind, generations(*lives), until_s=at_s), at_s) == set()


@pytest.mark.parametrize("lives", [classic_lives, modern_lives])
def test_batch_jobs_that_commit_at_their_end_only(lives):
    """Each five minutes, for a minute. Between them the group has no members, and what came meanwhile waits."""
    key = topic_key_of(TOPIC_ID) if lives is modern_lives else None
    ends = [each for number in range(4) for each in commits(number, 0, 6_000, every_s=300, topic_key=key)]
    runs = []
    for number, at_s in enumerate(range(240, 6_000, 300), 1):
        runs += (
            [*modern(f"B{number}", at_s, number, 0, 1, 2, 3), *removed(f"B{number}", at_s + 61)]
            if lives is modern_lives
            else [generation(2 * number, at_s, {f"B{number}": (0, 1, 2, 3)}), generation(2 * number + 1, at_s + 61, {})]
        )
    for at_s in range(2_100, 5_900, 97):
        state = fold(ends, runs, until_s=at_s)
        assert "not_committing" not in reasons(state, at_s)
        assert state.departures == ()


def test_a_partition_that_is_paused_while_the_owner_of_all_is_deployed():
    """It commits all that it has when it ends, so the offset of the paused one is repeated."""
    pausing = [(at_s, {f"B{at_s}": (0, 1, 2, 3)}) for at_s in range(111, 700, 20)]
    others = [event for number in (1, 2, 3) for event in commits(number, 0, 3_000)]
    repeated = [commit(0, 100, at_s - 1) for at_s, _ in pausing]
    for at_s in range(200, 700, 13):
        state = fold(others, UP_TO_100, repeated, generations((0, {"A": (0, 1, 2, 3)}), *pausing), until_s=at_s)
        assert reasons(state, at_s) == set()


# --- what only looks like it ------------------------------------------------------------------------------------------


def test_a_rolling_deployment_whose_members_leave_before_they_could_commit():
    """Each holds the partition for 14 s, and a usual commit takes up to 15 s."""
    hot = [(0, {"A": (0,), "C": (1, 2, 3)})]
    hot += [(110 + 14 * index, {f"B{index}": (0,), "C": (1, 2, 3)}) for index in range(5)]
    for at_s in range(160, 240, 3):
        assert STUCK not in told(fold(GOING_ON, UP_TO_100, generations(*hot), until_s=at_s), at_s)


def test_a_rolling_deployment_in_which_others_leave_as_well():
    """With the owner, two others are replaced each time, and the fourth goes on."""
    hot = [(0, {"A": (0,), "C0": (1,), "D0": (2,), "E": (3,)})]
    hot += [(110 + 40 * n, {f"B{n}": (0,), f"C{n}": (1,), f"D{n}": (2,), "E": (3,)}) for n in range(1, 8)]
    for at_s in range(160, 400, 7):
        assert STUCK not in told(fold(GOING_ON, UP_TO_100, generations(*hot), until_s=at_s), at_s)


def test_a_slow_partition_whose_owners_are_restarted_between_two_commits():
    """It is committed each 60 s, so an owner that leaves after 100 s shows nothing."""
    slow = commits(0, 0, 120, every_s=60)
    hot = [(0, {"A": (0,), "C": (1, 2, 3)})]
    hot += [(130 + 100 * index, {f"B{index}": (0,), "C": (1, 2, 3)}) for index in range(4)]
    for at_s in range(240, 430, 10):
        assert STUCK not in told(fold(GOING_ON, slow, generations(*hot), until_s=at_s), at_s)


def test_a_group_that_nobody_commits_is_no_stuck_record():
    """A database may be down: nothing tells that a record is to blame."""
    all_stand = [event for number in range(4) for event in commits(number, 0, 100)]
    for at_s in range(150, 340, 10):
        found = told(fold(all_stand, DYING, until_s=at_s), at_s)
        assert STUCK not in found


def test_owners_that_leave_where_nothing_else_moves_are_told_beside_the_silence():
    alone = [generation(number, at_s, {f"A{at_s}": (0,)}) for number, at_s in enumerate((0, 145, 195, 245, 295), 1)]
    topic = topics(300)
    before = fold(UP_TO_100, alone, until_s=294)
    assert SILENT not in told(before, 294)
    state = fold(UP_TO_100, alone, until_s=296)
    assert told(state, 300, topic) == {SILENT: [0]}
    assert text(state, 300, "not_committing", topic) == (
        "1 partition of t (0) has lag. Its owner, A295 at /h, has committed no offset there for at least 60 s. "
        "At least 3 owners in a row began there at offset 100 and left."
    )


def test_owners_of_a_partition_without_records():
    quiet = topics(300, still=[0], since_s=100)
    assert told(fold(GOING_ON, UP_TO_100, DYING, until_s=300), 300, quiet) == {}


def test_records_that_came_after_the_owners_had_left():
    late = topics(300, still=[0], since_s=100)
    rows = list(late.topics["t"].partitions)
    rows[0] = partition((0, 0), (100, 100), (280, 100), (290, 120), (300, 130))
    state = fold(GOING_ON, UP_TO_100, DYING, until_s=360)
    known = catalog(TopicState(cluster="c", topic="t", pass_ms=0, topic_id=TOPIC_ID, partitions=tuple(rows)))
    assert STUCK not in told(state, 360, known)


def test_an_owner_that_stood_while_nothing_came_counts_from_the_first_record_on():
    """That is only ten seconds of the owner before the last."""
    lives = [*DYING, generation(6, 345, {"G": (0,), "C": (1, 2, 3)}), generation(7, 395, {"H": (0,), "C": (1, 2, 3)})]
    rows = list(topics(400).topics["t"].partitions)
    for at_s, is_told in ((360, False), (400, True)):
        came = [(second, second) for second in range(290, at_s + 1, 10)]
        rows[0] = partition((0, 0), (100, 100), (270, 100), (280, 100), *came)
        state = fold(GOING_ON, UP_TO_100, lives, until_s=at_s)
        known = catalog(TopicState(cluster="c", topic="t", pass_ms=0, topic_id=TOPIC_ID, partitions=tuple(rows)))
        assert (STUCK in told(state, at_s, known)) is is_told


def test_transactions_that_are_aborted_are_told_as_that():
    """The owners die as well; but the log shows what they have tried."""
    tried = [commit(0, offset, at_s) for at_s, offset in zip(range(105, 300, 5), range(101, 300), strict=False)]
    listed = [OffsetsListed("c", "g", at_s * S, (ListedOffset("t", 0, 100),)) for at_s in range(110, 300, 10)]
    found = told(fold(GOING_ON, UP_TO_100, DYING, tried, listed, until_s=296), 296)
    assert STUCK not in found
    assert ("transactions", "uncommitted") in found


def test_owners_that_an_open_transaction_keeps_from_starting():
    """Consumers that wait for stable offsets read nothing, and may be restarted for that."""
    held = PendingOffsets(
        partitions=(TopicPartitions("t", (0,)),),
        log_partition=0,
        start_offset=7,
        producer_id=1,
        producer_epoch=0,
        sent_ms=101 * S,
    )
    state = fold(GOING_ON, UP_TO_100, DYING, until_s=300)
    waiting = replace(state, pending_offsets=(held,), pending_listed_ms=299 * S)
    assert told(state, 300)[STUCK] == [0]
    assert told(waiting, 300) == {("transactions", "pending_offsets"): [0]}


def test_a_static_owner_that_came_back_may_be_kept_from_starting():
    """It is in the generation of before the transaction, and began in it."""
    lives = [generation(1, at_s, {f"x#{at_s}": (0,), "C": (1, 2, 3)}) for at_s in (0, 120)]
    held = PendingOffsets((TopicPartitions("t", (0,)),), 0, 7, 1, 0, sent_ms=101 * S)
    state = replace(fold(GOING_ON, UP_TO_100, lives, until_s=300), pending_offsets=(held,), pending_listed_ms=299 * S)
    assert told(state, 300) == {("transactions", "pending_offsets"): [0]}


def test_tasks_of_kafka_streams_may_commit_all_at_once():
    tasks = [
        generation(
            each.generation, each.stored_ms // S, {m.member_id: m.assigned[0].partitions for m in each.members}, STREAM
        )
        for each in DYING
    ]
    assert STUCK not in told(fold(GOING_ON, UP_TO_100, tasks, until_s=300), 300)


def test_tasks_of_a_sink_may_commit_all_at_once():
    tasks = [
        generation(
            each.generation,
            each.stored_ms // S,
            {m.member_id: m.assigned[0].partitions for m in each.members},
            client_id="connector-consumer-files-0",
        )
        for each in DYING
    ]
    assert STUCK not in told(fold(GOING_ON, UP_TO_100, tasks, until_s=300), 300)


@pytest.mark.parametrize("offset", [50, 150, 100])
def test_a_reset_by_an_administrator_begins_anew(offset):
    """Between the second and the third owner; also one to the same offset, on the way to which it moved."""
    reset = [commit(0, 99, 230), commit(0, offset, 231)]
    found = told(fold(GOING_ON, UP_TO_100, DYING, reset, until_s=290), 290)
    assert STUCK not in found


@pytest.mark.parametrize("held_s", [30, 200, 3_600])
def test_a_partition_that_its_owners_have_paused(held_s):
    """They commit their other partition until they are restarted."""
    pausing = [(0, {"A": (0, 1), "C": (2, 3)})]
    pausing += [(110 + held_s * index, {f"B{index}": (0, 1), "C": (2, 3)}) for index in range(6)]
    end_s = min(110 + 5 * held_s, 3_900)
    for at_s in (end_s // 2, end_s - 5, end_s):
        assert STUCK not in told(fold(GOING_ON, UP_TO_100, generations(*pausing), until_s=at_s), at_s)


def test_owners_that_held_a_paused_partition_for_long_before_they_were_restarted():
    """They have nothing else. A consumer that hangs, or has died, is removed sooner."""
    lives = [(0, {"A": (0,), "C": (1, 2, 3)})]
    lives += [(110 + 700 * index, {f"B{index}": (0,), "C": (1, 2, 3)}) for index in range(5)]
    for at_s in range(900, 3_000, 150):
        state = fold(GOING_ON, UP_TO_100, generations(*lives), until_s=at_s)
        assert state.departures == ()
        assert STUCK not in told(state, at_s)


def test_it_stays_while_the_group_is_stopped_to_skip_the_record():
    stopped = [*DYING[:4], generation(9, 300, {})]
    state = fold(GOING_ON, UP_TO_100, stopped, until_s=330)
    assert told(state, 330)[STUCK] == [0]
    behind = fold(GOING_ON, UP_TO_100, stopped, [commit(0, 105, 331)], until_s=331)
    assert STUCK not in told(behind, 331)


def test_a_living_owner_that_works_elsewhere_refutes_it():
    """It has had the time to hang, and commits another partition: it does not stop at the record."""
    shared = [*DYING[:4], generation(9, 295, {"F": (0, 1), "C": (2, 3)})]
    until_s = 295 + 2 * 300 + 45
    assert STUCK in told(fold(GOING_ON, UP_TO_100, shared, until_s=until_s), until_s)
    assert STUCK not in told(fold(GOING_ON, UP_TO_100, shared, until_s=until_s + 10), until_s + 10)


def test_a_static_owner_that_came_back_has_not_had_the_time_to_hang():
    """Its generation is old; each of its lives commits another partition once, and is over then."""
    back = (0, 1_025, 1_055, 1_085)
    lives = [generation(1, at_s, {f"x#{at_s}": (0, 1), "C": (2, 3)}) for at_s in back]
    read = [commits(0, 0, 1_000), commits(1, 0, 1_000), *(commits(1, at_s + 5, at_s + 5) for at_s in back[1:])]
    others = [*commits(2, 0, 1_200), *commits(3, 0, 1_200)]
    assert told(fold(others, *read, lives, until_s=1_091), 1_091)[STUCK] == [0]


def test_a_group_of_which_nothing_is_known_yet_is_not_judged():
    """Nobody has committed three times."""
    few = [*commits(0, 95, 100), *commits(1, 95, 100), *commits(2, 296, 296)]
    assert STUCK not in told(fold(few, DYING, until_s=300), 300)


def test_a_healthy_group_keeps_nothing_of_those_who_leave():
    moving = [event for number in range(4) for event in commits(number, 0, 400)]
    assert fold(moving, DYING, until_s=400).departures == ()


def test_a_topic_whose_name_is_a_command():
    name = "a'; reboot #"
    events = [*GOING_ON, *UP_TO_100, *DYING]
    renamed = []
    for event in events:
        if isinstance(event, OffsetCommitted):
            renamed.append(OffsetCommitted("g", name, event.partition, event.offset, event.committed_ms))
        else:
            own = {each.member_id: each.assigned[0].partitions for each in event.members}
            members = tuple(member(m, [name], {name: numbers}, session_timeout_ms=45 * S) for m, numbers in own.items())
            renamed.append(MembershipStored("g", event.generation, "consumer", "range", None, event.stored_ms, members))
    rows = topics(260).topics["t"].partitions
    known = catalog(TopicState(cluster="c", topic=name, pass_ms=0, topic_id=TOPIC_ID, partitions=rows))
    assert "--topic 'a'\"'\"'; reboot #' --partition 0 " in text(fold(renamed, until_s=260), 260, "stuck_record", known)

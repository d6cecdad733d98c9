"""Members that are listed and do nothing. Times are in seconds; it is 1000 s, and the patience is 60 s."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.evaluate import facts_of
from monitor.detection.ownership.assignment_view import view_assignment
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.rules.stalled_commits import silences, silent_partitions
from monitor.model import (
    CommitPoint,
    FindingKind,
    GroupKind,
    IdPartitions,
    Member,
    Outage,
    Phase,
    Rebalance,
    RebalanceInProgress,
    Reconciliation,
    TopicState,
)
from monitor.model.commit_history import extend
from tests.detection.lag.test_lag import partition
from tests.support.builders import catalog, commit, group, member, places

NOW_MS = 1_000_000


def busy(number=0):
    """Records come all the time; offset 10 was passed at 700 s."""
    return partition((0, 10), (680, 10), (700, 11), (900, 15), (990, 20), number=number)


def idle(number=0):
    return partition((0, 10), (990, 10), number=number)


def topics_of(*partitions):
    return catalog(TopicState(cluster="c", topic="t", pass_ms=0, topic_id="T", partitions=partitions))


def committed(number, offset, *at_s):
    """Commits of one offset at these times."""
    history = extend(b"", [CommitPoint(second * 1000, offset) for second in at_s])
    return replace(commit("t", number, offset, at_s[-1] * 1000), history=history)


def pair(*offsets, first=(0, 1), second=(2, 3), generation_s=100, session_s=45, **more):
    """C0 owns ``first``, C1 ``second``."""
    session = {"session_timeout_ms": session_s * 1000, **more}
    return group(
        member("C0", ["t"], {"t": first}, client_id="app-0", host="/10.0.0.1", **session),
        member("C1", ["t"], {"t": second}, client_id="app-1", host="/10.0.0.2"),
        offsets=offsets,
        generation_ms=generation_s * 1000,
    )


def found(state, topics, **settings):
    findings = evaluate(state, topics, NOW_MS, DetectionSettings(**settings)).findings
    kinds = {FindingKind.DEAD_MEMBER, FindingKind.LAG}
    return [(f.reason, f.since_ms // 1000, f.members, f.partitions) for f in findings if f.kind in kinds]


ALL_BUSY = topics_of(busy(0), busy(1), busy(2), busy(3))
GOING_ON = (committed(2, 20, 985, 990, 995), committed(3, 20, 985, 990, 995))
QUESTIONS = ("waits", "silent", "settled", "unusual", "outlasts_session", "others_go_on")


def answers(state, topics, member_id="C0"):
    """The questions about a member that are answered with no."""
    facts = facts_of(state, Topics(topics), view_assignment(state, topics), NOW_MS, DetectionSettings())
    (own,) = [each for each in silences(facts, silent_partitions(facts)) if each.member_id == member_id]
    return [name for name in QUESTIONS if not getattr(own, name)]


@pytest.mark.parametrize(
    ("state", "topics", "denied", "dead_since_s"),
    [
        pytest.param(
            pair(committed(0, 10, 500), committed(1, 10, 500), *GOING_ON),
            ALL_BUSY,
            [],
            700,
            id="dead: nothing committed since 500 s, and the first record since then came at 700 s",
        ),
        pytest.param(
            pair(committed(0, 10, 500), committed(1, 15, 950), *GOING_ON, session_s=30),
            ALL_BUSY,
            ["silent"],
            None,
            id="it lives: one of its partitions was committed 50 s ago",
        ),
        pytest.param(
            pair(committed(0, 20, 500), committed(1, 10, 500), *GOING_ON),
            topics_of(busy(0), idle(1), busy(2), busy(3)),
            ["waits"],
            None,
            id="nothing waits for it",
        ),
        pytest.param(
            pair(committed(0, 10, 500), committed(1, 10, 500), *GOING_ON, generation_s=941),
            ALL_BUSY,
            ["settled", "outlasts_session"],
            None,
            id="it has got its partitions 59 s ago",
        ),
        pytest.param(
            pair(committed(0, 10, 200, 300, 400, 800), committed(1, 10, 800), *GOING_ON),
            ALL_BUSY,
            ["unusual"],
            None,
            id="it commits every 100 s by design, and two commits stay away",
        ),
        pytest.param(
            pair(committed(0, 10, 200, 300, 400, 700), committed(1, 10, 700), *GOING_ON),
            ALL_BUSY,
            [],
            700,
            id="it commits every 100 s by design, and three stay away",
        ),
        pytest.param(
            pair(committed(0, 10, 500), committed(1, 10, 500), committed(2, 20, 990), committed(3, 20, 990)),
            ALL_BUSY,
            ["unusual"],
            None,
            id="nobody has committed often enough to know how often that is usual",
        ),
        pytest.param(
            pair(committed(0, 10, 500), committed(1, 10, 500), *GOING_ON, session_s=500, instance_id="i"),
            ALL_BUSY,
            ["outlasts_session"],
            None,
            id="a static member that restarts within its session",
        ),
        pytest.param(
            pair(committed(0, 10, 500), committed(1, 10, 500), *GOING_ON, session_s=225),
            ALL_BUSY,
            ["outlasts_session"],
            None,
            id="300 s ago it may have lived: a session and a third of it, the others may not know yet",
        ),
        pytest.param(
            pair(committed(0, 10, 500), committed(1, 10, 500), *GOING_ON, session_s=224),
            ALL_BUSY,
            [],
            700,
            id="300 s ago it may have lived: a session and more than a third of it",
        ),
        pytest.param(
            pair(committed(0, 10, 500), committed(1, 10, 500), *GOING_ON, rebalance_timeout_ms=300_000),
            ALL_BUSY,
            [],
            700,
            id="of its rhythm nothing is known, but between two polls it may take 300 s at most",
        ),
        pytest.param(
            pair(committed(0, 10, 500), committed(1, 10, 500), *GOING_ON, rebalance_timeout_ms=300_001),
            ALL_BUSY,
            ["unusual"],
            None,
            id="it may take longer",
        ),
        pytest.param(
            pair(committed(0, 10, 500), committed(1, 10, 500), *GOING_ON, rebalance_timeout_ms=3_600_001),
            ALL_BUSY,
            [],
            700,
            id="it may take as long as it likes: the group's rhythm counts",
        ),
        pytest.param(
            pair(committed(0, 10, 490, 495, 500), committed(1, 10, 500), *GOING_ON, rebalance_timeout_ms=900_000),
            ALL_BUSY,
            [],
            700,
            id="it may take longer, but its rhythm is known",
        ),
        pytest.param(
            pair(
                committed(0, 10, 500), committed(1, 10, 500), *GOING_ON, generation_s=750, rebalance_timeout_ms=251_000
            ),
            ALL_BUSY,
            ["unusual"],
            None,
            id="it may take 251 s, and has had its partitions for 250 s",
        ),
        pytest.param(
            pair(committed(0, 10, 440, 470, 500), committed(1, 20, 490, 495, 500), *GOING_ON),
            topics_of(busy(0), idle(1), busy(2), busy(3)),
            [],
            700,
            id="the rhythm of the partition where records wait counts",
        ),
        pytest.param(
            pair(committed(0, 10, 100, 300, 500), committed(1, 20, 490, 495, 500), *GOING_ON),
            topics_of(busy(0), idle(1), busy(2), busy(3)),
            ["unusual"],
            None,
            id="there it commits every 200 s, whatever it does elsewhere",
        ),
        pytest.param(
            pair(committed(0, 10, 500), committed(1, 20, 300, 400, 500), *GOING_ON),
            topics_of(busy(0), idle(1), busy(2), busy(3)),
            [],
            700,
            id="of that one nothing is known: 300 s are three times what is usual in its other partition",
        ),
        pytest.param(
            pair(committed(0, 10, 500), committed(1, 20, 298, 399, 500), *GOING_ON),
            topics_of(busy(0), idle(1), busy(2), busy(3)),
            ["unusual"],
            None,
            id="less than three times that",
        ),
        pytest.param(
            pair(committed(0, 10, 100, 300, 500), committed(1, 10, 490, 495, 500), *GOING_ON),
            ALL_BUSY,
            [],
            700,
            id="of two where records wait, the one with the least patience counts",
        ),
        pytest.param(
            pair(
                *(committed(0, 10, 100, 300, 500), committed(1, 10, 500), *GOING_ON, committed(4, 20, 490, 495, 500)),
                first=(0, 1, 4),
            ),
            topics_of(busy(0), busy(1), busy(2), busy(3), idle(4)),
            ["unusual"],
            None,
            id="of two where records wait, the one of which something is known",
        ),
        pytest.param(
            pair(committed(0, 10, 500), committed(1, 10, 500), committed(2, 20, 490, 495, 500), committed(3, 20, 500)),
            ALL_BUSY,
            ["others_go_on"],
            None,
            id="nobody commits: it is the group",
        ),
        pytest.param(
            replace(
                pair(committed(0, 10, 500), committed(1, 10, 500), *GOING_ON, session_s=30),
                unconfirmed=(committed(1, 18, 950),),
            ),
            ALL_BUSY,
            ["silent"],
            None,
            id="a commit in a transaction that is open",
        ),
    ],
)
def test_a_member_is_dead_if_every_question_says_so(state, topics, denied, dead_since_s):
    assert answers(state, topics) == denied
    dead = [(f[1], f[2]) for f in found(state, topics) if f[0] == "silent"]
    assert dead == ([] if dead_since_s is None else [(dead_since_s, ("C0",))])


ONE_IS_SILENT = pair(committed(0, 10, 500), committed(1, 10, 500), *GOING_ON)
NOBODY_COMMITS = pair(*(committed(number, 10, 500) for number in range(4)))


def seen_rebalancing(state, first_s, last_s, *, over=False):
    return replace(state, sampled=RebalanceInProgress(first_s * 1000, last_s * 1000, 1_000, over=over))


@pytest.mark.parametrize(
    ("first_s", "last_s", "over", "since_s"),
    [
        pytest.param(600, 995, False, None, id="it goes on"),
        pytest.param(600, 970, False, None, id="it was seen 30 s ago, so it goes on"),
        pytest.param(600, 941, True, None, id="it ended 59 s ago"),
        pytest.param(600, 930, True, 930, id="it ended 70 s ago: the silence counts from there"),
        pytest.param(600, 930, False, 930, id="nobody has seen it for 70 s"),
        pytest.param(600, 650, True, 700, id="the records came later"),
        pytest.param(750, 995, False, None, id="it began 50 s after the silence"),
        pytest.param(760, 995, False, 700, id="it began when the silence was one"),
    ],
)
@pytest.mark.parametrize("state", [ONE_IS_SILENT, NOBODY_COMMITS], ids=["a member", "all partitions"])
def test_nobody_is_accused_of_silence_in_a_rebalance_and_it_counts_from_the_end_of_that(
    state, first_s, last_s, over, since_s
):
    told = found(seen_rebalancing(state, first_s, last_s, over=over), ALL_BUSY)
    assert [since for _, since, *_ in told] == ([] if since_s is None else [since_s])
    assert [since for _, since, *_ in found(state, ALL_BUSY)] == [700]


@pytest.mark.parametrize(
    ("outages", "partitions", "since_s"),
    [
        pytest.param({1: Outage(750_000)}, 2, None, id="its coordinator is away"),
        pytest.param({1: Outage(750_000, 945_000)}, 2, None, id="its coordinator came back 55 s ago"),
        pytest.param({1: Outage(750_000, 930_000)}, 2, 930, id="70 s ago: the silence counts from there"),
        pytest.param({1: Outage(760_000)}, 2, 700, id="it was silent for 60 s when the coordinator went away"),
        pytest.param({0: Outage(750_000)}, 2, 700, id="the coordinator of others is away"),
        pytest.param({1: Outage(750_000)}, 0, 700, id="it is not known by how many partitions groups are placed"),
    ],
)
@pytest.mark.parametrize("state", [ONE_IS_SILENT, NOBODY_COMMITS], ids=["a member", "all partitions"])
def test_nobody_is_accused_of_silence_while_the_coordinator_cannot_be_reached(state, outages, partitions, since_s):
    """The group "g" is in partition 1 of 2: its hash is 103."""
    topics = replace(ALL_BUSY, outages=outages, log_partitions=partitions)
    told = found(replace(state, group="g"), topics)
    assert [since for _, since, *_ in told] == ([] if since_s is None else [since_s])


def test_a_group_that_rebalances_again_and_again_while_records_wait_has_no_excuse():
    ends_s = (710, 760, 800, 850, 900, 950)
    rebalances = tuple(Rebalance(generation=each, started_ms=each * 1000, ended_ms=each * 1000) for each in ends_s)
    storm = replace(NOBODY_COMMITS, history=rebalances, generation_ms=950_000)
    assert [each[:2] for each in found(seen_rebalancing(storm, 990, 999), ALL_BUSY)] == [("not_committing", 700)]


@pytest.mark.parametrize(
    ("session_s", "more", "told"),
    [
        pytest.param(224, {}, "silent", id="its session is over, by a third of it"),
        pytest.param(225, {}, "unnoticed", id="it is not: it may be gone"),
        pytest.param(1800, {}, "unnoticed", id="for the longest session that brokers allow"),
        pytest.param(1800, {"instance_id": "i"}, "unnoticed", id="a static member may be on its way back"),
        pytest.param(1800, {"rebalance_timeout_ms": 300_001}, None, id="it may still work at what it has polled"),
    ],
)
def test_a_member_whose_session_is_not_over_is_told_with_that(session_s, more, told):
    offsets = committed(0, 10, 500), committed(1, 10, 500), *GOING_ON
    state = pair(*offsets, session_s=session_s, **more)
    assert found(state, ALL_BUSY) == ([] if told is None else [(told, 700, ("C0",), places("t", 0, 1))])


@pytest.mark.parametrize(("session_s", "told"), [(45, ["silent"]), (46, []), (89, []), (90, ["unnoticed"])])
def test_a_session_that_is_nearly_over_is_awaited(session_s, told):
    """It has been silent for 61 s."""
    offsets = committed(0, 12, 939), committed(1, 12, 939), *GOING_ON
    assert [reason for reason, *_ in found(pair(*offsets, session_s=session_s), ALL_BUSY)] == told


def test_those_that_hang_and_those_that_may_be_gone_are_two_findings():
    """Three members with a partition each; the third goes on."""
    members = [
        member("C0", ["t"], {"t": [0]}, session_timeout_ms=45_000),
        member("C1", ["t"], {"t": [1]}, session_timeout_ms=600_000, client_id="app", host="/10.0.0.2"),
        member("C2", ["t"], {"t": [2]}),
    ]
    offsets = [committed(0, 10, 500), committed(1, 11, 500), committed(2, 20, 985, 990, 995)]
    state = group(*members, offsets=offsets, generation_ms=100_000)
    assert found(state, ALL_BUSY) == [
        ("silent", 700, ("C0",), places("t", 0)),
        ("unnoticed", 900, ("C1",), places("t", 1)),
    ]
    (finding,) = [f for f in evaluate(state, ALL_BUSY, NOW_MS, DetectionSettings()).findings if f.reason == "unnoticed"]
    assert finding.sentence == (
        "app at /10.0.0.2 owns 1 partition of t (1) and has not committed for a while, although there is lag. Other "
        "members are committing. Its session timeout is 10 min: if it has died, the coordinator may not have detected "
        "it yet. Until then, no other member takes over."
    )


@pytest.mark.parametrize(
    ("at_s", "told"),
    [
        pytest.param((400, 500, 600, 700), [("not_committing", 700)], id="every 100 s: three stay away"),
        pytest.param((397, 498, 599, 700), [], id="every 101 s: not yet"),
        pytest.param((690, 695, 700), [("not_committing", 700)], id="every 5 s"),
        pytest.param((100, 300, 500, 700), [], id="every 200 s"),
        pytest.param((500, 700), [("not_committing", 700)], id="of whom nothing is known"),
    ],
)
def test_partitions_are_told_when_the_silence_is_longer_than_what_is_usual_there(at_s, told):
    """One member, which commits although nothing comes; the first record that it leaves came at 700 s."""
    state = group(member("C0", ["t"], {"t": [0]}), offsets=[committed(0, 10, *at_s)], generation_ms=0)
    assert [(reason, since) for reason, since, *_ in found(state, ALL_BUSY)] == told
    alone = group(phase=Phase.OFFSETS_ONLY, protocol_type="", offsets=[committed(0, 10, *at_s)], generation_ms=0)
    assert [(reason, since) for reason, since, *_ in found(alone, ALL_BUSY)] == told, "a simple consumer"


def test_a_habit_of_one_partition_hides_no_other():
    """Both are committed last at 700 s: the first every 200 s, the second every 5 s."""
    offsets = [committed(0, 10, 100, 300, 500, 700), committed(1, 10, 690, 695, 700)]
    state = group(member("C0", ["t"], {"t": [0, 1]}), offsets=offsets, generation_ms=0)
    assert found(state, ALL_BUSY) == [("not_committing", 700, (), places("t", 1))]


def test_the_habit_of_the_owner_before_counts_for_who_took_a_partition_over():
    """A record that hangs one member after the other is told each time, as soon as its owner has had the time."""
    state = group(
        member("C0", ["t"], {"t": [0]}, rebalance_timeout_ms=300_000),
        offsets=[committed(0, 10, 690, 695, 700)],
        generation_ms=940_000,
    )
    assert found(state, ALL_BUSY) == [("not_committing", 700, (), places("t", 0))]


def test_its_partitions_are_told_once_and_those_of_a_living_member_by_themselves():
    """C0 is dead; C1 commits partition 2 and leaves out 3. C0's idle one is told with its other."""
    offsets = (committed(0, 10, 500), committed(1, 10, 500), committed(2, 20, 985, 990, 995), committed(3, 10, 600))
    topics = topics_of(busy(0), idle(1), busy(2), busy(3))
    assert found(pair(*offsets), topics) == [
        ("silent", 700, ("C0",), places("t", 0, 1)),
        ("not_committing", 700, (), places("t", 3)),
    ]


def test_if_nobody_commits_it_is_the_group():
    offsets = [committed(number, 10, 500) for number in range(4)]
    assert found(pair(*offsets), ALL_BUSY) == [("not_committing", 700, (), places("t", 0, 1, 2, 3))]


@pytest.mark.parametrize(("generation_s", "told"), [(940, ["not_committing"]), (941, [])])
def test_who_takes_partitions_over_has_as_long_as_anybody_to_commit(generation_s, told):
    offsets = [committed(number, 10, 500) for number in range(4)]
    state = pair(*offsets, generation_s=generation_s)
    assert [reason for reason, *_ in found(state, ALL_BUSY)] == told


@pytest.mark.parametrize(
    ("ends_s", "returned_s", "told"),
    [
        pytest.param((750, 800, 850, 900, 950), None, True, id="five since records wait"),
        pytest.param((650, 800, 850, 900, 950), None, False, id="four"),
        pytest.param((710, 720, 730, 740, 950), 705, False, id="its members came back less than five minutes ago"),
        pytest.param((705, 720, 730, 740, 950), 699, True, id="longer ago than that"),
    ],
)
def test_owners_that_are_always_new_are_given_no_time(ends_s, returned_s, told):
    """A group that rebalances every 50 s has nobody who has had a partition for a minute."""
    ended = [Rebalance(generation=number, started_ms=at * 1000, ended_ms=at * 1000) for number, at in enumerate(ends_s)]
    first = [] if returned_s is None else [replace(ended[0], ended_ms=returned_s * 1000, is_first=True)]
    offsets = [committed(number, 10, 500) for number in range(4)]
    state = replace(pair(*offsets, generation_s=950), history=(*first, *ended))
    assert found(state, ALL_BUSY) == ([("not_committing", 700, (), places("t", 0, 1, 2, 3))] if told else [])


@pytest.mark.parametrize(("silence_s", "told"), [(899, False), (900, True)])
def test_a_quiet_topic_of_its_owner_does_not_excuse_a_partition_for_hours(silence_s, told):
    """Nobody knows whether records waited in those hours: three times what a batch may take is enough."""
    quiet = committed(0, 10, *range(-200_000, 0, 20_000))
    new = committed(1, 10, 995 - silence_s, 1000 - silence_s)
    state = pair(quiet, new, first=(0, 1), second=(), generation_s=-1000)
    topics = topics_of(idle(0), partition((-300, 9), (0, 10), (20, 11), (60, 12), (990, 20), number=1))
    since_ms = silent_partitions(
        facts_of(state, Topics(topics), view_assignment(state, topics), NOW_MS, DetectionSettings())
    )
    assert list(since_ms) == list(places("t", 1)), "what waits is seen; whether it is told is the question"
    assert [reason for reason, *_ in found(state, topics)] == (["not_committing"] if told else [])


def test_only_the_members_of_a_kip_848_group_that_took_something_over_have_time():
    """C0 has had 0 and 1 since 100 s; C1 has had 2 and 3 for 59 s."""
    standings = [
        Reconciliation(epoch=3, assigned=(IdPartitions("T", own),), target=(IdPartitions("T", own),), since_ms=since_ms)
        for own, since_ms in (((0, 1), 100_000), ((2, 3), 941_000))
    ]
    members = [
        Member(member_id=f"C{number}", topics=("t",), reconciliation=standing)
        for number, standing in enumerate(standings)
    ]
    state = replace(
        group(*members, offsets=[committed(number, 10, 500) for number in range(4)], generation_ms=100_000),
        kind=GroupKind.CONSUMER,
    )
    assert found(state, ALL_BUSY) == [("not_committing", 700, (), places("t", 0, 1))]


@pytest.mark.parametrize(("pass_s", "told"), [(989, []), (991, ["grew"])])
def test_what_a_member_that_left_did_not_commit_is_its_heirs_or_nobodys(pass_s, told):
    """C1 hung, and is gone since 990 s; what it had is not in the new generation. The next pass tells that it exists.

    Nobody who is left has failed to commit anything meanwhile.
    """
    state = group(
        member("C0", ["t"], {"t": (0, 1)}),
        offsets=(
            committed(0, 20, 985, 990, 995),
            committed(1, 20, 985, 990, 995),
            committed(2, 10, 500),
            committed(3, 10, 500),
        ),
        generation_ms=990_000,
    )
    topics = replace(ALL_BUSY, pass_ms=pass_s * 1000)
    findings = evaluate(state, topics, NOW_MS, DetectionSettings()).findings
    assert [finding.reason for finding in findings if finding.kind is not FindingKind.DRIFT] == told


def test_others_who_fell_silent_later_prove_nothing():
    """C1 went on for 200 s after C0 had stopped, and then stopped too, with records waiting."""
    offsets = (committed(0, 10, 500), committed(1, 10, 500), committed(2, 10, 900, 905, 910), committed(3, 10, 910))
    assert [reason for reason, *_ in found(pair(*offsets), ALL_BUSY)] == ["not_committing"]


def test_others_who_have_read_all_and_rest_are_no_sign_that_the_group_stopped():
    """C1 committed all there was at 910 s; no record has come to it since. What was said of C0 stays."""
    offsets = (committed(0, 10, 500), committed(1, 10, 500), committed(2, 10, 900, 905, 910), committed(3, 10, 910))
    assert found(pair(*offsets), topics_of(busy(0), busy(1), idle(2), idle(3))) == [
        ("silent", 700, ("C0",), places("t", 0, 1))
    ]


def test_since_when_does_not_move_while_the_history_of_ends_does():
    slid = partition((800, 40), (990, 60)), partition((850, 40), (990, 60), number=1)
    offsets = (committed(0, 10, 500), committed(1, 10, 510), *GOING_ON)
    (dead,) = found(pair(*offsets), topics_of(*slid, busy(2), busy(3)))
    assert dead[:2] == ("silent", 510)


@pytest.mark.parametrize(
    ("since_s", "epoch", "dead"),
    [
        pytest.param(900, 5, True, id="it holds them for 100 s"),
        pytest.param(941, 5, False, id="it holds them for 59 s: just handed over"),
        pytest.param(100, -2, False, id="it has left and said that it comes back"),
    ],
)
def test_a_modern_member_counts_from_its_own_record(since_s, epoch, dead):
    def modern(name, numbers, since_ms, epoch=5):
        held = (IdPartitions("T", numbers),)
        standing = Reconciliation(epoch=epoch, assigned=held, target=held, since_ms=since_ms)
        return Member(member_id=name, topics=("t",), reconciliation=standing)

    state = group(
        modern("C0", (0, 1), since_s * 1000, epoch),
        modern("C1", (2, 3), 100_000),
        kind=GroupKind.CONSUMER,
        offsets=(committed(0, 10, 500), committed(1, 10, 500), *GOING_ON),
        generation_ms=100_000,
    )
    assert ("silent" in [reason for reason, *_ in found(state, ALL_BUSY)]) is dead


def test_the_sentence_names_member_and_partitions():
    state = pair(committed(0, 10, 500), committed(1, 10, 500), *GOING_ON)
    (finding,) = [f for f in evaluate(state, ALL_BUSY, NOW_MS, DetectionSettings()).findings if f.reason == "silent"]
    assert finding.sentence == (
        "app-0 at /10.0.0.1 owns 2 partitions of t (0-1) and has not committed for a while, although there is lag. "
        "Other members are committing."
    )


ages_s = st.lists(st.integers(0, 900), min_size=12, max_size=12)


@given(ages_s, st.lists(st.booleans(), min_size=12, max_size=12))
def test_no_partition_is_told_twice_and_none_is_left_out(ages, are_busy):
    """Twelve partitions of four members, committed so long ago, every 5 s until then; some of them get records."""
    topics = topics_of(*(busy(n) if is_busy else idle(n) for n, is_busy in enumerate(are_busy)))
    offsets = [committed(n, 10, *(1000 - age - 5 * back for back in (2, 1, 0))) for n, age in enumerate(ages)]
    members = [member(f"C{n}", ["t"], {"t": range(3 * n, 3 * n + 3)}) for n in range(4)]
    told = found(group(*members, offsets=offsets, generation_ms=0), topics)
    places_told = [place.partition for *_, partitions in told for place in partitions]
    assert len(places_told) == len(set(places_told))
    assert {n for n in range(12) if are_busy[n] and ages[n] >= 60} <= set(places_told)
    dead = {member_id for _, _, members, _ in told for member_id in members}
    assert all(min(ages[3 * n : 3 * n + 3]) >= 60 for n in range(4) if f"C{n}" in dead)
    assert len(dead) < 4


gaps_s = st.lists(st.integers(0, 100) | st.integers(0, 8), max_size=8)
histories_s = st.lists(
    st.builds(
        lambda gaps, last: [last - sum(gaps[index:]) for index in range(len(gaps) + 1)], gaps_s, st.integers(690, 960)
    ),
    min_size=6,
    max_size=6,
)
"""When each of six partitions was committed, the oldest first."""


@given(histories_s, st.sampled_from([0, 100, 300, 3601]), st.sampled_from([45, 600]))
@example([[690], [690], [690], [690], [704], [606, 706, 804]], 0, 45)  # the owner's other partition tells: 100 s
def test_no_silence_is_hidden_for_longer_than_three_times_the_longest_before(histories, batch_s, session_s):
    """Six partitions of three members; records come to all, and the last was not committed by anybody. Of whom too
    little is known, the longest batch counts, and of a member the commits in any of its partitions."""
    offsets = [committed(number, 10, *at_s) for number, at_s in enumerate(histories)]
    timeouts = {"session_timeout_ms": session_s * 1000, "rebalance_timeout_ms": batch_s * 1000}
    members = [member(f"C{n}", ["t"], {"t": [2 * n, 2 * n + 1]}, **timeouts) for n in range(3)]
    told = found(group(*members, offsets=offsets, generation_ms=0), topics_of(*(busy(n) for n in range(6))))
    places_told = [place.partition for *_, partitions in told for place in partitions]
    assert len(places_told) == len(set(places_told))
    for number, at_s in enumerate(histories):
        first = number - number % 2
        telling = [at_s] if len(at_s) > 2 else histories[first : first + 2]
        gaps_s = [after - before for each in telling for before, after in pairwise(each)]
        limits_s = [60, 3 * max(gaps_s, default=0), batch_s if batch_s <= 3600 else 0]
        if 1000 - max(at_s[-1], 700) >= max(limits_s):
            assert number in places_told
        elif 1000 - max(at_s[-1], 700) < 60:
            owner = f"C{number // 2}"
            assert number not in places_told or any(owner in blamed for *_, blamed, _ in told)

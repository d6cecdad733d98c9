"""Records where a group has committed nothing. Times are in seconds; the patience is 60 s, unless it is given.

So is the time that a member may take between two polls. Elsewhere, a commit is made every 10 s.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.kinds.short_lives import lives_by_pattern
from monitor.model import (
    STREAM,
    CommitPoint,
    ConnectConfigsState,
    ConnectorConfig,
    FindingKind,
    GroupKind,
    IdPartitions,
    Outage,
    Phase,
    Rebalance,
    RebalanceInProgress,
    Reconciliation,
    ShortLife,
    Source,
    TargetState,
)
from monitor.model.commit_history import extend
from monitor.model.expiry import DeletedOffset
from tests.detection.lag.test_lag import partition
from tests.detection.rules.test_unattended import topic_of
from tests.detection.test_since_stays import MINUTE, SECOND, SPACING, START, random_story, told_each_second
from tests.detection.test_steadiness import episodes
from tests.detection.told_examples import NOW, examples
from tests.support.builders import catalog, commit, group, member, places
from tests.support.examples import example_count, is_nightly

PATIENCE_MS = 60_000
NEVER = "uncommitted", "never"
UNATTENDED = "uncommitted", "unattended"
AT_RISK = "uncommitted", "at_risk"

OLD = partition((0, 10), (600, 10))
"""Ten records that were there before."""

CAME_AT_200 = partition((0, 10), (180, 10), (200, 15), (220, 20))
READ = partition((0, 10), (600, 10))


def told(state, topics, now_s, patience_ms=PATIENCE_MS):
    """ELSEWHERE goes on until now."""
    offsets = [going_on(now_s) if each == ELSEWHERE else each for each in state.offsets]
    state = replace(state, offsets=tuple(offsets))
    found = evaluate(state, topics, now_s * 1000, DetectionSettings(commit_silence_ms=patience_ms)).findings
    return [
        ((f.kind.value, f.reason), f.since_ms // 1000, f.partitions) for f in found if f.kind is FindingKind.UNCOMMITTED
    ]


def reasons(state, topics, now_s):
    return [name for name, _, _ in told(state, topics, now_s)]


def topics(*known, **others):
    """Topic t has these partitions, and each other topic one."""
    numbered = [replace(each, partition=number) for number, each in enumerate(known)]
    return catalog(topic_of("t", *numbered), *(topic_of(name, each) for name, each in others.items()))


def owns(*offsets, held_s=100, assigned=None, timeout_s=60, **more):
    """One member that has u-0 and t-0 since then."""
    own = member("C0", ["t", "u"], assigned or {"t": [0], "u": [0]}, rebalance_timeout_ms=timeout_s * 1000)
    return group(own, offsets=offsets, generation_ms=held_s * 1000, phase_ms=0, **more)


def rhythmic(name, number, *times_s):
    history = extend(b"", [CommitPoint(second * 1000, second) for second in times_s])
    return replace(commit(name, number, 10, times_s[-1] * 1000), history=history)


ELSEWHERE = commit("u", 0, 10, 150_000)


def going_on(now_s, from_s=150, every_s=10):
    return rhythmic("u", 0, *range(from_s, now_s + 1, every_s))


@pytest.mark.parametrize(
    ("known", "state", "now_s", "expected"),
    [
        pytest.param(CAME_AT_200, owns(ELSEWHERE), 289, [], id="records came 60 s ago, and two commits since"),
        pytest.param(CAME_AT_200, owns(ELSEWHERE), 290, [(NEVER, 200, places("t", 0))], id="and three commits"),
        pytest.param(CAME_AT_200, owns(ELSEWHERE), 9_000, [(NEVER, 200, places("t", 0))], id="hours ago"),
        pytest.param(CAME_AT_200, owns(ELSEWHERE, commit("t", 0, 10, 150_000)), 9_000, [], id="it is committed"),
        pytest.param(OLD, owns(ELSEWHERE), 159, [], id="nothing came: its owner may yet commit where it stands"),
        pytest.param(OLD, owns(ELSEWHERE), 160, [(AT_RISK, 100, places("t", 0))], id="a healthy owner, at latest"),
        pytest.param(
            partition((0, 10), (90, 10), (104, 15), (125, 20)),
            owns(ELSEWHERE),
            9_000,
            [(AT_RISK, 100, places("t", 0))],
            id="what came within 5 s of the assignment may have been before its start",
        ),
        pytest.param(
            partition((0, 10), (90, 10), (105, 15), (125, 20)),
            owns(ELSEWHERE),
            215,
            [(NEVER, 125, places("t", 0))],
            id="what came after the first poll that is 5 s younger was not",
        ),
        pytest.param(partition((0, 10), (90, 20)), owns(ELSEWHERE), 9_000, [], id="no poll since: nothing is known"),
        pytest.param(partition((0, 0), (600, 0)), owns(ELSEWHERE), 9_000, [], id="the log has no records"),
        pytest.param(
            partition((0, 10), (600, 10), earliest=10), owns(ELSEWHERE), 9_000, [], id="retention has removed all"
        ),
        pytest.param(
            CAME_AT_200,
            owns(commit("u", 0, 10, 99_000)),
            9_000,
            [(AT_RISK, 100, places("t", 0))],
            id="nothing was committed since: a group that hangs as a whole, or keeps its offsets elsewhere now",
        ),
        pytest.param(
            CAME_AT_200,
            owns(),
            9_000,
            [(AT_RISK, 100, places("t", 0) + places("u", 0))],
            id="a group that commits nothing",
        ),
        pytest.param(
            CAME_AT_200, owns(ELSEWHERE, unconfirmed=(commit("t", 0, 12, 210_000),)), 9_000, [], id="in a transaction"
        ),
    ],
)
def test_an_owner_is_accused_of_records_that_came_while_it_had_the_partition(known, state, now_s, expected):
    assert told(state, topics(known, u=READ), now_s) == expected


def test_a_sight_of_records_that_the_next_poll_may_move_is_awaited():
    """The point of second 160 is 10 s after the one before; a poll that replaces it has arrived by second 210."""
    known = topics(partition((0, 10), (150, 12), (160, 15)), u=READ)

    def state(now_s):
        return owns(going_on(now_s, every_s=5), timeout_s=5)

    assert [told(state(now_s), known, now_s, patience_ms=5_000) for now_s in (209, 210)] == [
        [],
        [(NEVER, 160, places("t", 0))],
    ]


def test_the_members_of_the_finding_are_the_owners_that_commit_nothing_there():
    hangs, good = member("C0", ["t"], {"t": [0, 1]}), member("C1", ["t"], {"t": [2]})
    state = group(hangs, good, offsets=[rhythmic("t", 2, *range(150, 600, 10))], generation_ms=100_000)
    verdict = evaluate(state, topics(CAME_AT_200, CAME_AT_200, READ), 600_000, DetectionSettings())
    (found,) = [each for each in verdict.findings if each.kind is FindingKind.UNCOMMITTED]
    assert (found.reason, found.partitions, found.members) == ("never", places("t", 0, 1), ("C0",))


@pytest.mark.parametrize(
    ("every_s", "timeout_s", "told_s"),
    [
        pytest.param(5, 60, 275, id="each 5 s: the patience, and three commits"),
        pytest.param(40, 60, 425, id="each 40 s: three times that, until 320 s, and three commits"),
        pytest.param(1_800, 60, 10_905, id="each half an hour: three times that, until 5,600 s, and three commits"),
        pytest.param(5, 300, 515, id="a batch may take 5 min: until 500 s, and three commits"),
        pytest.param(5, 0, 515, id="it is not known how long a batch may take"),
    ],
)
def test_a_silence_that_is_usual_for_the_owner_or_the_group_is_awaited(every_s, timeout_s, told_s):
    def by_the_owner(now_s):
        return owns(going_on(now_s, 105, every_s), timeout_s=timeout_s)

    def by_another(now_s):
        limit = {"rebalance_timeout_ms": timeout_s * 1000}
        members = member("C0", ["t"], {"t": [0]}, **limit), member("C1", ["u"], {"u": [0]}, **limit)
        return group(*members, offsets=[going_on(now_s, 105, every_s)], generation_ms=100_000)

    for state in (by_the_owner, by_another):
        known = topics(CAME_AT_200, u=READ)
        found = [[each for each in reasons(state(at), known, at) if each == NEVER] for at in (told_s - 1, told_s)]
        assert found == [[], [NEVER]]


def test_an_owner_that_has_committed_elsewhere_is_accused_only_while_it_goes_on_there():
    """What another member commits shows nothing of one that may be busy everywhere."""
    busy, other = member("C0", ["t", "u"], {"t": [0], "u": [0]}), member("C1", ["v"], {"v": [0]})
    known = topics(CAME_AT_200, u=READ, v=READ)

    def found(now_s, *times_s):
        offsets = [rhythmic("u", 0, *times_s), rhythmic("v", 0, *range(150, now_s, 10))]
        return told(group(busy, other, offsets=offsets, generation_ms=100_000), known, now_s)

    early = 150, 160, 170, 180
    assert found(790, *early, 500, 510, 520) == []
    assert found(800, *early, 500, 510, 520) == [(AT_RISK, 100, places("t", 0))]
    assert found(800, *early, 510, 520, 530) == [(NEVER, 200, places("t", 0))]


def test_several_partitions_that_are_committed_at_once_are_one_commit():
    own = member("C0", ["t", "u"], {"t": [0], "u": [0, 1, 2]}, rebalance_timeout_ms=60_000)
    offsets = [replace(rhythmic("u", 0, 230, 240, 250, 300), partition=number) for number in range(3)]
    known = topics(CAME_AT_200)
    known = replace(known, topics=known.topics | {"u": topic_of("u", *[replace(READ, partition=n) for n in range(3)])})
    assert told(group(own, offsets=offsets, generation_ms=100_000), known, 310) == []


def test_a_dead_member_is_told_with_all_its_partitions_and_not_twice():
    """C0 has not committed u-0 since 200 s although records wait there; C1 commits each 10 s."""
    dead = member("C0", ["t", "u"], {"t": [0], "u": [0]}, session_timeout_ms=10_000)
    alive = member("C1", ["v"], {"v": [0]}, session_timeout_ms=10_000)
    offsets = [rhythmic("u", 0, 160, 170, 180, 190), rhythmic("v", 0, *range(160, 900, 10))]
    state = group(dead, alive, offsets=offsets, generation_ms=100_000)
    verdict = evaluate(state, topics(CAME_AT_200, u=CAME_AT_200, v=READ), 900_000, DetectionSettings())
    assert [(f.kind.value, f.partitions) for f in verdict.findings] == [
        ("dead_member", places("t", 0) + places("u", 0))
    ]


def test_a_rebalance_and_an_outage_of_the_coordinator_excuse_silence():
    known = topics(CAME_AT_200, u=READ)
    rebalances = owns(ELSEWHERE, sampled=RebalanceInProgress(first_ms=250_000, last_ms=300_000))
    assert reasons(rebalances, known, 300) == []
    away = replace(known, log_partitions=1, outages={0: Outage(began_ms=210_000)})
    assert reasons(owns(ELSEWHERE), away, 300) == []
    back = replace(away, outages={0: Outage(began_ms=210_000, ended_ms=280_000)})
    assert [reasons(owns(ELSEWHERE), back, now_s) for now_s in (369, 370)] == [[], [NEVER]]
    assert [reasons(owns(going_on(now_s, 105, 40)), back, now_s) for now_s in (504, 505)] == [[], [NEVER]]


def test_a_sink_of_connect_that_is_paused_lets_records_wait_on_purpose():
    """One that runs may commit a quiet partition only once it has enough records, so it is not accused."""

    def found(target):
        s3 = ConnectorConfig("s3", is_configured=True, tasks=1, target_state=target)
        configs = {"workers": ConnectConfigsState(cluster="c", topic="configs", connectors=(s3,))}
        known = replace(topics(CAME_AT_200, u=READ), connect_configs=configs)
        return reasons(replace(owns(ELSEWHERE), group="connect-s3"), known, 300)

    assert (found(TargetState.STARTED), found(TargetState.PAUSED)) == ([AT_RISK], [])


@pytest.mark.parametrize(("client_id", "expected"), [("connector-consumer-s3-0", AT_RISK), ("app", NEVER)])
def test_a_task_of_a_sink_that_is_known_by_its_client_id_is_not_accused(client_id, expected):
    state = owns(ELSEWHERE)
    task = replace(state.members[0], client_id=client_id)
    assert reasons(replace(state, members=(task,)), topics(CAME_AT_200, u=READ), 9_000) == [expected]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        pytest.param({"stable": 10, "stable_ms": 200_000}, [], id="behind an open transaction"),
        pytest.param({"stable": 12, "stable_ms": 200_000}, [NEVER], id="two records are before it"),
    ],
)
def test_what_a_transaction_holds_back_did_not_come_yet(more, expected):
    found = reasons(owns(ELSEWHERE), topics(replace(CAME_AT_200, **more), u=READ), 9_000)
    assert [each for each in found if each == NEVER] == expected


def with_markers(end):
    known = topics(partition((0, 10), (180, 10), (200, end), (220, end)), READ, u=READ)
    return replace(known, topics=known.topics | {"t": replace(known.topics["t"], has_markers=True)})


@pytest.mark.parametrize(("end", "expected"), [(19, AT_RISK), (20, UNATTENDED)])
def test_where_transactions_end_a_few_offsets_may_be_their_markers(end, expected):
    assert reasons(left(100, READ_UNTIL_90), with_markers(end), 9_000) == [expected]


@pytest.mark.parametrize("end", [19, 20, 511])
def test_where_transactions_end_an_aborted_batch_accuses_no_owner(end):
    state = owns(ELSEWHERE, assigned={"t": [0], "u": [0]})
    assert told(state, with_markers(end), 9_000) == [(AT_RISK, 100, places("t", 0))]


def test_a_partition_that_its_owner_drops_is_an_orphan_and_nothing_else():
    found = next(each for each in examples() if each.reason == "owner_unsubscribed")
    findings = evaluate(found.group, found.catalog, NOW, found.settings).findings
    (dropped,) = [each.partitions for each in findings if each.reason == "owner_unsubscribed"]
    (at_risk,) = [each.partitions for each in findings if each.kind is FindingKind.UNCOMMITTED]
    assert set(dropped).isdisjoint(at_risk)


# --- groups without members ---------------------------------------------------------------------------------------


def left(at_s, *offsets, **more):
    return group(phase=Phase.EMPTY, phase_ms=at_s * 1000, generation_ms=at_s * 1000, offsets=offsets, **more)


def test_a_deletion_before_the_owner_came_does_not_accuse_it():
    """It commits nothing anywhere since it came, so it may keep its offsets elsewhere."""
    deleted = DeletedOffset("t", 0, 10, 10_000, None, deleted_ms=20_000)
    state = owns(commit("u", 0, 5, 15_000), deleted_offsets=(deleted,))
    assert [each[0] for each in told(state, topics(CAME_AT_200, u=READ), 400)] == [AT_RISK]


READ_UNTIL_90 = commit("t", 1, 10, 90_000)


@pytest.mark.parametrize(
    ("known", "state", "now_s", "expected"),
    [
        pytest.param(CAME_AT_200, left(100, READ_UNTIL_90), 259, [], id="records came 59 s ago"),
        pytest.param(CAME_AT_200, left(100, READ_UNTIL_90), 260, [(UNATTENDED, 200, places("t", 0))], id="60 s ago"),
        pytest.param(
            partition((0, 10), (180, 10), (200, 15), (220, 20), (600, 20)),
            left(100, commit("t", 1, 10, 230_000)),
            9_000,
            [(AT_RISK, 230, places("t", 0))],
            id="somebody committed after they came",
        ),
        pytest.param(OLD, left(100, READ_UNTIL_90), 159, [], id="left 59 s ago"),
        pytest.param(OLD, left(100, READ_UNTIL_90), 160, [(AT_RISK, 100, places("t", 0))], id="nothing came since"),
        pytest.param(CAME_AT_200, left(100, commit("u", 0, 10, 90_000)), 9_000, [], id="it never committed the topic"),
        pytest.param(
            CAME_AT_200,
            left(100, commit("u", 0, 10, 90_000), left_topics=("t",)),
            260,
            [(UNATTENDED, 200, places("t", 0)), (AT_RISK, 100, places("t", 1))],
            id="it never committed the topic, but its last members subscribed to it",
        ),
        pytest.param(
            partition((0, 10), (180, 10), (200, 15), (220, 20), (600, 20)),
            left(100, left_topics=("t",)),
            9_000,
            [(AT_RISK, 100, places("t", 0, 1))],
            id="it never committed anything: it may keep its offsets elsewhere",
        ),
        pytest.param(
            CAME_AT_200, left(100, READ_UNTIL_90, protocol_type="", generation=0), 9_000, [], id="it chose by itself"
        ),
    ],
)
def test_partitions_of_committed_topics_that_a_group_without_members_never_committed(known, state, now_s, expected):
    assert told(state, topics(known, READ, u=READ), now_s) == expected


@pytest.mark.parametrize("known", [CAME_AT_200, OLD])
def test_a_group_that_one_process_used_once_leaves_nothing_uncommitted_to_anybody(known):
    """Its one_off says it all. Where others of its name did not come and go, it may be expected back."""
    begun, ended = Rebalance(1, 50_000, 50_000, joined=1, is_first=True), Rebalance(2, 100_000, 100_000, left=1)
    read = commit("t", 1, 10, 100_000)
    state = replace(left(100, read, history=(begun, ended)), group="app-4", generation=2, rebalances=2)
    others = [ShortLife("app-*", 1_000 * began, 1_000 * began + 9_000) for began in (1, 11, 21, 31)]
    alike = replace(topics(known, READ), short_lives=lives_by_pattern(others))
    assert told(state, alike, 400) == []
    assert told(state, topics(known, READ), 400) != []


def test_the_rows_of_a_group_without_members_have_what_it_never_committed():
    verdict = evaluate(
        left(100, READ_UNTIL_90), topics(CAME_AT_200, READ, partition((0, 0))), 300_000, DetectionSettings()
    )
    assert [(row.partition, row.committed, row.end) for row in verdict.partitions] == [(0, None, 20), (1, 10, 10)]


# --- kinds of groups ----------------------------------------------------------------------------------------------


def test_a_member_of_a_kip_848_group_has_its_partitions_since_its_own_record():
    ids = {"A" * 22: "t", "B" * 22: "u"}
    known = topics(CAME_AT_200, u=READ)
    named = {name: replace(known.topics[name], topic_id=key) for key, name in ids.items()}
    known = replace(known, topics=named, names=ids)
    both = (IdPartitions("A" * 22, (0,)), IdPartitions("B" * 22, (0,)))

    def state(since_s):
        own = member(
            "C0",
            ["t", "u"],
            rebalance_timeout_ms=60_000,
            reconciliation=Reconciliation(assigned=both, target=both, since_ms=since_s * 1000),
        )
        return group(own, kind=GroupKind.CONSUMER, offsets=[ELSEWHERE], generation_ms=1_000)

    assert told(state(100), known, 300) == [(NEVER, 200, places("t", 0))]
    assert told(state(215), known, 9_000) == [(AT_RISK, 215, places("t", 0))]


@pytest.mark.parametrize(
    ("more", "is_unknown"),
    [
        pytest.param({"protocol": STREAM}, True, id="Kafka Streams restores its state before it reads"),
        pytest.param({"kind": GroupKind.ROCKETMQ, "source": Source.SYSTEM}, True, id="RocketMQ has another policy"),
        pytest.param({"kind": GroupKind.ZOOKEEPER, "source": Source.SYSTEM}, True, id="ZooKeeper"),
        pytest.param({"protocol_type": "connect", "protocol": "sessioned"}, False, id="workers of Connect"),
    ],
)
def test_nothing_is_told_of_kinds_that_start_otherwise_but_their_lag_is_not_made_up(more, is_unknown):
    state = owns(ELSEWHERE, **more)
    verdict = evaluate(state, topics(CAME_AT_200, u=READ), 9_000_000, DetectionSettings())
    assert not [each for each in verdict.findings if each.kind is FindingKind.UNCOMMITTED]
    assert (verdict.lag, verdict.uncommitted_partitions) == ((None, 1) if is_unknown else (0, 0))


# --- while nothing changes ----------------------------------------------------------------------------------------

LATER_S = (START + 100 * MINUTE) // SECOND
"""So that three commits come after everything in the story, which ends before."""

LEFT_OUT = {
    "never": lambda at_ms: group(
        member("C0", ["t", "u"], {"t": [0], "u": [0]}, rebalance_timeout_ms=1),
        generation_ms=at_ms,
        offsets=[rhythmic("u", 0, at_ms // 1000 + 1, LATER_S, LATER_S + 1, LATER_S + 2)],
    ),
    "unattended": lambda at_ms: group(
        phase=Phase.EMPTY, phase_ms=at_ms, generation_ms=at_ms, offsets=[commit("t", 1, 100, at_ms)]
    ),
}


@settings(max_examples=example_count(0.4), derandomize=not is_nightly())
@given(
    seed=st.integers(0, 2**32),
    interval_s=st.sampled_from([1, 2, 5, 10, 15, 30]),
    patience_s=st.sampled_from([5, 10, 15, 20, 60]),
    reason=st.sampled_from(sorted(LEFT_OUT)),
)
def test_what_is_left_out_is_told_once_and_since_the_same_instant(seed, interval_s, patience_s, reason):
    """Whether records came after the first poll that counts decides whether it is told at all."""
    story = random_story(seed, interval_s)
    minutes = 2 + max(story.polls) // MINUTE
    found = told_each_second(story, LEFT_OUT[reason](START + story.left), reason, patience_s, minutes=minutes)
    counts = [poll for poll in story.polls if poll >= story.left + 5 * SECOND]
    runs = episodes(found)
    assert len(runs) <= 1
    if runs:
        assert len(set(runs[0])) == 1, "since the same instant"
        assert max(story.left, counts[0]) < runs[0][0]
    last_seen = counts[0] + 2 * (SPACING + story.longest_ms)
    if story.end_at(last_seen) > story.end_at(counts[0] + SPACING + story.longest_ms):
        assert runs, "records came after the first poll that counts, and it is found"
        assert found.index(runs[0][0]) * SECOND <= last_seen + SPACING + story.longest_ms + patience_s * SECOND

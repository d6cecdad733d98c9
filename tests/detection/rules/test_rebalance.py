"""When a rebalance is too long, when there are too many, and that the ordinary is neither."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.moment import Moment
from monitor.detection.rules.rebalance import storm_since_ms
from monitor.model import (
    SAMPLE_LIFETIME_MS,
    FindingKind,
    GroupKind,
    Member,
    MemberState,
    Phase,
    Rebalance,
    RebalanceCause,
    RebalanceInProgress,
    Reconciliation,
    WireForm,
)
from monitor.tracking.rebalances.history import MAX_REBALANCES
from tests.support.builders import ASSIGNED, JAVA, NOW, catalog, commit, group, range_by_hand, topic

Cause = RebalanceCause
TOPICS = catalog(topic("a", 2))
READ = [commit("a", 0, 100), commit("a", 1, 100)]
MEMBERS = range_by_hand({"C0": ["a"], "C1": ["a"]}, {"a": 2})
QUIET = group(*MEMBERS, offsets=READ)
LIMIT_MS = DetectionSettings().rebalance_long_ms


def judged(state, now_ms=NOW, **settings):
    verdict = evaluate(state, TOPICS, now_ms, DetectionSettings(**settings))
    return verdict, [(finding.reason, finding.since_ms) for finding in verdict.findings if finding.kind == "rebalance"]


# --- too long -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sampled", "since_ms", "findings"),
    [
        pytest.param(None, None, [], id="nothing is known of one"),
        pytest.param(RebalanceInProgress(NOW - 5_000, NOW - 1_000), NOW - 5_000, [], id="for 5 s"),
        pytest.param(RebalanceInProgress(NOW - LIMIT_MS + 1, NOW), NOW - LIMIT_MS + 1, [], id="not too long yet"),
        pytest.param(RebalanceInProgress(NOW - LIMIT_MS, NOW), NOW - LIMIT_MS, [("long", NOW)], id="just now"),
        pytest.param(RebalanceInProgress(NOW - 200_000, NOW), NOW - 200_000, [("long", NOW - 140_000)], id="for 200 s"),
        pytest.param(
            RebalanceInProgress(NOW - 200_000, NOW - SAMPLE_LIFETIME_MS),
            NOW - 200_000,
            [("long", NOW - 140_000)],
            id="seen 30 s ago",
        ),
        pytest.param(
            RebalanceInProgress(NOW - 200_000, NOW - SAMPLE_LIFETIME_MS - 1), None, [], id="seen too long ago"
        ),
        pytest.param(RebalanceInProgress(NOW - 200_000, NOW, over=True), None, [], id="over"),
        pytest.param(RebalanceInProgress(NOW + 500, NOW + 500), NOW + 500, [], id="the collector's clock is ahead"),
    ],
)  # fmt: skip
def test_a_classic_group_rebalances_as_long_as_samples_say_so(sampled, since_ms, findings):
    verdict, found = judged(replace(QUIET, sampled=sampled))
    assert (verdict.rebalancing_since_ms, found) == (since_ms, findings)
    assert verdict.state is Phase.STABLE, "the newest generation is still the last word of the log"


def test_a_threshold_of_its_own():
    assert judged(replace(QUIET, sampled=RebalanceInProgress(NOW - 5_000, NOW)), rebalance_long_ms=4_000)[1] == [
        ("long", NOW - 1_000)
    ]


def modern(phase, *members, since_ms=NOW - 100_000):
    under_way = Rebalance(generation=3, started_ms=since_ms, causes=(Cause.JOIN,))
    return group(*members, kind=GroupKind.CONSUMER, phase=phase, under_way=under_way)


GIVES_BACK = Member(member_id="M", topics=("a",), reconciliation=Reconciliation(state=MemberState.UNREVOKED_PARTITIONS))
WAITS = Member(member_id="N", topics=("a",), reconciliation=Reconciliation(state=MemberState.UNRELEASED_PARTITIONS))


@pytest.mark.parametrize("phase", [Phase.ASSIGNING, Phase.RECONCILING])
def test_a_kip_848_group_rebalances_from_its_epoch_on(phase):
    verdict, found = judged(modern(phase, GIVES_BACK, WAITS))
    assert (verdict.rebalancing_since_ms, found) == (NOW - 100_000, [("long", NOW - 40_000)])
    (finding,) = [each for each in verdict.findings if each.kind is FindingKind.REBALANCE]
    assert finding.members == ("M",), "it is the one that the other waits for"
    assert judged(modern(phase, GIVES_BACK, since_ms=NOW - 59_999))[1] == []


def test_a_sample_says_nothing_of_a_kip_848_group():
    state = replace(modern(Phase.STABLE, WAITS), under_way=None, sampled=RebalanceInProgress(NOW - 200_000, NOW))
    assert judged(state)[0].rebalancing_since_ms is None


# --- too many -----------------------------------------------------------------------------------------------------


def rebalances(*ends, causes=(Cause.JOIN,)):
    return tuple(
        Rebalance(generation=number, started_ms=end, ended_ms=end, causes=causes) for number, end in enumerate(ends)
    )


def every(step_ms, count, *, last_ms=NOW):
    return [last_ms - step_ms * back for back in reversed(range(count))]


def test_twenty_within_ten_minutes_are_a_storm_and_nineteen_are_not():
    """Every 30 s: the twentieth came just now. Ten minutes after the first, one has left the window; ten more."""
    state = replace(QUIET, history=rebalances(*every(30_000, 20)))
    assert judged(replace(state, history=state.history[1:]))[1] == []
    assert judged(state)[1] == [("storm", NOW)]
    first_ms = NOW - 19 * 30_000
    assert judged(state, now_ms=first_ms + 1_200_000 - 1)[1] == [("storm", NOW)]
    assert judged(state, now_ms=first_ms + 1_200_000)[1] == [], "it is over by itself"


def test_a_storm_that_lulls_for_less_than_ten_minutes_goes_on():
    """20 in 190 s. After ten minutes the window no longer holds them; within ten more, 20 others prolong it."""
    first_ms = NOW - 1_790_000
    again_ms = first_ms + 1_200_000
    lull = rebalances(*every(10_000, 20, last_ms=first_ms + 190_000), *every(10_000, 20, last_ms=again_ms))
    begun_ms, until_ms = first_ms + 190_000, again_ms - 190_000 + 1_200_000
    for now_ms in (begun_ms, again_ms - 1, again_ms, NOW, until_ms - 1):
        known = tuple(each for each in lull if each.ended_ms <= now_ms)
        assert judged(replace(QUIET, history=known), now_ms=now_ms)[1] == [("storm", begun_ms)]
    assert judged(replace(QUIET, history=lull), now_ms=until_ms)[1] == []


def test_a_storm_is_remembered_for_longer_than_its_rebalances_are():
    """100 of them, one every 30 s: the last forty are kept, the end of the others is, and the twentieth began it."""
    ends = every(30_000, 100)
    state = replace(QUIET, history=rebalances(*ends[60:]), earlier_ms=tuple(ends[:60]))
    assert judged(state)[1] == [("storm", ends[19])]
    assert judged(replace(state, earlier_ms=()))[1] == [("storm", ends[79])], "as an older job has stored it"


def test_of_a_cooperative_group_too_enough_is_kept_to_tell_that_a_storm_goes_on():
    """Every second one is a handover. The newest twenty of the others last for 13 minutes; before, it was faster."""
    ends = every(20_000, 20, last_ms=NOW - 20 * 41_000) + every(41_000, 20)
    halves = tuple(
        each
        for number, end in enumerate(ends[20:])
        for each in (
            Rebalance(generation=number, started_ms=end, ended_ms=end, causes=(Cause.JOIN,)),
            Rebalance(generation=number, started_ms=end + 500, ended_ms=end + 500, causes=(Cause.HANDOVER,)),
        )
    )
    assert len(halves) == MAX_REBALANCES
    state = replace(QUIET, history=halves, earlier_ms=tuple(ends[:20]))
    assert judged(state)[1] == [("storm", ends[19])]


def test_a_storm_is_as_old_as_its_twentieth_rebalance():
    state = replace(QUIET, history=rebalances(*every(30_000, 25)))
    assert judged(state)[1] == [("storm", NOW - 5 * 30_000)]


KAFKA_PYTHON = {"wire": WireForm(subscription_version=0, assignment_version=0), "user_data": b""}


def storm_sentence(step, protocol="roundrobin", client_id="kafka-python-3.0.12", **wire):
    """What is told of a storm whose generations are numbered in such steps."""
    history = tuple(replace(each, generation=step * each.generation) for each in rebalances(*every(10_000, 20)))
    members = [replace(member, client_id=client_id, **(wire or KAFKA_PYTHON)) for member in MEMBERS]
    state = group(*members, protocol=protocol, offsets=READ, history=history)
    (storm,) = [each for each in judged(state)[0].findings if each.reason == "storm"]
    return storm.sentence


def test_a_storm_of_generations_that_no_leader_assigned_names_the_known_defect():
    """As it was seen of three consumers of kafka-python with different topics: the log had generations 1, 3, 5, 7."""
    told = storm_sentence(2)
    assert "before it assigned partitions. Known defect of kafka-python" in told
    assert "Its roundrobin fails with a KeyError when members subscribe to different topics." in told
    assert "Use range, or another library for all members: any member may lead." in told


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"step": 1}, id="every generation was assigned"),
        pytest.param({"step": 2, "protocol": "range"}, id="an assignor without the defect"),
        pytest.param({"step": 2, "client_id": "app", "wire": JAVA, "user_data": None}, id="another library"),
    ],
)
def test_a_storm_names_no_defect_without_evidence(other):
    assert "defect" not in storm_sentence(**other)


def test_a_storm_that_had_calmed_down_begins_anew():
    """20 in 190 s, half an hour of peace, 20 in 190 s."""
    ends = every(10_000, 20, last_ms=NOW - 1_800_000) + every(10_000, 20)
    assert judged(replace(QUIET, history=rebalances(*ends)))[1] == [("storm", NOW)]


def test_a_rolling_restart_of_five_members_is_no_storm():
    """Each leaves and joins 5 s later; with the cooperative assignor each of the ten rebalances has a second half."""
    ends = every(5_000, 10)
    eager = rebalances(*ends[::2], causes=(Cause.LEAVE,)) + rebalances(*ends[1::2])
    handovers = rebalances(*[end + 500 for end in ends], causes=(Cause.HANDOVER,))
    for history in (eager, eager + handovers):
        ordered = tuple(sorted(history, key=lambda rebalance: rebalance.ended_ms))
        assert judged(replace(QUIET, history=ordered), now_ms=NOW + 1_000)[1] == []


@pytest.mark.parametrize("cause", [Cause.HANDOVER, Cause.STATIC_RESTART])
def test_what_follows_of_itself_is_not_counted(cause):
    state = replace(QUIET, history=rebalances(*every(1_000, 40), causes=(cause,)))
    assert judged(state)[1] == []
    both = replace(QUIET, history=rebalances(*every(1_000, 40), causes=(Cause.LEAVE, cause)))
    assert judged(both)[1], "a member left as well"


def test_thresholds_of_its_own():
    state = replace(QUIET, history=rebalances(*every(1_000, 3)))
    assert judged(state, storm_rebalances=3)[1] == [("storm", NOW)]
    assert judged(state, storm_rebalances=3, storm_window_ms=2_000)[1] == []
    assert judged(state, storm_rebalances=3, storm_window_ms=2_001)[1] == [("storm", NOW)]


def test_as_many_are_kept_as_a_storm_of_a_cooperative_group_has():
    assert 2 * DetectionSettings().storm_rebalances <= MAX_REBALANCES


@example(ends=[0, 10, 20, 25], enough=3, window_ms=25, now_ms=30)
@given(
    ends=st.lists(st.integers(0, 60), max_size=12),
    enough=st.integers(1, 4),
    window_ms=st.integers(1, 30),
    now_ms=st.integers(0, 70),
)
def test_since_when_there_were_enough_at_some_time_of_the_window(ends, enough, window_ms, now_ms):
    """The oracle looks at every millisecond."""
    ends = sorted(end for end in ends if end <= now_ms)

    def many(instant_ms):
        return sum(instant_ms - window_ms < end <= instant_ms for end in ends) >= enough

    def lately(instant_ms):
        return any(many(earlier_ms) for earlier_ms in range(instant_ms - window_ms, instant_ms + 1))

    since_ms = storm_since_ms(ends, enough, window_ms, Moment(now_ms))
    assert (since_ms is not None) == lately(now_ms)
    if since_ms is not None:
        assert all(lately(instant_ms) for instant_ms in range(since_ms, now_ms + 1))
        assert not lately(since_ms - 1)


# --- what is said -------------------------------------------------------------------------------------------------

SLOW = tuple(replace(member, rebalance_timeout_ms=300_000) for member in MEMBERS)


@pytest.mark.parametrize(
    ("state", "told"),
    [
        pytest.param(
            group(*SLOW, offsets=READ, sampled=RebalanceInProgress(NOW - 200_000, NOW)),
            "The group has been rebalancing for more than 60 s. The coordinator is waiting for members that have not "
            "rejoined, at most 5 min (their rebalance timeout).",
            id="a classic group",
        ),
        pytest.param(
            modern(Phase.RECONCILING, GIVES_BACK, WAITS),
            "The group has been rebalancing toward epoch 3 for more than 60 s. M has not revoked partitions that other "
            "members are waiting for.",
            id="a KIP-848 group in which a member keeps what it is to give back",
        ),
        pytest.param(
            modern(Phase.RECONCILING, WAITS),
            "The group has been rebalancing toward epoch 3 for more than 60 s. Its members have not yet taken "
            "the partitions that the coordinator assigned.",
            id="a KIP-848 group",
        ),
        pytest.param(
            replace(QUIET, history=rebalances(*every(30_000, 20), causes=(Cause.JOIN, Cause.LEAVE))),
            "The group has rebalanced at least 20 times within 10 min (members joined, members left or timed out). "
            "Look for members that restart repeatedly, or that take longer than max.poll.interval.ms between two "
            "polls. With group.instance.id, a restart within the session timeout needs no rebalance.",
            id="a storm of members",
        ),
        pytest.param(
            replace(QUIET, history=rebalances(*every(30_000, 20), causes=(Cause.UNKNOWN,))),
            "The group has rebalanced at least 20 times within 10 min (for reasons that the log does not show).",
            id="a storm that nobody can explain",
        ),
    ],
)
def test_the_sentences(state, told):
    assert NOW == 50 * 60_000
    sentences = [each.sentence for each in judged(state)[0].findings if each.kind is FindingKind.REBALANCE]
    assert sentences == [told]


def test_a_sentence_stays_the_same_while_nothing_changes():
    for state in (
        replace(QUIET, sampled=RebalanceInProgress(ASSIGNED, NOW)),
        replace(QUIET, history=rebalances(*every(9_000, 40))),
    ):
        first, later = (judged(state, now_ms=NOW + more_ms)[0].findings for more_ms in (0, 20_000))
        assert [each.sentence for each in first] == [each.sentence for each in later]
        assert first

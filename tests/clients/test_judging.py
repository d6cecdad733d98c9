"""What groupwatch said is compared with what is true: which findings are false, how soon orphans were told."""

from __future__ import annotations

import pytest

from monitor.model import MembershipStored
from tests.clients.groups import EQUAL, UNEQUAL, Configured, Group
from tests.clients.judging import Orphaning, Recognized, false_alarm, orphanings, recognition
from tests.clients.libraries import KAFKAJS_ROUNDROBIN, RANGE, ROUNDROBIN
from tests.scenarios.judging import Spell
from tests.scenarios.scenario import Told

S = 1000


def generation(number: int, at_s: float) -> MembershipStored:
    return MembershipStored("g", number, "consumer", "x", None, stored_ms=int(at_s * S))


def told(event: str, at_s: float, *numbers: int, reason: str = "leader_unsubscribed", kind: str = "orphaned") -> Told:
    return Told(event, kind, reason, int(at_s * S), int(at_s * S), partitions={"t": numbers})


def delays(left: dict[int, set[int]], *records: Told, began_s: float = 0) -> list[tuple[int, float | None, float]]:
    """Generation 1 at 10 s, 2 at 20 s, and so on, with what each leaves: its number, when told, how long it lasted."""
    found = orphanings(
        [generation(number, 10 * number) for number in left],
        lambda each: frozenset(("t", number) for number in left[each.generation]),
        records,
        began_ms=int(began_s * S),
        end_ms=100 * S,
    )
    return [(each.generation, each.told_s, each.lasted_s) for each in found]


@pytest.mark.parametrize(
    ("left", "records", "expected"),
    [
        pytest.param({1: set()}, [], [], id="nothing is left"),
        pytest.param({1: {0}}, [told("opened", 13, 0)], [(1, 3.0, 90.0)], id="told after three seconds"),
        pytest.param({1: {0, 1}}, [told("opened", 13, 0)], [(1, None, 90.0)], id="not all of them are told"),
        pytest.param(
            {1: {0, 1}},
            [told("opened", 13, 0), told("changed", 17, 0, 1)],
            [(1, 7.0, 90.0)],
            id="all of them are told later",
        ),
        pytest.param(
            {1: {0, 1}},
            [told("opened", 13, 0), told("opened", 14, 1, reason="grew")],
            [(1, 4.0, 90.0)],
            id="for two reasons",
        ),
        pytest.param({1: {0}}, [told("opened", 13, 0, kind="drift")], [(1, None, 90.0)], id="another kind counts not"),
        pytest.param({1: {0}, 2: {0}}, [told("opened", 13, 0)], [(1, 3.0, 90.0)], id="the next one leaves the same"),
        pytest.param({1: {0}, 2: {1}}, [], [(1, None, 10.0), (2, None, 80.0)], id="the next one leaves another"),
        pytest.param(
            {1: {0}, 2: set(), 3: {0}},
            [told("opened", 13, 0)],
            [(1, 3.0, 10.0), (3, 0.0, 70.0)],
            id="still told from before",
        ),
        pytest.param(
            {1: {0}, 2: set(), 3: {0}},
            [told("opened", 13, 0), told("closed", 22, 0), told("opened", 35, 0)],
            [(1, 3.0, 10.0), (3, 5.0, 70.0)],
            id="closed between",
        ),
    ],
)
def test_how_soon_what_nobody_reads_was_told(left, records, expected):
    assert delays(left, *records) == expected


def test_what_was_left_before_the_group_was_watched_does_not_count():
    assert delays({1: {0}, 2: {0, 1}}, told("opened", 23, 0, 1), began_s=15) == [(2, 3.0, 80.0)]


@pytest.mark.parametrize(
    ("told_s", "lasted_s", "late_s", "is_late"),
    [
        pytest.param(8.0, 60.0, 0.0, False, id="in time"),
        pytest.param(8.1, 60.0, 0.0, True, id="too late"),
        pytest.param(8.1, 60.0, 1.0, False, id="the machine was busy"),
        pytest.param(None, 60.0, 0.0, True, id="never"),
        pytest.param(None, 7.9, 0.0, False, id="over before it had to be told"),
    ],
)
def test_what_is_told_too_late(told_s, lasted_s, late_s, is_late):
    assert Orphaning("g", 1, 0, 1, told_s, lasted_s).is_late(late_s) is is_late


def group(client: str = "sarama", strategy: str = RANGE, *, equal: bool = True, fails: bool = False) -> Group:
    return Group("g", (client,), strategy, EQUAL if equal else UNEQUAL, Configured.NOTHING, fails=fails)


def spell(kind: str, reason: str, age_s: float) -> Spell:
    return Spell(kind, reason, 1 * S, 1 * S + int(age_s * S), 1 * S, {})


KAFKAJS = group("kafkajs", KAFKAJS_ROUNDROBIN, equal=False)
LOST = Group("g", ("sarama",), RANGE, EQUAL, Configured.NOTHING, lost=True)
STATIC = Group("g", ("sarama",), RANGE, EQUAL, Configured.NOTHING, static=True)


@pytest.mark.parametrize(
    ("of", "finding", "is_false"),
    [
        pytest.param(group(), spell("orphaned", "pending", 20), False, id="a handover"),
        pytest.param(group(), spell("orphaned", "pending", 21), True, id="a handover that takes too long"),
        pytest.param(group(), spell("orphaned", "assignor_gap", 0), True, id="an orphan"),
        pytest.param(group(), spell("drift", "replayed", 0), True, id="drift"),
        pytest.param(group(), spell("imbalance", "partitions", 0), True, id="imbalance of equal members"),
        pytest.param(group(equal=False), spell("imbalance", "partitions", 99), False, id="of unequal ones"),
        pytest.param(group(equal=False), spell("orphaned", "leader_unsubscribed", 0), True, id="not with Sarama"),
        pytest.param(KAFKAJS, spell("orphaned", "leader_unsubscribed", 0), True, id="all was assigned"),
        pytest.param(group(), spell("dead_member", "silent", 0), True, id="a member that left"),
        pytest.param(STATIC, spell("dead_member", "silent", 9), False, id="a static member that left"),
        pytest.param(group(), spell("unattended", "no_members", 0), True, id="nobody reads"),
        pytest.param(LOST, spell("unattended", "no_members", 99), False, id="its process ended"),
        pytest.param(group(), spell("rebalance", "storm", 0), True, id="a storm"),
        pytest.param(group(fails=True), spell("rebalance", "storm", 99), False, id="a storm of failures"),
    ],
)
def test_what_is_a_false_alarm(of, finding, is_false):
    assert (false_alarm(of, finding, now_ms=10**9, late_s=0) is not None) is is_false


@pytest.mark.parametrize(("span_s", "is_false"), [((0, 2), False), ((0, 1), True), ((1, 9), False), ((2, 9), True)])
def test_what_the_log_shows_without_a_reader_is_no_false_alarm(span_s, is_false):
    """The finding is of second 1."""
    span = span_s[0] * S, span_s[1] * S
    told = spell("orphaned", "leader_unsubscribed", 99)
    assert (false_alarm(KAFKAJS, told, 10**9, 0, [span]) is not None) is is_false
    assert false_alarm(KAFKAJS, spell("orphaned", "assignor_gap", 0), 10**9, 0, [span]) is not None


@pytest.mark.parametrize(
    ("of", "reason", "is_false"),
    [
        pytest.param(KAFKAJS, "leader_unsubscribed", False, id="the cause"),
        pytest.param(KAFKAJS, "grew", True, id="nothing grew"),
        pytest.param(KAFKAJS, "assignor_gap", True, id="no gap"),
        pytest.param(group("kafka-python", equal=False), "grew", False, id="a new leader learns of a topic"),
        pytest.param(group("platformatic-1", ROUNDROBIN), "assignor_gap", False, id="a leader that closes"),
        pytest.param(group(), "assignor_gap", True, id="the leader assigns all"),
    ],
)
def test_of_what_nobody_was_given_the_cause_must_be_true_as_well(of, reason, is_false):
    alarm = false_alarm(of, spell("orphaned", reason, 99), 10**9, 0, not_assigned=[(0, 9 * S)])
    assert (alarm is not None) is is_false


def test_a_busy_machine_prolongs_the_grace():
    assert false_alarm(group(), spell("orphaned", "pending", 24), now_ms=10**9, late_s=4) is None


def member(library: str, *said: str) -> Recognized:
    return Recognized("g", "m", library, "nothing", said, "certain")


def test_the_shares_of_members_that_are_recognized():
    members = [
        member("sarama", "sarama"),
        member("aiokafka", "aiokafka", "kafka-python"),
        member("java", "franz-go"),
        member("kafkajs"),
    ]
    report = recognition(members)
    assert (report["members"], report["as_set"], report["as_one"]) == (4, 0.5, 0.25)
    assert report["by_library"]["aiokafka"] == {"members": 1, "as_set": 1.0, "as_one": 0.0}
    assert report["wrong"] == ["g: m is java, said: ('franz-go',)", "g: m is kafkajs, said: ()"]


def test_unequal_topics_of_a_leader_that_reads_them_all_leave_nothing_out():
    assert KAFKAJS.leaves_topics_out
    assert not group("sarama", ROUNDROBIN, equal=False).leaves_topics_out
    assert group("kafkajs", KAFKAJS_ROUNDROBIN).leaves_topics_out

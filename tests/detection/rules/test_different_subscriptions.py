"""Members of one group that subscribe to different topics, and such as are only deployed. Times are in seconds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from monitor.detection import DetectionSettings, evaluate
from monitor.model import Finding, GroupState, Member, MembershipStored, RebalanceCause
from monitor.tracking.group import fold_group
from tests.support.builders import catalog, member, places, topic

S = 1_000
DAY = 86_400

Topics = dict[str, Sequence[str]]
"""The topics of each application."""

TWO: Topics = {"c1": ["orders"], "c2": ["payments"]}


def stored(at_s: float, names: Iterable[str], topics: Topics, generation: int) -> MembershipStored:
    """A generation; a member is named after its application, and what follows a ``-`` tells it from others."""
    members = tuple(_member(name, topics[name.partition("-")[0]]) for name in names)
    protocol = "range" if members else None
    return MembershipStored("g", generation, "consumer", protocol, None, int(at_s * S), members)


def _member(name: str, topics: Sequence[str]) -> Member:
    return member(name, topics, client_id=name.partition("-")[0], host="/h")


def group(steps: Iterable[tuple[float, str]], topics: Topics = TWO) -> GroupState:
    """The group after a generation at each of these times, with these members."""
    events = [stored(at_s, names.split(), topics, number + 1) for number, (at_s, names) in enumerate(steps)]
    state = fold_group("c", "g", None, events)
    assert state is not None
    return state


def different(state: GroupState, now_s: float) -> list[Finding]:
    found = evaluate(state, catalog(), int(now_s * S), DetectionSettings()).findings
    return [finding for finding in found if finding.reason == "different_subscriptions"]


def restarts(stays: str, times_s: Sequence[float], name: str, *, away_s: float = 3) -> list[tuple[float, str]]:
    """A member that leaves at each of these times and is back soon, with another member id, while others stay."""
    steps = [(times_s[0] - 60, f"{stays} {name}")]
    for number, at_s in enumerate(times_s):
        steps += [(at_s, stays), (at_s + away_s, f"{stays} {name}{number}")]
    return steps


# --- two applications ---------------------------------------------------------------------------------------------


def test_two_services_of_one_group_id_are_a_finding_from_the_third_restart_on():
    """spring-projects/spring-kafka #3784: service C1 reads T1 and C2 reads T2, in group G1 by a misconfiguration."""
    times_s = [100, 130, 160]
    assert different(group(restarts("c1-1", times_s[:2], "c2-1")), 190) == []
    steps = restarts("c1-1", times_s, "c2-1")
    assert different(group(steps), 172) == [], "c1-1 may leave within seconds, and then both are of one process"
    (found,) = different(group(steps), 173)
    assert (found.since_ms, found.members, found.partitions) == (100 * S, (), ())
    assert found.sentence == (
        "Members subscribe to different topics: 1 to orders (client id c1); 1 to payments (client id c2). The "
        "members that subscribe to orders rebalanced 6 times, 6 of them only because other members restarted (at "
        "least 3 restarts). Several applications use this group.id, or a new version of one restarts repeatedly."
    )


def test_restarts_of_less_than_a_minute_are_none_yet():
    times_s = [100, 119, 138, 157]
    assert different(group(restarts("c1-1", times_s[:3], "c2-1")), 300) == []
    assert len(different(group(restarts("c1-1", times_s, "c2-1")), 300)) == 1


def test_rebalances_that_both_cause_are_counted_for_those_that_were_stopped_most():
    both = "c1-1 c1-2 c2-1"
    steps = restarts(both, [100, 130, 160, 190], "c2-2")
    steps += [(210, "c1-1 c2-1 c2-23"), (240, "c1-1 c1-3 c2-1 c2-23"), (270, "c1-1 c1-3 c2-1 c2-23 c2-3")]
    (found,) = different(group(steps), 300)
    assert "2 to orders (client id c1); 3 to payments (client id c2)" in found.sentence
    assert (
        "The members that subscribe to orders rebalanced 11 times, 9 of them only because other members restarted (at "
        "least 4 restarts)." in found.sentence
    )


def test_each_consumer_with_a_topic_of_its_own_stops_all_others():
    """apache/openwhisk #2498: each invoker reads its own topic, in one group. If one fails, the others wait."""
    topics = {f"i{number}": [f"invoker{number}"] for number in range(12)}
    stay = " ".join(f"i{number}-1" for number in range(1, 12))
    (found,) = different(group(restarts(stay, [100, 130, 160], "i0-1"), topics), 200)
    assert found.sentence.startswith("Members subscribe to different topics: 1 to invoker1 (client id i1); 1 to invo")
    assert "; 2 more subscriptions. The members that subscribe to invoker1 rebalanced 6 times, 6 of" in found.sentence


def test_two_consumers_of_one_application_are_a_finding_if_one_of_them_restarts():
    """icanbwell/fhir-server PR #2539: two orchestrator consumers of one group read different topics."""
    topics = {"node": ["import.requested"], "range": ["import.processing.events"]}
    assert len(different(group(restarts("node-1", [100, 170, 240], "range-1"), topics), 260)) == 1


def test_the_same_after_its_rebalances_where_no_member_owns_one_of_the_topics():
    """The same: they "settled into a broken-but-stable state where no member owned any partition" of one topic.

    "unconsumed for hours with no errors or alerts": KafkaJS assigns only the topics of its leader.
    """
    requested, events = "import.requested", "import.processing.events"
    members = (
        member("node-1", [requested], client_id="node", host="/h"),
        member("range-1", [events], {events: [0]}, client_id="range", host="/h"),
    )
    stored_now = MembershipStored("g", 9, "consumer", "RoundRobinAssigner", "range-1", 100 * S, members)
    state = fold_group("c", "g", None, [stored_now])
    assert state is not None
    found = evaluate(state, catalog(topic(requested, 1), topic(events, 1)), 7_200 * S, DetectionSettings()).findings
    assert [(each.reason, each.partitions) for each in found if each.kind == "orphaned"] == [
        ("leader_unsubscribed", places(requested, 0))
    ]


def test_subgroups_of_one_process_whose_topics_overlap_are_no_applications():
    """confluentinc/librdkafka #2847 (2020): "multiple instances of same process" in one group, on purpose: 10 for
    topicA and topicB, 2 for topicC and topicD, 3 for topicB and topicC. Here they are deployed one after the other.
    """
    topics = {"a": ["topicA", "topicB"], "b": ["topicC", "topicD"], "c": ["topicB", "topicC"]}
    names = [f"a-{number}" for number in range(10)] + ["b-1", "b-2", "c-1", "c-2", "c-3"]
    lives = [0] * len(names)
    events = []
    for step in range(len(names) + 1):
        if step:
            lives[step - 1] = 1
        members = [
            member(f"{name}#{life}", topics[name[0]], client_id="rdkafka", host="/h")
            for name, life in zip(names, lives, strict=True)
        ]
        events.append(MembershipStored("g", step + 1, "consumer", "range", None, 60 * step * S, tuple(members)))
    state = fold_group("c", "g", None, events)
    assert state is not None
    assert different(state, 1_000) == []


def test_two_applications_that_share_one_topic_are_told_apart_by_their_client_ids():
    topics = {"c1": ["orders", "control"], "c2": ["payments", "control"]}
    (found,) = different(group(restarts("c1-1", [100, 130, 160], "c2-1"), topics), 190)
    assert (
        "1 to control, orders (client id c1); 1 to control, payments (client id c2). Each of them consumes only a "
        in (found.sentence)
    )


def test_a_static_members_return_is_no_restart():
    def returns(number: int) -> list[Member]:
        static = member(f"c2-{number}", ["payments"], client_id="c2", host="/h", instance_id="c2")
        return [_member("c1-1", ["orders"]), static]

    events = [
        MembershipStored("g", number, "consumer", "range", None, 30 * number * S, tuple(returns(number)))
        for number in range(9)
    ]
    state = fold_group("c", "g", None, events)
    assert state is not None
    assert different(state, 300) == []


def test_what_no_other_member_notices_is_not_counted():
    """A static member that returns stops no other member."""

    def stored_static(at_s: float, generation: int, life: int, *others: str) -> MembershipStored:
        static = member(f"c1-{life}", ["orders"], client_id="c1", host="/h", instance_id="c1")
        members = (static, *[_member(name, TWO[name[:2]]) for name in others])
        return MembershipStored("g", generation, "consumer", "range", None, int(at_s * S), members)

    steps = restarts("", [100, 130, 160], "c2-1")
    events = [stored_static(at_s, number + 1, 0, *names.split()) for number, (at_s, names) in enumerate(steps)]
    again = [stored_static(163 + 20 * life, len(steps), life, "c2-12") for life in (1, 2, 3)]
    state = fold_group("c", "g", None, [*events, *again])
    assert state is not None
    assert [each.causes for each in state.history[-3:]] == [(RebalanceCause.STATIC_RESTART,)] * 3
    (found,) = different(state, 300)
    assert "The members that subscribe to orders rebalanced 6 times, 6 of them" in found.sentence


# --- when it ends -------------------------------------------------------------------------------------------------


def test_it_ends_after_a_day_without_a_restart():
    state = group(restarts("c1-1", [100, 130, 160], "c2-1"))
    assert len(different(state, DAY + 162.999)) == 1
    assert different(state, DAY + 163) == []


def test_it_ends_when_the_other_application_has_been_away_for_five_minutes():
    steps = [*restarts("c1-1", [100, 130, 160], "c2-1"), (400, "c1-1")]
    assert len(different(group(steps), 699.999)) == 1
    assert "none now to payments" in different(group(steps), 420)[0].sentence
    assert different(group(steps), 700) == []


def test_those_that_are_stopped_may_restart_themselves():
    steps = [*restarts("c1-1", [100, 130, 160], "c2-1"), (400, "c2-12")]
    assert len(different(group(steps), 420)) == 1


# --- what is no finding -------------------------------------------------------------------------------------------

OLD_AND_NEW: Topics = {"v1": ["orders"], "v2": ["refunds"]}

SURGE = [
    (100, "v1-1 v1-2 v1-3"),
    (160, "v1-1 v1-2 v1-3 v2-1"),
    (190, "v1-2 v1-3 v2-1"),
    (220, "v1-2 v1-3 v2-1 v2-2"),
    (250, "v1-3 v2-1 v2-2"),
    (280, "v1-3 v2-1 v2-2 v2-3"),
    (310, "v2-1 v2-2 v2-3"),
]
REPLACED = [
    (100, "v1-1 v1-2 v1-3"),
    (160, "v1-2 v1-3"),
    (190, "v1-2 v1-3 v2-1"),
    (220, "v1-3 v2-1"),
    (250, "v1-3 v2-1 v2-2"),
    (280, "v2-1 v2-2"),
    (310, "v2-1 v2-2 v2-3"),
]
ROLLED_BACK = [*SURGE[:5], (270, "v1-3 v2-1"), (300, "v1-3 v1-4 v2-1"), (330, "v1-3 v1-4"), (360, "v1-3 v1-4 v1-5")]


def attempts(count: int) -> list[tuple[float, str]]:
    """So often, a new member comes, an old one leaves, the new one leaves, and an old one is back."""
    old = ["v1-a", "v1-b"]
    steps = [(0.0, " ".join(old))]
    for number in range(count):
        at_s, new = 100.0 + 200 * number, f"v2-{number}"
        steps += [(at_s, " ".join([*old, new])), (at_s + 40, f"{old[1]} {new}"), (at_s + 80, old[1])]
        old = [old[1], f"v1-{number}"]
        steps.append((at_s + 120, " ".join(old)))
    return steps


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(SURGE, id="a new member first"),
        pytest.param(REPLACED, id="an old member first"),
        pytest.param([(at_s * 100, names) for at_s, names in SURGE], id="over hours"),
        pytest.param(ROLLED_BACK, id="rolled back"),
        pytest.param(attempts(5), id="tried five times"),
    ],
)
@pytest.mark.parametrize(
    "topics",
    [
        pytest.param(OLD_AND_NEW, id="other topics"),
        pytest.param({"v1": ["orders"], "v2": ["orders", "refunds"]}, id="one topic more"),
        pytest.param({"v1": ["orders", "logs"], "v2": ["refunds", "logs"]}, id="one of two topics"),
    ],
)
def test_a_rolling_deployment_that_changes_the_subscription_is_none(steps, topics: Topics, at_once: bool):
    if at_once:
        steps = [(at_s / 20, names) for at_s, names in steps]
    for count in range(1, len(steps) + 1):
        assert different(group(steps[:count], topics), steps[count - 1][0] + 60) == []


def test_different_subscriptions_of_a_stable_group_are_none():
    steps = [(10 * number, " ".join(["c1-1 c1-2 c2-1 c2-2"[: 5 * number + 4]])) for number in range(4)]
    assert different(group(steps), 300) == []
    assert different(group([*steps, (5_000, "c1-1 c1-2 c2-1 c2-2 c2-3 c2-4 c2-5")]), 6_000) == []


def test_deployments_of_processes_with_a_consumer_for_each_topic_are_none():
    """The consumers of a process leave and join within seconds; the group may have a generation in between.

    The last deployment has a new version, which reads one topic less.
    """
    topics = {"c1": ["audit", "orders"], "c2": ["payments"], "new": ["orders"]}
    now = [f"{name}-{pod}" for pod in range(3) for name in ("c1", "c2")]
    steps = [(0.0, " ".join(now))]
    for number, version in enumerate(("c1", "c1", "new")):
        for pod in range(3):
            at_s, first, second = 100 + 300 * number + 90 * pod, *now[:2]
            for later_s, come, gone in (
                (0, f"{version}-{pod}{at_s}", ""),
                (3, f"c2-{pod}{at_s}", ""),
                (40, "", second),
                (46, "", first),
            ):
                now = [*[name for name in now if name != gone], *([come] if come else [])]
                steps.append((at_s + later_s, " ".join(now)))
    assert [name[:3] for name in now] == ["new", "c2-"] * 3
    for count in range(1, len(steps) + 1):
        assert different(group(steps[:count], topics), steps[count - 1][0] + 60) == []


def test_members_that_read_more_of_the_same_are_of_one_application():
    topics = {"c1": ["orders"], "c2": ["orders", "payments"]}
    assert different(group(restarts("c1-1", [100, 130, 160], "c2-1"), topics), 190) == []


def test_equal_client_ids_do_not_tell_applications_apart_that_share_a_topic():
    topics = {"c1": ["orders", "control"], "c2": ["payments", "control"]}
    events = []
    for number, (at_s, names) in enumerate(restarts("c1-1", [100, 130, 160], "c2-1")):
        members = [member(name, topics[name[:2]], client_id="app", host="/h") for name in names.split()]
        events.append(MembershipStored("g", number + 1, "consumer", "range", None, at_s * S, tuple(members)))
    state = fold_group("c", "g", None, events)
    assert state is not None
    assert different(state, 190) == []


def test_restarts_while_a_batch_job_is_away_are_none_of_its_own():
    steps = [
        (0, "c1-1 c2-1"),
        (30, "c2-1"),
        *[(at_s + 100, names) for at_s, names in restarts("", [60, 90, 120, 150], "c2-1")],
    ]
    steps = [(at_s, names) for at_s, names in steps if names.strip()]
    assert different(group([*steps, (400, "c1-2 c2-13")]), 430) == []


def test_a_group_of_many_subscriptions_that_starts_as_a_whole_hides_what_was_before():
    topics = {f"i{number}": [f"invoker{number}"] for number in range(6)}
    stay = " ".join(f"i{number}-1" for number in range(1, 6))
    steps = restarts(stay, [100, 130, 160], "i0-1")
    again = " ".join(f"i{number}-9" for number in range(6))
    assert different(group([*steps, (300, again)], topics), 320) == []


def test_names_are_shown_and_not_trusted():
    topics = {"c1": ["a\n"], "c2": ["\u202eb"]}
    (found,) = different(group(restarts("c1-1", [100, 130, 160], "c2-1"), topics), 190)
    assert "1 to a\\n (client id c1); 1 to \\u202eb (client id c2)" in found.sentence

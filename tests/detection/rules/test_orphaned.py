import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.model import FindingKind, Phase, TopicPartitions, WireForm
from tests.support.builders import ASSIGNED, CREATED, NOW, catalog, commit, group, member, places, topic

ORDERS = ("orders",)


def orphaned(state, topics, now_ms=NOW):
    verdict = evaluate(state, topics, now_ms, DetectionSettings())
    return [finding for finding in verdict.findings if finding.kind is FindingKind.ORPHANED]


def two_members(first, second, **more):
    """Two subscribers of orders who own the given partitions of it."""
    return group(member("C0", ORDERS, {"orders": first}), member("C1", ORDERS, {"orders": second}), **more)


@pytest.mark.parametrize(
    ("state", "topics", "reason", "numbers", "since_ms"),
    [
        pytest.param(
            two_members([0, 1], [2, 3]),
            catalog(topic("orders", 7, grown=3)),
            "grew",
            (4, 5, 6),
            ASSIGNED + 5_000,
            id="grew after the generation: since the collector saw it",
        ),
        pytest.param(
            two_members([0, 1], [2, 3]),
            catalog(topic("orders", 7, grown=3, grown_ms=ASSIGNED - 5_000)),
            "grew",
            (4, 5, 6),
            ASSIGNED,
            id="grew just before, the leader's metadata was older: since the generation",
        ),
        pytest.param(
            two_members([0, 1], [2, 3]),
            catalog(topic("orders", 7, seen_ms=ASSIGNED + 9_000)),
            "grew",
            (4, 5, 6),
            ASSIGNED + 9_000,
            id="grew before groupwatch started, explained by the assignment: since groupwatch knows",
        ),
        pytest.param(
            two_members([0, 1], [2, 3]),
            catalog(topic("orders", 7, grown=3, grown_ms=NOW + 1)),
            "grew",
            (4, 5, 6),
            NOW,
            id="seen by a clock ahead of ours: never in the future",
        ),
        pytest.param(
            group(member("C0", ("orders", "new"), {"orders": [0, 1]})),
            catalog(topic("orders", 2), topic("new", 1, seen_ms=ASSIGNED + 7_000)),
            "grew",
            None,
            ASSIGNED + 7_000,
            id="a topic that came after the generation",
        ),
        pytest.param(
            two_members([0], [2, 3]),
            catalog(topic("orders", 4)),
            "assignor_gap",
            (1,),
            ASSIGNED,
            id="a partition in the middle that the leader must have known",
        ),
        pytest.param(
            two_members([0], [2, 3]),
            catalog(topic("orders", 4, seen_ms=ASSIGNED + 9_000)),
            "assignor_gap",
            (1,),
            ASSIGNED,
            id="the same when groupwatch started later than the group",
        ),
        pytest.param(
            two_members([0, 3], [1, 2], protocol="our-own"),
            catalog(topic("orders", 6, grown=2, grown_ms=ASSIGNED - 299_999)),
            "grew",
            (4, 5),
            ASSIGNED,
            id="assignor unknown: exactly those above the highest owned, new when it was assigned",
        ),
        pytest.param(
            two_members([0, 3], [1, 2], protocol="our-own"),
            catalog(topic("orders", 6, grown=2, grown_ms=ASSIGNED - 300_000)),
            "assignor_gap",
            (4, 5),
            ASSIGNED,
            id="assignor unknown: the same, but they had been there for longer than metadata are used",
        ),
        pytest.param(
            two_members([0, 3], [1, 2], protocol="our-own"),
            catalog(topic("orders", 6, seen_ms=ASSIGNED + 9_000), watched_ms=ASSIGNED + 9_000),
            "grew",
            (4, 5),
            ASSIGNED + 9_000,
            id="assignor unknown: the same, and groupwatch cannot know since when they are there",
        ),
        pytest.param(
            group(member("C0", ("orders", "new"), {"orders": [0, 1]}), protocol="our-own"),
            catalog(topic("orders", 2), topic("new", 1, seen_ms=ASSIGNED + 7_000)),
            "grew",
            None,
            ASSIGNED + 7_000,
            id="assignor unknown: a topic that came after the generation",
        ),
        pytest.param(
            group(member("C0", ("orders", "new"), {"orders": [0, 1]}), protocol="our-own"),
            catalog(topic("orders", 2), topic("new", 1)),
            "assignor_gap",
            None,
            ASSIGNED,
            id="assignor unknown: a topic that was there before it, and is missing as a whole",
        ),
        pytest.param(
            group(member("C0", ("orders", "new"), {"orders": [0, 1]}), protocol="our-own"),
            catalog(
                topic("orders", 2, seen_ms=ASSIGNED + 9_000),
                topic("new", 1, seen_ms=ASSIGNED + 9_000),
                watched_ms=ASSIGNED + 9_000,
            ),
            "assignor_gap",
            None,
            ASSIGNED,
            id="assignor unknown: first seen after it only because groupwatch began then",
        ),
        pytest.param(
            group(member("C0", ("orders", "new"), {"orders": [0, 1]})),
            catalog(topic("orders", 2), topic("new", 1)),
            "assignor_gap",
            None,
            ASSIGNED,
            id="a topic that the leader did not know, though it had been there for long",
        ),
        pytest.param(
            group(member("C0", ("orders", "new"), {"orders": [0, 1]})),
            catalog(topic("orders", 2), topic("new", 1, seen_ms=ASSIGNED - 60_000)),
            "grew",
            None,
            ASSIGNED,
            id="a topic that the leader did not know, and that was new then",
        ),
        pytest.param(
            two_members([0], [2, 3], protocol="our-own"),
            catalog(topic("orders", 6)),
            "assignor_gap",
            (1, 4, 5),
            ASSIGNED,
            id="assignor unknown: one below the highest owned, so the count does not explain it",
        ),
    ],
)
def test_partitions_without_an_owner_in_a_living_group(state, topics, reason, numbers, since_ms):
    (finding,) = orphaned(state, topics)
    assert (finding.reason, finding.since_ms) == (reason, since_ms)
    assert finding.partitions == (places("orders", *numbers) if numbers else places("new", 0))


KAFKAJS = {"user_data": b"", "wire": WireForm(subscription_version=0, assignment_version=0, assignment_data=0)}
PLATFORMATIC = {"wire": WireForm(subscription_version=1, assignment_version=0, assignment_data=0), "is_abridged": True}


def by_leader(leader, *, protocol="RoundRobinAssigner", wire=KAFKAJS, **more):
    """A reads orders, B reads orders and mail; all of orders is owned, and nothing of mail."""
    fields = {"protocol": protocol, "leader": leader} | more
    first, second = (
        member("A", ORDERS, {"orders": [0]}, **wire),
        member("B", (*ORDERS, "mail"), {"orders": [1]}, **wire),
    )
    return group(first, second, **fields)


BOTH = (topic("orders", 2), topic("mail", 2))


@pytest.mark.parametrize(
    ("state", "topics", "reason"),
    [
        pytest.param(by_leader("A"), catalog(*BOTH), "leader_unsubscribed", id="KafkaJS"),
        pytest.param(
            by_leader("A", protocol="roundrobin", wire=PLATFORMATIC),
            catalog(*BOTH),
            "leader_unsubscribed",
            id="another's name",
        ),
        pytest.param(by_leader("B"), catalog(*BOTH), "assignor_gap", id="the leader subscribes to it"),
        pytest.param(by_leader(None), catalog(*BOTH), "leader_unsubscribed", id="who leads is not known"),
        pytest.param(
            by_leader("A"),
            catalog(topic("orders", 2), topic("mail", 2, seen_ms=ASSIGNED + 1)),
            "grew",
            id="a topic that came after the generation: nothing is known of it yet",
        ),
        pytest.param(
            by_leader("A"),
            catalog(*(topic(name, 2, seen_ms=ASSIGNED + 1) for name in ("orders", "mail")), watched_ms=ASSIGNED + 1),
            "leader_unsubscribed",
            id="groupwatch began after the generation",
        ),
    ],
)
def test_a_topic_of_which_nothing_is_owned_as_the_leader_does_not_subscribe_to_it(state, topics, reason):
    (finding,) = orphaned(state, topics)
    assert (finding.reason, finding.partitions) == (reason, places("mail", 0, 1))


def test_of_a_leader_of_another_library_it_is_not_said_that_it_assigns_only_its_own_topics():
    """Kafka's Java client makes up client ids of this form, and its leader assigns the topics of all members."""
    java = member("A", ORDERS, {"orders": [0]}, client_id="consumer-g-1")
    state = by_leader("A", protocol="range")
    (finding,) = orphaned(group(java, state.members[1], protocol="range", leader="A"), catalog(*BOTH))
    assert finding.reason == "assignor_gap"


def test_a_topic_that_goes_from_one_member_to_another_was_not_left_out():
    """The first half of a cooperative rebalance, of a topic to which the leader does not subscribe."""
    gone = replace(by_leader("A").members[1], owned=(TopicPartitions("mail", (0, 1)),))
    state = by_leader("A", protocol="our-cooperative")
    (finding,) = orphaned(replace(state, members=(state.members[0], gone)), catalog(*BOTH))
    assert (finding.reason, finding.partitions) == ("pending", places("mail", 0, 1))


def test_nothing_new_is_claimed_of_topics_that_a_leader_leaves_out():
    """No drift from what Kafka's assignor of that name would give, and no advice to wait."""
    wire = {"wire": WireForm(subscription_version=3, assignment_version=3)}
    state = by_leader("A", protocol="cooperative-sticky", wire=wire)
    verdict = evaluate(state, catalog(*BOTH), NOW, DetectionSettings())
    assert [finding.reason for finding in verdict.findings] == ["leader_unsubscribed"]
    assert [row.replayed for row in verdict.partitions if row.topic == "mail"] == [None, None]


def test_drift_says_of_a_topic_that_it_is_new_only_if_it_came():
    """C0 could have all of new; the leader did not know it, though it was there for long before the generation."""
    state = group(member("C0", ("orders", "new"), {"orders": [0, 1]}))
    old = evaluate(state, catalog(topic("orders", 2), topic("new", 1)), NOW, DetectionSettings())
    came = catalog(topic("orders", 2), topic("new", 1, seen_ms=ASSIGNED + 1))
    new = evaluate(state, came, NOW, DetectionSettings())
    (told_old,) = [finding.sentence for finding in old.findings if finding.kind is FindingKind.DRIFT]
    (told_new,) = [finding.sentence for finding in new.findings if finding.kind is FindingKind.DRIFT]
    assert "new is new with 1 partition" in told_new
    assert "is new" not in told_old
    assert "the leader did not know new (1 partition)" in told_old


def test_one_group_can_have_two_reasons():
    """Partition 1 was left out, 4 came later: the one that does not heal by itself first."""
    found = orphaned(two_members([0], [2, 3]), catalog(topic("orders", 5, grown=1)))
    assert [(finding.reason, finding.partitions) for finding in found] == [
        ("assignor_gap", places("orders", 1)),
        ("grew", places("orders", 4)),
    ]


@pytest.mark.parametrize(
    ("state", "reason", "numbers"),
    [
        pytest.param(
            group(member("C0", ORDERS, {"orders": [0]}), offsets=[commit("old", 0), commit("old", 1)]),
            "unsubscribed",
            (0, 1),
            id="a topic that nobody subscribes",
        ),
        pytest.param(
            group(phase=Phase.EMPTY, phase_ms=2_500_000, offsets=[commit("old", 0), commit("gone", 0)]),
            "no_members",
            (0,),
            id="a group that was left, of what exists",
        ),
        pytest.param(
            group(phase=Phase.EMPTY, phase_ms=2_500_000, generation=1, offsets=[commit("old", 2)]),
            "no_members",
            (2,),
            id="a group that was left in its first generation",
        ),
    ],
)
def test_what_was_committed_and_is_read_by_nobody_is_marked_and_no_finding_while_nothing_waits(state, reason, numbers):
    """Commits and ends are 100. A batch job between its runs, and a group that has turned to other topics."""
    verdict = evaluate(state, catalog(topic("orders", 1), topic("old", 3)), NOW, DetectionSettings())
    marked = [(row.topic, row.partition, str(row.orphan)) for row in verdict.partitions if row.orphan]
    assert marked == [("old", number, reason) for number in numbers]
    assert verdict.findings == ()


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (group(phase=Phase.OFFSETS_ONLY, protocol_type="", generation=0, offsets=[commit("orders", 0)]), "simple"),
        (group(phase=Phase.EMPTY, protocol_type="", generation=0, offsets=[commit("orders", 0)]), "never had members"),
        (group(phase=Phase.EMPTY, generation=0, offsets=[commit("orders", 0)]), "no generation yet"),
        (group(member("w", ()), protocol_type="connect", offsets=[commit("orders", 0)]), "not consumers"),
        (
            group(
                member("C0", ORDERS, {"orders": [0]}), member("C1", (), unreadable="short"), offsets=[commit("x", 0)]
            ),
            "the unreadable member may own the rest",
        ),
        (group(member("C0", ORDERS, {"orders": [0, 1]}), offsets=[commit("orders", 9), commit("x", 0)]), "deleted"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_no_orphan_where_it_is_not_certain(state, why):
    topics = catalog(topic("orders", 2)) if why == "deleted" else catalog(topic("orders", 2), topic("x", 1))
    assert orphaned(state, topics) == [], why


def test_grew_orphaned_healed():
    """Orders has 4 partitions, grows to 6, and the next generation gives them out."""
    four, six = catalog(topic("orders", 4)), catalog(topic("orders", 6, grown=2))
    before = two_members([0, 1], [2, 3])
    after = two_members([0, 1, 2], [3, 4, 5], generation=4, generation_ms=ASSIGNED + 60_000)

    def told(state, topics):
        findings = evaluate(state, topics, NOW, DetectionSettings()).findings
        return [(finding.kind.value, finding.reason, finding.partitions) for finding in findings]

    assert told(before, four) == []
    assert told(before, six) == [
        ("orphaned", "grew", places("orders", 4, 5)),
        ("drift", "current", places("orders", 2, 4, 5)),
    ]
    assert told(after, six) == []


def test_a_catalog_that_has_not_caught_up_with_the_generation_accuses_nobody():
    """Orders grew from 4 to 6, the group took them, and the newest collector pass began before that."""
    state = two_members([0, 1, 2], [3, 4, 5])
    old = catalog(topic("orders", 4), pass_ms=ASSIGNED - 1)
    assert evaluate(state, old, NOW, DetectionSettings()).findings == ()


def test_the_age_of_a_finding_is_that_of_its_oldest_partition():
    state = group(member("C0", ("a", "b"), {"a": [0], "b": [0]}))
    topics = catalog(topic("a", 2, grown=1, grown_ms=2_400_000), topic("b", 2, grown=1, grown_ms=2_200_000))
    (finding,) = orphaned(state, topics)
    assert finding.since_ms == 2_200_000
    assert CREATED < finding.since_ms < NOW


@pytest.mark.parametrize(("pass_ms", "told"), [(ASSIGNED, False), (ASSIGNED + 1, True)])
def test_a_topic_that_the_generation_lacks_may_be_gone_until_a_newer_pass_has_seen_it(pass_ms, told):
    state = group(member("C0", ["t", "gone"], {"t": [0, 1]}))
    found = evaluate(state, catalog(topic("t", 2), topic("gone", 2), pass_ms=pass_ms), NOW, DetectionSettings())
    assert bool(found.findings) is told


@pytest.mark.parametrize(("pass_ms", "told"), [(ASSIGNED, []), (ASSIGNED + 1, [("grew", places("orders", 2))])])
@pytest.mark.parametrize("protocol", ["range", "cooperative-sticky"])
def test_a_topic_made_anew_with_fewer_partitions_has_not_grown(protocol, pass_ms, told):
    """Orders had 3 partitions as the newest pass began; the generation has both of the new one, or the leader is late.

    Only a pass after the generation tells which.
    """
    state = two_members([0], [1], protocol=protocol)
    found = orphaned(state, catalog(topic("orders", 3), pass_ms=pass_ms))
    assert [(finding.reason, finding.partitions) for finding in found] == told


def test_with_an_assignor_of_somebody_the_same_is_no_gap_either():
    """By its own assignment such a group is only suspected, and the third partition had been there for long."""
    state = two_members([0], [1], protocol="our-own")
    assert orphaned(state, catalog(topic("orders", 3), pass_ms=ASSIGNED)) == []
    (finding,) = orphaned(state, catalog(topic("orders", 3), pass_ms=ASSIGNED + 1))
    assert finding.reason == "assignor_gap"


def test_partitions_that_were_seen_to_come_after_the_generation_need_no_further_pass():
    (finding,) = orphaned(two_members([0], [1]), catalog(topic("orders", 3, grown=1), pass_ms=ASSIGNED))
    assert (finding.reason, finding.partitions) == ("grew", places("orders", 2))


def test_a_gap_below_what_is_owned_needs_no_further_pass():
    (finding,) = orphaned(two_members([0], [2]), catalog(topic("orders", 3), pass_ms=ASSIGNED))
    assert (finding.reason, finding.partitions) == ("assignor_gap", places("orders", 1))


def test_what_is_on_its_way_to_a_new_member_needs_no_further_pass():
    """C0 had both partitions; it has let go of the last one for C1, which joined."""
    had = (TopicPartitions("orders", (0, 1)),)
    joined = (member("C0", ORDERS, {"orders": [0]}, owned=had), member("C1", ORDERS))
    state = group(*joined, protocol="cooperative-sticky")
    (finding,) = orphaned(state, catalog(topic("orders", 2), pass_ms=ASSIGNED))
    assert (finding.reason, finding.partitions) == ("pending", places("orders", 1))


def test_nobody_is_to_own_what_the_newest_pass_did_not_see():
    """A topic that was deleted, after which the group rebalanced: it is gone for certain with the next pass."""
    gone = topic("gone", 2)
    subscribers = [member(name, ["gone", "orders"], {"orders": own}) for name, own in (("C0", [0]), ("C1", [1]))]
    state = group(*subscribers)
    orders = topic("orders", 2)
    assert verdict_kinds(state, catalog(orders, gone)) == {FindingKind.ORPHANED, FindingKind.DRIFT}
    assert verdict_kinds(state, catalog(orders, replace(gone, missed=True))) == set()


def verdict_kinds(state, topics):
    return {finding.kind for finding in evaluate(state, topics, NOW, DetectionSettings()).findings}

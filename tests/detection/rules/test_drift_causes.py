"""Why an owner is another than expected: every rule of the ladders, and which of them is believed."""

import re

import pytest
from msgspec.structs import replace

from monitor.assignors.dialects import DIALECTS
from monitor.detection import DetectionSettings, evaluate
from monitor.detection.client_libraries.recognition import recognize_libraries
from monitor.detection.ownership.context import Expectation
from monitor.detection.rules.drift_causes import CURRENT, REPLAYED, Cause, Seen, cause_of
from monitor.findings.drift import CurrentDrift, ReplayedDrift
from monitor.findings.observation import Evidence, Observation
from monitor.findings.sentences import sentence_of
from monitor.model import DriftCause, DriftKind, FindingKind, Library, PartitionState, TopicState, WireForm
from monitor.model.evidence import Difference, Growth
from tests.support.builders import CREATED, NOW, catalog, group, member, places, topic

ORDERS = ("orders",)
PLAIN = Expectation(kind="exact")
OF_AIOKAFKA = Expectation(kind="exact", like=(DIALECTS["aiokafka.range"],))
BY_V0 = WireForm(subscription_version=0, assignment_version=0, assignment_data=0)
JAVA = {"client_id": "consumer-g-1"}
PYTHON = {"client_id": "kafka-python-3.0.12", "user_data": b"", "wire": BY_V0}
CHOSEN = {"client_id": "billing"}
UNHEARD_OF = {"client_id": "billing", "user_data": b"x"}


def of(*members, leader="a", **more):
    named = [member(name, topics, **fields) for name, (topics, fields) in zip("abcdef", members, strict=False)]
    return group(*named, leader=leader, **more)


def same(fields):
    return (ORDERS, fields)


@pytest.mark.parametrize(
    ("state", "expectation", "speaking", "cause", "members"),
    [
        pytest.param(of(same(JAVA), same(JAVA)), PLAIN, ["unknown"], DriftCause.UNKNOWN, (), id="nothing to be seen"),
        pytest.param(
            of(same(CHOSEN), same(CHOSEN)), PLAIN, ["unknown"], DriftCause.UNKNOWN, (), id="a chosen id tells nothing"
        ),
        pytest.param(
            of(same(PYTHON), same(JAVA)),
            Expectation(kind="exact", tie=True),
            ["tie", "leader_of_another_library", "different_assignors", "unknown"],
            DriftCause.TIE,
            (),
            id="a tie stays quiet whatever else is seen",
        ),
        pytest.param(
            of(same(JAVA), same(JAVA)),
            OF_AIOKAFKA,
            ["exactly_another_client", "unknown"],
            DriftCause.FOREIGN_CLIENT,
            ("a",),
            id="recomputed exactly",
        ),
        pytest.param(
            of(same(PYTHON), same(JAVA)),
            PLAIN,
            ["leader_of_another_library", "different_assignors", "unknown"],
            DriftCause.FOREIGN_CLIENT,
            ("a",),
            id="the leader is kafka-python's",
        ),
        pytest.param(
            of(same(UNHEARD_OF), same(CHOSEN)),
            PLAIN,
            ["leader_of_another_library", "unknown"],
            DriftCause.FOREIGN_CLIENT,
            ("a",),
            id="the leader's id is chosen, its user data is nobody's",
        ),
        pytest.param(
            of(same(JAVA), same(PYTHON)),
            PLAIN,
            ["different_assignors", "unknown"],
            DriftCause.MIXED_ASSIGNORS,
            ("b",),
            id="the leader is Java's, another is not",
        ),
        pytest.param(
            of(same(JAVA), same(PYTHON), leader=None),
            PLAIN,
            ["different_assignors", "unknown"],
            DriftCause.MIXED_ASSIGNORS,
            ("b",),
            id="two libraries, no leader known",
        ),
        pytest.param(
            of(same(CHOSEN), same(CHOSEN | {"rack": "r1"})),
            PLAIN,
            ["racks", "unknown"],
            DriftCause.RACKS_CHANGED,
            ("b",),
            id="racks",
        ),
        pytest.param(
            of(same(CHOSEN), same(CHOSEN | {"rack": "r1"}), protocol="roundrobin"),
            PLAIN,
            ["unknown"],
            DriftCause.UNKNOWN,
            (),
            id="roundrobin looks at no rack",
        ),
        pytest.param(
            of(same(CHOSEN), same(CHOSEN), (("orders", "bills"), CHOSEN | {"rack": "r1"})),
            PLAIN,
            ["racks", "different_subscriptions", "unknown"],
            DriftCause.RACKS_CHANGED,
            ("c",),
            id="racks before subscriptions",
        ),
        pytest.param(
            of(same(CHOSEN), same(CHOSEN), (("orders", "bills"), CHOSEN)),
            PLAIN,
            ["different_subscriptions", "unknown"],
            DriftCause.MIXED_SUBSCRIPTIONS,
            ("c",),
            id="different subscriptions: the fewer are named",
        ),
        pytest.param(
            of((("a", "b"), CHOSEN), (("b", "a"), CHOSEN)),
            PLAIN,
            ["unknown"],
            DriftCause.UNKNOWN,
            (),
            id="the order of a subscription does not count",
        ),
    ],
)
def test_the_cause_of_a_replayed_drift(state, expectation, speaking, cause, members):
    seen = Seen(state, expectation, recognize_libraries(state))
    assert [rule.__name__ for rule in REPLAYED if rule(seen) is not None] == speaking
    found = cause_of(REPLAYED, seen)
    assert (found.cause, found.members) == (cause, members)


@pytest.mark.parametrize(
    ("state", "expectation", "speaking", "cause"),
    [
        pytest.param(
            of(same(CHOSEN | {"rack": "r1"})),
            Expectation(kind="exact", changes=(Growth(topic="orders", before=1, after=2),)),
            ["topics_changed", "racks", "unknown"],
            DriftCause.METADATA_STALE,
            id="a topic grew",
        ),
        pytest.param(
            of(same(CHOSEN | {"rack": "r1"})), PLAIN, ["racks", "unknown"], DriftCause.RACKS_CHANGED, id="racks"
        ),
        pytest.param(of(same(CHOSEN)), PLAIN, ["unknown"], DriftCause.UNKNOWN, id="nothing"),
    ],
)
def test_the_cause_of_a_current_drift(state, expectation, speaking, cause):
    seen = Seen(state, expectation, recognize_libraries(state))
    assert [rule.__name__ for rule in CURRENT if rule(seen) is not None] == speaking
    assert cause_of(CURRENT, seen).cause == cause


def drift(state, topics):
    verdict = evaluate(state, topics, NOW, DetectionSettings())
    (finding,) = [finding for finding in verdict.findings if finding.kind is FindingKind.DRIFT]
    return finding


def given(name, *partitions, **more):
    return member(name, ORDERS, {"orders": partitions}, **more)


def test_an_assignment_by_member_id_is_exactly_aiokafkas():
    """Kafka: b, which is static, comes first: [0 1] to b, [2] to a. By member id a has [0 1]."""
    state = group(given("a", 0, 1), given("b", 2, instance_id="i"), leader="b")
    finding = drift(state, catalog(topic("orders", 3)))
    assert (finding.reason, finding.cause) == (DriftKind.REPLAYED, DriftCause.FOREIGN_CLIENT)
    assert finding.sentence.endswith(
        "The range of Sarama, aiokafka or librdkafka computes exactly this assignment. The group leader is b."
    )


def test_an_assignment_without_half_of_the_static_members_is_exactly_kafka_pythons():
    """Members as they stand: static i1, dynamic, static i2. kafka-python loses the first run, so c gets 0 too."""
    state = group(given("a", instance_id="i1"), given("b", 2), given("c", 0, 1, instance_id="i2"), leader="a")
    finding = drift(state, catalog(topic("orders", 3)))
    assert finding.cause is DriftCause.FOREIGN_CLIENT
    assert finding.sentence.endswith(
        "The range of kafka-python computes exactly this assignment. The group leader is a."
    )
    assert finding.partitions == places("orders", 0)


def of_a_library_that_assigns_so(*members, **more):
    """As recognized by the client ids and bytes of kafka-python."""
    return group(*[replace(each, **PYTHON) for each in members], **more)


def test_what_the_leader_s_own_library_gives_is_no_drift():
    state = of_a_library_that_assigns_so(
        given("a", instance_id="i1"), given("b", 2), given("c", 0, 1, instance_id="i2"), leader="a"
    )
    verdict = evaluate(state, catalog(topic("orders", 3)), NOW, DetectionSettings())
    assert verdict.expectation == "exact"
    assert not [finding for finding in verdict.findings if finding.kind is FindingKind.DRIFT]


def test_what_the_leader_s_own_library_does_not_give_is_expected_as_it_gives_it():
    """By its range a has 0 and 1, and b has 2. The owner who should have a partition is named."""
    state = of_a_library_that_assigns_so(given("a", 2), given("b", 0, 1), leader="a")
    finding = drift(state, catalog(topic("orders", 3)))
    assert (finding.reason, finding.partitions) == (DriftKind.REPLAYED, places("orders", 0, 1, 2))
    assert finding.sentence == (
        "3 partitions of orders (0-2) have a different owner than the assignor range of kafka-python computes for "
        "generation 3. For example, partition 0 of orders should belong to kafka-python-3.0.12 (a) but belongs to "
        "kafka-python-3.0.12 (b). The group leader is kafka-python-3.0.12 (a). groupwatch knows the assignor of "
        "kafka-python 3.0.12; another release may assign differently."
    )


def test_what_a_checked_assignor_cannot_give_is_told_by_the_place_that_shows_it():
    """Sarama's sticky has no one answer, but never gives one member two partitions more than another."""
    sarama = {"client_id": "sarama", "wire": WireForm(subscription_version=1, assignment_version=0)}
    state = group(given("a", 0, 1, 2, **sarama), given("b", **sarama), protocol="sticky", leader="a")
    finding = drift(state, catalog(topic("orders", 3)))
    assert (finding.reason, len(finding.partitions)) == (DriftKind.REPLAYED, 1)
    assert finding.sentence.startswith("The assignor sticky of Sarama cannot have computed the assignment of ")
    assert "a move of it would make the assignment more even." in finding.sentence
    assert finding.sentence.endswith(
        "groupwatch knows the assignor of Sarama 1.61.1; another release may assign differently."
    )


def test_an_assignment_by_older_metadata_of_another_client_is_recognised_too():
    """As the one by member id, of 3 partitions, where 5 existed by then."""
    state = group(given("a", 0, 1), given("b", 2, instance_id="i"))
    finding = next(
        f
        for f in evaluate(state, catalog(topic("orders", 5)), NOW, DetectionSettings()).findings
        if f.reason == DriftKind.REPLAYED
    )
    assert finding.sentence.endswith("The range of Sarama, aiokafka or librdkafka computes exactly this assignment.")


def racked(name, *racks):
    states = (
        PartitionState(partition=number, first_seen_ms=CREATED, racks=(rack,)) for number, rack in enumerate(racks)
    )
    return TopicState(cluster="c", topic=name, pass_ms=NOW, partitions=tuple(states))


def test_an_assignment_that_passes_over_racks_is_that_of_a_library_that_does():
    """Kafka: each reads what lies on its rack, a 1 and b 0. Without racks a has 0."""
    state = group(given("a", 0, rack="r2"), given("b", 1, rack="r1"))
    finding = drift(state, catalog(racked("orders", "r1", "r2")))
    assert re.search(r"The range of [\w @/,-]+ computes exactly this assignment\.$", finding.sentence)


def test_what_no_client_gives_is_no_client_s():
    """All to "b" is nobody's range; what is left is that the members use two libraries."""
    state = group(given("a", **JAVA), given("b", 0, 1, 2, instance_id="i", **PYTHON), leader="a")
    finding = drift(state, catalog(topic("orders", 3)))
    assert finding.cause is DriftCause.MIXED_ASSIGNORS
    assert finding.sentence.endswith(
        "Likely cause: the members do not all have the same range: they use Kafka's Java client and kafka-python; "
        "kafka-python-3.0.12 differs from the rest."
    )


def test_a_hostile_member_id_is_shown_escaped():
    state = group(given("a\n", 1, user_data=b"x"), given("b", 0), leader="a\n")
    assert "the group leader, a\\n, does not encode" in drift(state, catalog(topic("orders", 2))).sentence


def said_of(evidence: Evidence) -> str:
    return sentence_of(Observation(FindingKind.DRIFT, DriftKind.REPLAYED, 0, evidence), group())


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        pytest.param(
            Cause(DriftCause.MIXED_ASSIGNORS, members=("b",), libraries=(Library.AIOKAFKA, Library.JAVA)),
            "Likely cause: the members do not all have the same range: they use aiokafka and Kafka's Java client; b "
            "differs from the rest.",
            id="libraries",
        ),
        pytest.param(
            Cause(DriftCause.RACKS_CHANGED, members=("b",)),
            "Likely cause: the assignor considers racks, and the racks of members or partitions have changed since.",
            id="racks",
        ),
        pytest.param(
            Cause(DriftCause.MIXED_SUBSCRIPTIONS, members=("b",)),
            "The members subscribe to different topics, which implementations of range can treat differently. The "
            "subscription of b differs from the others.",
            id="subscriptions",
        ),
        pytest.param(
            Cause(DriftCause.UNKNOWN),
            "The group leader may run a different implementation or version of the assignor.",
            id="unknown",
        ),
    ],
)
def test_the_sentence_tells_the_cause_and_what_was_seen(cause, told):
    sentence = said_of(ReplayedDrift(Difference(places("orders", 2), expected=("a",), actual=()), cause))
    assert sentence == (
        "1 partition of orders (2) has a different owner than the assignor range computes for generation 3. It should "
        f"belong to a but belongs to no member. {told}"
    )


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        (
            DriftCause.RACKS_CHANGED,
            "Likely cause: the assignor considers racks, and the racks of members or partitions have changed.",
        ),
        (
            DriftCause.UNKNOWN,
            "groupwatch detected no change of the assignor's inputs: from the members' current partitions, the "
            "assignor would move partitions.",
        ),
    ],
)
def test_the_sentence_of_a_current_drift_tells_the_cause(cause, told):
    difference = Difference(places("orders", 2), expected=("a",), actual=("b",))
    assert said_of(CurrentDrift(difference, Cause(cause), ())).endswith(f"It belongs to b but would go to a. {told}")

"""The library of each member of 52 real groups is recognized, also where nothing but its bytes tells it."""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec.structs import replace

from monitor.detection.client_libraries.recognition import recognize_libraries
from monitor.model import Certainty, GroupKind, GroupState, Library, Member, TopicPartitions, WireForm
from tests.detection.ownership.test_client_libraries import captured, state_of

JAVA_V3 = WireForm(subscription_version=3, assignment_version=3)


def library_in(name: str) -> Library:
    return Library(captured()[name]["library"].removesuffix("-1.35").removesuffix("-v4"))


def with_chosen_names(state: GroupState) -> GroupState:
    """The group as configured by somebody: neither a client id nor a timeout is a library's default."""
    members = [
        replace(m, client_id="app", session_timeout_ms=7_000, rebalance_timeout_ms=70_000) for m in state.members
    ]
    return replace(state, members=tuple(members))


@pytest.mark.parametrize("name", sorted(captured()))
def test_every_member_is_recognized_as_one_library(name: str):
    found = recognize_libraries(state_of(name))
    assert {library.one for library in found.values()} == {library_in(name)}
    assert len(found) == len(state_of(name).members)


@pytest.mark.parametrize("name", sorted(captured()))
def test_by_its_bytes_alone_the_set_contains_the_library(name: str):
    found = recognize_libraries(with_chosen_names(state_of(name)))
    assert all(library_in(name) in library.libraries for library in found.values())


def test_the_bytes_alone_tell_all_but_those_that_write_alike():
    """kafka-python, aiokafka and old librdkafka write the same; so do Sarama, platformatic and old Java clients."""
    sizes = Counter(
        (library_in(name).value, len(library.libraries))
        for name in captured()
        for library in recognize_libraries(with_chosen_names(state_of(name))).values()
    )
    alone = sum(count for (_, size), count in sizes.items() if size == 1)
    assert alone / sum(sizes.values()) >= 0.7
    assert {name for name, size in sizes if size > 1} == {"aiokafka", "kafka-python", "sarama", "platformatic"}


def group_of(*members: Member, **fields: object) -> GroupState:
    known: dict[str, object] = {"cluster": "c", "group": "g", "protocol": "range", "protocol_type": "consumer"}
    return GroupState(**(known | fields), members=members)  # type: ignore[arg-type]


def test_a_client_id_counts_only_among_the_libraries_that_the_bytes_allow():
    impostor = Member(member_id="m", client_id="sarama", user_data=b"", rack="", wire=WireForm(subscription_version=3))
    (found,) = recognize_libraries(group_of(impostor)).values()
    assert (found.libraries, found.certainty) == ((Library.LIBRDKAFKA,), Certainty.CERTAIN)


@pytest.mark.parametrize(
    ("client_id", "label", "versions"),
    [
        ("consumer-g-1", "java", "3.4 or newer"),
        ("consumer-1", "java", "3.4 or newer"),
        ("consumer-other-1", "franz-go or java", None),
        ("kgo", "franz-go", None),
    ],
)
def test_the_default_client_id_decides_between_them(client_id: str, label: str, versions: str | None):
    (found,) = recognize_libraries(group_of(Member(member_id="m", client_id=client_id, wire=JAVA_V3))).values()
    assert (found.label, found.versions) == (label, versions)


def test_a_release_in_the_client_id_is_told():
    member = Member(member_id="m", client_id="aiokafka-0.14.0", user_data=b"", wire=WireForm(subscription_version=0))
    (found,) = recognize_libraries(group_of(member)).values()
    assert (found.one, found.certainty, found.versions) == (Library.AIOKAFKA, Certainty.LIKELY, "0.14.0")


@pytest.mark.parametrize(("assignment_version", "library"), [(0, "franz-go"), (3, "java")])
def test_a_member_configured_as_the_leader_uses_its_library(assignment_version: int, library: str):
    """The assignment, which only the leader writes, tells its library; another instance of the program has the same."""
    wire = replace(JAVA_V3, assignment_version=assignment_version)
    leader = Member(member_id="l", client_id="app", wire=wire, assigned=(TopicPartitions("t", (0,)),))
    other, stranger = replace(leader, member_id="o"), replace(leader, member_id="s", client_id="another")
    found = recognize_libraries(group_of(leader, other, stranger, leader="l"))
    assert {name: (each.label, each.certainty) for name, each in found.items()} == {
        "l": (library, Certainty.CERTAIN),
        "o": (library, Certainty.LIKELY),
        "s": ("franz-go or java", Certainty.POSSIBLE),
    }


def test_a_leader_that_has_assigned_nothing_tells_nothing():
    leader = Member(member_id="l", client_id="app", wire=JAVA_V3)
    assert recognize_libraries(group_of(leader, leader="l"))["l"].label == "franz-go or java"


def test_members_of_other_systems_have_no_kafka_library():
    assert recognize_libraries(group_of(Member(member_id="m"), kind=GroupKind.ROCKETMQ.value)) == {}


def test_in_a_group_of_kafka_streams_all_are_java():
    (found,) = recognize_libraries(group_of(Member(member_id="m", wire=JAVA_V3), protocol="stream")).values()
    assert found.one is Library.JAVA


def test_an_unknown_form_tells_nothing():
    member = Member(member_id="m", user_data=b"\x01\x02\x03", wire=WireForm(subscription_version=2))
    (found,) = recognize_libraries(group_of(member)).values()
    assert (found.libraries, found.certainty) == ((), Certainty.UNKNOWN)

"""What each library reads of a member's past, from bytes written by hand."""

from __future__ import annotations

import pytest

from monitor.assignors import AssignorError
from monitor.assignors.dialects.sticky.memories import (
    read_fields,
    read_fields_or_bare_generation,
    read_fields_or_java_form,
    read_java_form,
    read_lenient_java_form,
    read_strictly,
    read_versioned_form,
)
from monitor.model import Member, TopicPartitions
from monitor.protocol.kafka.sticky_user_data import PriorAssignment

T03 = (TopicPartitions("t", (0, 3)),)
OLD = bytes.fromhex("00000001 0001 74 00000002 00000000 00000003")  # version 0 of Java's form has no generation
JAVA = OLD + bytes.fromhex("00000007")
MINUS_ONE = OLD + bytes.fromhex("ffffffff")
VERSIONED = bytes.fromhex("0001") + JAVA
VERSION_0 = bytes.fromhex("0000") + OLD


def memory(generation, owned=T03):
    return PriorAssignment(owned=owned, generation=generation)


FAILS = "the leader fails"


@pytest.mark.parametrize(
    ("data", "strict", "java", "lenient", "versioned"),
    [
        # the generation that Sarama, aiokafka, franz-go and kafka-python read; None: a memory of nothing
        pytest.param(None, None, None, None, None, id="none"),
        pytest.param(b"", FAILS, None, None, None, id="empty"),
        pytest.param(JAVA, 7, 7, 7, None, id="Java's form"),
        pytest.param(OLD, -1, None, 0, None, id="Java's form without a generation"),
        pytest.param(MINUS_ONE, -1, -1, 0, None, id="generation -1"),
        pytest.param(JAVA + b"?", FAILS, 7, 7, None, id="something behind it"),
        pytest.param(VERSIONED, FAILS, None, None, 7, id="kafka-python's form"),
        pytest.param(VERSION_0, FAILS, None, None, -1, id="its version 0"),
        pytest.param(b"\x00", FAILS, None, None, None, id="one byte"),
    ],
)
def test_user_data_is_read_as_the_library_reads_it(data, strict, java, lenient, versioned):
    member = Member(member_id="C0", user_data=data)
    if strict is FAILS:
        with pytest.raises(AssignorError, match="C0"):
            read_strictly(member)
    else:
        assert says(read_strictly(member), strict)
    assert says(read_java_form(member), java)
    assert says(read_lenient_java_form(member), lenient)
    assert says(read_versioned_form(member), versioned)


def says(read, generation):
    return not read.owned if generation is None else read == memory(generation)


def test_fields_come_first_where_they_have_a_generation():
    member = Member(member_id="C0", owned=T03, generation=4, user_data=JAVA)
    for read in (read_fields, read_fields_or_bare_generation, read_fields_or_java_form):
        assert read(member) == memory(4)


def test_the_user_data_may_have_the_generation_that_the_fields_lack():
    without = Member(member_id="C0", owned=T03, user_data=bytes.fromhex("00000009"))
    assert read_fields(without) == memory(-1)
    assert read_fields_or_bare_generation(without) == memory(9)
    assert read_fields_or_bare_generation(Member(member_id="C0", owned=T03)) == memory(-1)
    franz_go = Member(member_id="C0", owned=(TopicPartitions("u", (1,)),), user_data=JAVA)
    assert read_fields_or_java_form(franz_go) == memory(7)

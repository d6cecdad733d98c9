"""The texts of fields are those under the fields; what many fields share is written once."""

import msgspec
import pytest

from monitor.model import GroupVerdict, Handover, TopicPartition
from monitor.web.api.endpoints import ADDRESSES
from monitor.web.api.field_texts import COMMON, meaning, structs_by_name
from monitor.web.views.summary import ToldVerdict

STRUCTS = structs_by_name([each.answer.type for each in ADDRESSES if each.answer.type is not None])


def test_a_field_has_the_text_under_it():
    assert meaning(Handover, "heir") == "The id of the target owner; absent: none."


def test_a_text_of_several_lines_is_one_line():
    assert meaning(GroupVerdict, "lag_since_ms") == (
        "When the oldest record of the lag was written (ms since the epoch), as estimated from the end offsets that "
        "were seen."
    )


def test_an_inherited_field_has_the_text_of_the_class_it_is_from():
    assert meaning(ToldVerdict, "handovers") == "Partitions of a KIP-848 group that move from one member to another."


def test_a_field_that_is_written_again_has_its_new_text():
    assert meaning(GroupVerdict, "findings") == "Its findings, worst first."
    assert meaning(ToldVerdict, "findings") == "Its findings, worst first, with severity and advice."


def test_a_field_without_a_text_means_what_its_name_means():
    assert meaning(TopicPartition, "topic") == "The topic."


def test_a_field_without_any_text_is_refused():
    class Undescribed(msgspec.Struct):
        neither: int

    with pytest.raises(KeyError, match="neither"):
        meaning(Undescribed, "neither")


def test_structs_are_found_in_the_fields_of_others():
    found = structs_by_name([ToldVerdict])
    assert {"ToldVerdict", "MemberVerdict", "ClientLibrary", "AdvisedFinding", "TopicPartition"} <= found.keys()
    assert "GroupSummary" not in found


@pytest.mark.parametrize("name", COMMON)
def test_a_common_text_is_that_of_several_fields(name):
    using = [
        struct
        for struct in STRUCTS.values()
        if name in struct.__struct_encode_fields__ and meaning(struct, name) == COMMON[name]
    ]
    assert len(using) > 1

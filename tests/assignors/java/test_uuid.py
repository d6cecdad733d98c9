"""Kafka's Uuids. What is accepted and refused, and the order, was asked of ``Uuid`` of kafka-clients 4.3.1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assignors.java.uuid import Uuid, parse_uuid

longs = st.integers(-(2**63), 2**63 - 1)


@given(longs, longs)
def test_text_and_back(most, least):
    uuid = Uuid(most, least)
    assert parse_uuid(str(uuid)) == uuid
    assert len(str(uuid)) == 22


def test_known_texts():
    texts = {
        "AAAAAAAAAAAAAAAAAAAAAA": Uuid(most=0, least=0),
        "__________8AAAAAAAAAAA": Uuid(-1, 0),
        "gAAAAAAAAAAAAAAAAAAABw": Uuid(-(2**63), 7),
        "f___________________-Q": Uuid(2**63 - 1, -7),
        "AAAAAAAAAAGeN3m5f0p8FQ": Uuid(1, -7046029254386353131),
    }
    assert {text: parse_uuid(text) for text in texts} == texts
    assert [str(uuid) for uuid in texts.values()] == list(texts)


@pytest.mark.parametrize("text", ["AAAAAAAAAAAAAAAAAAAAAB", "AAAAAAAAAAAAAAAAAAAAAA=="])
def test_padding_and_spare_bits_are_overlooked(text):
    assert parse_uuid(text) == Uuid(most=0, least=0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "AAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAA=",
        "AAAA+AAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAA\nAA",
        "AAAAAAAAAAAAAAAAAAAAAA\n",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "ÄAAAAAAAAAAAAAAAAAAAAA",
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(ValueError, match="not a Uuid"):
        parse_uuid(text)


def test_both_halves_are_signed():
    ordered = [Uuid(-(2**63), 7), Uuid(-1, 0), Uuid(0, -1), Uuid(0, 0), Uuid(1, 0), Uuid(2**63 - 1, -7)]
    found = ordered[::-1]
    found.sort()
    assert found == ordered

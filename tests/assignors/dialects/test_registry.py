"""The table of dialects, by hand: README of the libraries' names, versions and what is known of each."""

from __future__ import annotations

import pytest

from monitor.assignors.dialects import DIALECTS, Exactness, ReplayedDialect, dialects_of
from monitor.model import Library

EXACT, ORDERS, CHECKED = Exactness.EXACT, Exactness.ORDERS, Exactness.CHECKED
KNOWN = {
    Library.SARAMA: ("1.61.1", {"range": EXACT, "roundrobin": EXACT, "sticky": CHECKED, "cooperative-sticky": CHECKED}),
    Library.KAFKA_GO: ("0.4.51", {"range": EXACT, "roundrobin": EXACT, "rack-affinity": CHECKED}),
    Library.FRANZ_GO: (
        "1.22.2",
        {"range": EXACT, "roundrobin": EXACT, "sticky": CHECKED, "cooperative-sticky": CHECKED},
    ),
    Library.KAFKAJS: ("2.2.4", {"RoundRobinAssigner": EXACT}),
    Library.PLATFORMATIC: ("2.12.1", {"roundrobin": ORDERS, "cooperative-sticky": EXACT}),
    Library.KAFKA_PYTHON: (
        "3.0.12",
        {"range": ORDERS, "roundrobin": ORDERS, "sticky": ORDERS, "cooperative-sticky": ORDERS},
    ),
    Library.AIOKAFKA: ("0.14.0", {"range": EXACT, "roundrobin": EXACT, "sticky": ORDERS}),
    Library.LIBRDKAFKA: ("2.16.1", {"range": ORDERS, "roundrobin": ORDERS, "cooperative-sticky": ORDERS}),
}


def test_every_strategy_of_every_library_has_its_row():
    rows = {
        (library, protocol): (f"{library}.{protocol}", version, exactness)
        for library, (version, protocols) in KNOWN.items()
        for protocol, exactness in protocols.items()
    }
    assert len(rows) == 24
    assert {(row.library, row.protocol): (row.name, row.version, row.exactness) for row in DIALECTS.values()} == rows
    assert [*DIALECTS] == [row.name for row in DIALECTS.values()]


@pytest.mark.parametrize("name", DIALECTS)
def test_what_is_not_only_checked_is_replayed(name):
    row = DIALECTS[name]
    assert isinstance(row.rule, ReplayedDialect) is (row.exactness is not CHECKED)


def test_java_has_no_dialect_and_every_other_library_has_one():
    assert {row.library for row in DIALECTS.values()} == set(Library) - {Library.JAVA}


def test_dialects_are_found_by_the_name_on_the_wire():
    assert [row.library for row in dialects_of("cooperative-sticky")] == [
        Library.SARAMA,
        Library.FRANZ_GO,
        Library.PLATFORMATIC,
        Library.KAFKA_PYTHON,
        Library.LIBRDKAFKA,
    ]
    assert dialects_of("stream") == ()

"""Which connection goes, by a table of small cases; the time is made up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.web.http.connections import Awaits, Connection, Connections, client_of
from monitor.web.http.limits import Limits

LIMITS = Limits(request_s=10, idle_s=60, stall_s=20, answer_s=300, linger_s=5, connections=4, connections_of_a_client=2)


class Wire:
    """A transport that remembers what was done to it."""

    def __init__(self) -> None:
        self.aborted = self.closing = False
        self.unsent = 0

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.closing

    def get_write_buffer_size(self) -> int:
        return self.unsent


def opened(connections: Connections, client: str, now: float, awaits: Awaits = Awaits.REQUEST) -> tuple[bool, Wire]:
    wire = Wire()
    connection = Connection(client, wire, now)
    connection.turns_to(awaits, now)
    return connections.admit(connection), wire


@pytest.mark.parametrize(
    ("awaits", "full", "last", "first_too_late"),
    [
        pytest.param(Awaits.REQUEST, False, 10, 10.1, id="a request"),
        pytest.param(Awaits.NEXT_REQUEST, False, 60, 60.1, id="another request"),
        pytest.param(Awaits.ANSWER, False, 300, 300.1, id="an answer"),
        pytest.param(Awaits.ANSWER, True, 20, 20.1, id="a reader"),
        pytest.param(Awaits.NEXT_REQUEST, True, 20, 20.1, id="the reader of an answer that was handed over"),
    ],
)
def test_each_wait_has_its_limit(awaits, full, last, first_too_late):
    connections, wire = Connections(LIMITS), Wire()
    connection = Connection("a", wire, 0.0)
    connection.turns_to(awaits, 0.0)
    connections.admit(connection)
    if full:
        connection.full(0.0)
    connections.sweep(last)
    assert not wire.aborted
    connections.sweep(first_too_late)
    assert wire.aborted
    assert len(connections) == 0


def test_more_of_the_same_request_gives_no_more_time():
    connection = Connection("a", Wire(), 0.0)
    connection.turns_to(Awaits.REQUEST, 9.0)
    assert connection.is_overdue(10.5, LIMITS)


def test_a_reader_that_has_read_has_all_the_time_again():
    connection = Connection("a", Wire(), 0.0)
    connection.turns_to(Awaits.ANSWER, 0.0)
    connection.full(1.0)
    connection.taken()
    connection.full(19.0)
    assert not connection.is_overdue(38.0, LIMITS)
    assert connection.is_overdue(40.0, LIMITS)


@pytest.mark.parametrize("inside", [False, True], ids=["plain", "TLS inside that closes for ever"])
def test_what_is_closing_may_linger_and_then_ends(inside):
    wire, secured = Wire(), Wire()
    connection = Connection("a", wire, 0.0)
    connection.secured(secured)
    (secured if inside else wire).closing = True
    assert not connection.is_overdue(0.0, LIMITS)
    assert not connection.is_overdue(5.0, LIMITS)
    assert connection.is_overdue(5.1, LIMITS)


def test_for_a_client_with_too_many_its_own_longest_waiting_goes():
    connections = Connections(LIMITS)
    _, other = opened(connections, "b", 0.0)
    wires = [opened(connections, "a", now)[1] for now in (1.0, 2.0, 3.0)]
    assert [wire.aborted for wire in wires] == [True, False, False]
    assert not other.aborted


def test_when_all_are_too_many_one_goes_of_the_client_that_has_most():
    connections = Connections(LIMITS)
    _, lonely = opened(connections, "b", 0.0)
    _, first = opened(connections, "a", 1.0)
    opened(connections, "a", 2.0)
    opened(connections, "c", 3.0)
    admitted, _ = opened(connections, "d", 4.0)
    assert (admitted, first.aborted, lonely.aborted, len(connections)) == (True, True, False, 4)


def test_whoever_waits_for_us_does_not_go_and_then_the_new_one_is_not_taken():
    connections = Connections(LIMITS)
    _, served = opened(connections, "a", 0.0, Awaits.ANSWER)
    _, waiting = opened(connections, "a", 1.0)
    assert opened(connections, "a", 2.0, Awaits.ANSWER)[0]
    assert (served.aborted, waiting.aborted) == (False, True)
    assert not opened(connections, "a", 3.0)[0]
    assert len(connections) == 2


def test_of_unread_answers_those_go_that_were_read_longest_ago_until_the_rest_is_little_enough():
    connections, wires = Connections(Limits(unread_bytes=120)), [Wire() for _ in range(4)]
    for number, wire in enumerate(wires):
        connection = Connection("a", wire, 0.0)
        connection.turns_to(Awaits.ANSWER, 0.0)
        connection.unsent_bytes = 60
        connections.admit(connection)
        if number > 0:  # the first one reads
            connection.full(5.0 - number)
    connections.sweep(6.0)
    assert [wire.aborted for wire in wires] == [False, False, True, True]  # of 240, two of 60 each


def test_at_a_stop_only_those_end_at_once_of_which_nothing_is_lost():
    connections = Connections(Limits())
    _, idle = opened(connections, "a", 0.0, Awaits.NEXT_REQUEST)
    _, unsent = opened(connections, "a", 0.0, Awaits.NEXT_REQUEST)
    _, served = opened(connections, "a", 0.0, Awaits.ANSWER)
    unsent.unsent = 1
    connections.end_idle()
    assert (idle.aborted, unsent.aborted, served.aborted) == (True, False, False)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from(Awaits)), max_size=40))
def test_there_are_never_more_than_the_limits_say(arrivals):
    connections, admitted = Connections(LIMITS), 0
    for now, (client, awaits) in enumerate(arrivals):
        admitted += opened(connections, client, float(now), awaits)[0]
        clients = [connection.client for connection in connections]
        assert len(connections) == len(clients) <= LIMITS.connections
        assert all(clients.count(each) <= LIMITS.connections_of_a_client for each in clients)
    for connection in list(connections):
        connections.forget(connection)
        connections.forget(connection)
    assert len(connections) == 0


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("192.0.2.1", 1), ("192.0.2.1", 2), True),
        (("192.0.2.1", 1), ("192.0.2.2", 1), False),
        (("::ffff:192.0.2.1", 1, 0, 0), ("192.0.2.1", 1), True),
        (("2001:db8::1", 1, 0, 0), ("2001:db8::ffff:1", 1, 0, 0), True),
        (("2001:db8:0:1::1", 1, 0, 0), ("2001:db8:0:2::1", 1, 0, 0), False),
        (("fe80::1%eth0", 1, 0, 2), ("fe80::2%eth0", 1, 0, 2), True),
    ],
)
def test_clients_are_told_apart_by_address_or_network(one, other, same):
    assert (client_of(one) == client_of(other)) is same

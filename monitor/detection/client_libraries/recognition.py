"""Which client library a member uses: by its bytes, then by its client id, its timeouts, and its group leader.

The bytes count most, where one library alone writes them so. Anybody may choose a client id, also one that looks like
another library's default. So it counts only among the libraries that the bytes allow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from monitor.detection.client_libraries.habits import (
    ASSIGNMENT_FORMS,
    DEFAULTS,
    GROUP,
    SUBSCRIPTION_FORMS,
    SubscriptionForm,
)
from monitor.model import (
    KINDS,
    UNKNOWN_LIBRARY,
    Certainty,
    ClientLibrary,
    GroupState,
    Library,
    Member,
    Value,
    traits_of,
)
from monitor.protocol.kafka.sticky_user_data import UserDataForm, user_data_forms

KAFKA_STREAMS: Final = ClientLibrary((Library.JAVA,), Certainty.CERTAIN)
"""No other library speaks the protocol ``stream``, or that of streams groups (KIP-1071)."""

_NEWEST_VERSION: Final = 3
"""Of ConsumerProtocol; a newer one is taken for it."""


class _Subscribed(Value):
    """The parts of a member's subscription by which libraries differ. ``rack``: whether it is not empty; None: null."""

    assignor: str
    version: int
    data: frozenset[UserDataForm]
    is_abridged: bool
    rack: bool | None


class _Assigned(Value):
    """The same of an assignment, which the leader wrote."""

    assignor: str
    version: int
    data: UserDataForm


def recognize_libraries(group: GroupState) -> Mapping[str, ClientLibrary]:
    """The library of each member, by member id; empty for groups of other systems.

    >>> from monitor.model import WireForm
    >>> one = Member(member_id="m", topics=("t",), wire=WireForm(subscription_version=1), is_abridged=True)
    >>> two = Member(member_id="n", topics=("t",), client_id="kgo", wire=WireForm(subscription_version=3))
    >>> found = recognize_libraries(GroupState(cluster="c", group="g", protocol="range", members=(one, two)))
    >>> found["m"].label, found["m"].certainty.value, found["n"].label, found["n"].certainty.value
    ('kafka-go', 'certain', 'franz-go', 'likely')
    """
    if not KINDS[group.kind].has_kafka_clients:
        return {}
    if traits_of(group).reads_by_task:
        return dict.fromkeys((member.member_id for member in group.members), KAFKA_STREAMS)
    found = {member.member_id: _library_of(member, group) for member in group.members}
    leader = next((member for member in group.members if member.member_id == group.leader), None)
    return found if leader is None else _like_the_leader(found, leader, group)


def _like_the_leader(found: dict[str, ClientLibrary], leader: Member, group: GroupState) -> dict[str, ClientLibrary]:
    """Members that several libraries fit, and that are configured as the leader is, use its library."""
    known = found[leader.member_id]
    if known.one is None:
        return found
    likely = ClientLibrary(known.libraries, Certainty.LIKELY, known.versions)
    for member in group.members:
        own = found[member.member_id]
        if own.certainty is Certainty.POSSIBLE and known.one in own.libraries and _is_configured_alike(member, leader):
            found[member.member_id] = likely
    return found


def _is_configured_alike(member: Member, leader: Member) -> bool:
    return (
        member.client_id == leader.client_id
        and _timeouts(member) == _timeouts(leader)
        and member.is_abridged == leader.is_abridged
        and _version(member) == _version(leader)
    )


def _library_of(member: Member, group: GroupState) -> ClientLibrary:
    by_client_id = _library_by_client_id(member.client_id, group.group)
    version = _version(member)
    if version is None:
        return by_client_id
    rows = _fitting_forms(_subscription_bytes(member, group.protocol or "", version))
    if member.member_id == group.leader:
        writers = writers_of_assignments(group)
        rows = tuple([row for row in rows if row.library in writers]) or rows
    return _library_among(rows, by_client_id, _timeouts(member))


def _library_among(
    rows: tuple[SubscriptionForm, ...], by_client_id: ClientLibrary, timeouts: tuple[int, int]
) -> ClientLibrary:
    """The library that wrote one of these forms."""
    libraries = tuple(sorted({row.library for row in rows}))
    if not libraries:
        return by_client_id
    if len(libraries) == 1:
        return _one(libraries[0], Certainty.CERTAIN, rows, by_client_id)
    if by_client_id.one in libraries:
        return _one(by_client_id.libraries[0], Certainty.LIKELY, rows, by_client_id)
    usual = {row.library for row in rows if timeouts in (row.timeouts_ms or DEFAULTS[row.library].timeouts_ms)}
    if len(usual) == 1:
        return _one(usual.pop(), Certainty.LIKELY, rows, by_client_id)
    return ClientLibrary(libraries, Certainty.POSSIBLE)


def _one(
    library: Library, certainty: Certainty, rows: tuple[SubscriptionForm, ...], by_client_id: ClientLibrary
) -> ClientLibrary:
    """The library with its release: the one that its client id names, or those that write such bytes."""
    if by_client_id.one is library and by_client_id.versions is not None:
        return ClientLibrary((library,), certainty, by_client_id.versions)
    releases = {row.versions for row in rows if row.library is library}
    return ClientLibrary((library,), certainty, releases.pop() if len(releases) == 1 else None)


def _subscription_bytes(member: Member, assignor: str, version: int) -> _Subscribed:
    return _Subscribed(
        assignor=assignor,
        version=version,
        data=user_data_forms(member.user_data),
        is_abridged=member.is_abridged,
        rack=None if member.rack is None else bool(member.rack),
    )


@lru_cache(maxsize=1024)
def _fitting_forms(sent: _Subscribed) -> tuple[SubscriptionForm, ...]:
    """The rows that the bytes fit. With an assignor that no row knows, the user data may be anything."""
    is_known = any(sent.assignor in row.assignors for row in SUBSCRIPTION_FORMS)
    return tuple(
        row
        for row in SUBSCRIPTION_FORMS
        if row.version == min(sent.version, _NEWEST_VERSION)
        and row.is_abridged == sent.is_abridged
        and _fits_rack(row, sent.rack)
        and (not is_known or (sent.assignor in row.assignors and not sent.data.isdisjoint(row.data)))
    )


def _fits_rack(row: SubscriptionForm, rack: bool | None) -> bool:
    """Every library sends a rack that is configured; without one, null or an empty text."""
    return rack is True or row.has_empty_rack == (rack is False)


def writers_of_assignments(group: GroupState) -> frozenset[Library]:
    """The libraries whose leaders write assignments as this group's did; all, if no member has one."""
    for member in group.members:
        wire = member.wire
        if wire is not None and wire.assignment_version is not None and any(e.partitions for e in member.assigned):
            data = UserDataForm.OTHER if wire.assignment_data else UserDataForm.EMPTY
            data = UserDataForm.NULL if wire.assignment_data is None else data
            return _writers(_Assigned(group.protocol or "", wire.assignment_version, data))
    return frozenset(Library)


@lru_cache(maxsize=256)
def _writers(assigned: _Assigned) -> frozenset[Library]:
    return frozenset(
        row.library
        for row in ASSIGNMENT_FORMS
        if assigned.assignor in row.assignors and assigned.version == row.version and assigned.data in row.data
    )


@lru_cache(maxsize=4096)
def _library_by_client_id(client_id: str, group: str) -> ClientLibrary:
    """The library whose default the client id is."""
    named = client_id.replace(f"-{group}-", f"-{GROUP}-", 1)
    for library, pattern in _CLIENT_IDS.items():
        match = pattern.fullmatch(named)
        if match is not None:
            return ClientLibrary((library,), Certainty.LIKELY, match.groupdict().get("version"))
    return UNKNOWN_LIBRARY


_CLIENT_IDS: Final = {
    library: re.compile(usual.client_id) for library, usual in DEFAULTS.items() if usual.client_id is not None
}


def _timeouts(member: Member) -> tuple[int, int]:
    return member.session_timeout_ms, member.rebalance_timeout_ms


def _version(member: Member) -> int | None:
    return None if member.wire is None else member.wire.subscription_version

"""What deviates in the bytes of a member from what Kafka's protocol prescribes, though it can be read."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.model import Member, MemberRemark
from monitor.protocol.kafka.sticky_user_data import UserDataForm, user_data_forms

STICKY = "sticky"


def member_remarks(member: Member, protocol: str | None) -> tuple[MemberRemark, ...]:
    """The remarks on a member of a classic group.

    >>> member_remarks(Member(member_id="m", is_abridged=True), "range")
    (<MemberRemark.ABRIDGED_SUBSCRIPTION: 'abridged_subscription'>,)
    """
    return tuple(_remarks(member, protocol))


def _remarks(member: Member, protocol: str | None) -> Iterator[MemberRemark]:
    if member.is_abridged:
        yield MemberRemark.ABRIDGED_SUBSCRIPTION
    if protocol == STICKY and member.user_data:
        forms = user_data_forms(member.user_data)
        if forms == {UserDataForm.VERSIONED}:
            yield MemberRemark.VERSIONED_USER_DATA
        elif forms == {UserDataForm.OTHER}:
            yield MemberRemark.UNKNOWN_USER_DATA
    if member.wire is not None and member.wire.repeats_topic:
        yield MemberRemark.REPEATED_TOPIC

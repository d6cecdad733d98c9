"""The demo's script: what its workload does and when, as values. Nothing happens here."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from monitor.model import Value


class GroupPlan(Value):
    """A group of the demo: its topic has the same name. ``partitions`` is the topic's number at the start."""

    name: str
    partitions: int
    members: int
    assignor: str


PAYMENTS: Final = GroupPlan(name="payments", partitions=6, members=2, assignor="range")
ORDERS: Final = GroupPlan(name="orders", partitions=4, members=2, assignor="range")
SHIPPING: Final = GroupPlan(name="shipping", partitions=6, members=3, assignor="roundrobin")
REPORTS: Final = GroupPlan(name="reports", partitions=3, members=1, assignor="range")
GROUPS: Final = (PAYMENTS, ORDERS, SHIPPING, REPORTS)


class WorkloadSettings(Value):
    """When things happen, in ms since ``begin()``, and how much of them.

    A topic's growth is seen by its group when the client of the group's leader refreshes its metadata, so
    ``orders_metadata_max_age_ms`` bounds how long the new partitions stay without owner. ``grow_lead_ms`` before the
    growth the members are made to refresh once; so that wait is the same in every run. A member that is lost and comes
    back makes two rebalances: by ``shipping_every_ms`` they are too few for a storm, which would be another finding.
    """

    records_per_s: int = 30
    commit_interval_ms: int = 1_000
    session_timeout_ms: int = 10_000
    orders_metadata_max_age_ms: int = 25_000
    grow_ms: int = 15_000
    grow_lead_ms: int = 1_000
    grow_by: int = 3
    grow_again_every_ms: int = 240_000
    most_partitions: int = 12
    reports_stop_ms: int = 20_000
    reports_stopped_ms: int = 70_000
    reports_every_ms: int = 140_000
    shipping_lose_ms: int = 10_000
    shipping_lost_ms: int = 15_000
    shipping_every_ms: int = 80_000


class Action(StrEnum):
    """What the workload can do to a group."""

    REFRESH_METADATA = "refresh_metadata"
    GROW_TOPIC = "grow_topic"
    LOSE_MEMBER = "lose_member"
    RETURN_MEMBER = "return_member"
    STOP_COMMITTING = "stop_committing"
    RESUME_COMMITTING = "resume_committing"


class Step(Value, order=True):
    """Do that to that group at that time. ``number``: partitions to add, or which member, from 0."""

    at_ms: int
    group: str
    action: Action
    number: int = 0


def steps(settings: WorkloadSettings) -> Iterator[Step]:
    """The whole script in the order of time. It never ends.

    >>> from itertools import islice
    >>> [(step.at_ms, step.action.value) for step in islice(steps(WorkloadSettings()), 5)]
    [(10000, 'lose_member'), (14000, 'refresh_metadata'), (15000, 'grow_topic'), (20000, 'stop_committing'), \
(25000, 'return_member')]
    """
    return heapq.merge(_orders(settings), _reports(settings), _shipping(settings))


def _orders(settings: WorkloadSettings) -> Iterator[Step]:
    at_ms, more = settings.grow_ms, settings.grow_by
    partitions = ORDERS.partitions
    while partitions + more <= settings.most_partitions:
        yield Step(
            at_ms=max(0, at_ms - settings.grow_lead_ms), group=ORDERS.name, action=Action.REFRESH_METADATA, number=0
        )
        yield Step(at_ms=at_ms, group=ORDERS.name, action=Action.GROW_TOPIC, number=more)
        partitions, at_ms, more = partitions + more, at_ms + settings.grow_again_every_ms, 1


def _reports(settings: WorkloadSettings) -> Iterator[Step]:
    at_ms = settings.reports_stop_ms
    while True:
        yield Step(at_ms=at_ms, group=REPORTS.name, action=Action.STOP_COMMITTING)
        yield Step(at_ms=at_ms + settings.reports_stopped_ms, group=REPORTS.name, action=Action.RESUME_COMMITTING)
        at_ms += settings.reports_every_ms


def _shipping(settings: WorkloadSettings) -> Iterator[Step]:
    at_ms, member = settings.shipping_lose_ms, 0
    while True:
        yield Step(at_ms=at_ms, group=SHIPPING.name, action=Action.LOSE_MEMBER, number=member)
        yield Step(
            at_ms=at_ms + settings.shipping_lost_ms, group=SHIPPING.name, action=Action.RETURN_MEMBER, number=member
        )
        at_ms, member = at_ms + settings.shipping_every_ms, (member + 1) % SHIPPING.members

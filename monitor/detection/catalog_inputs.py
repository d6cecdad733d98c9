"""What of a catalog the verdict on a group depends on, so that it need not be made again for each pass of a collector.

A pass gives the ends of all partitions a new date, also where nothing has happened. How fast a partition was read and
written is measured up to that date: it falls while nothing happens, and how soon a group catches up follows from it. So
do a status by Burrow's rules, which look at the ends of some minutes, and perhaps the cause of a lopsided lag and
whether records are close to their removal. Where no commit is newer than the ends, nothing else does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from zlib import crc32

from monitor.detection.brokers import missed_brokers
from monitor.detection.hidden_topics import hidden_topics
from monitor.detection.offsets_topic import fault_of
from monitor.detection.ownership.assignment_view import AssignmentView
from monitor.detection.ownership.catalog_view import Topics, age_beside
from monitor.detection.ownership.near_topics import proposed_topics
from monitor.detection.ownership.tasks.connect import sink_of
from monitor.kinds.kept_groups import checkpoints_topic
from monitor.kinds.short_lives import has_siblings, short_life
from monitor.model import KINDS, GroupState, topics_beside_members

REDATED_MS: Final = 30_000
"""For so long, and until the micro-batch after, a verdict may be of older dates than those of the newest pass: as long
as a fleet in which nothing happens is not evaluated at all (monitor.readiness.next_batch)."""

Concerns = tuple[object, ...]
"""Equal concerns, equal states and no ages: equal verdicts. With ages that grow evenly, equal but for the dates."""


def dates_hold_until_ms(group: str, evaluated_ms: int) -> int:
    """Until when a verdict whose ages grow evenly holds, though a pass has seen the same ends again (epoch ms).

    Groups take turns: a pass makes a part of the verdicts again, so that it does not hold up a commit that comes then.

    >>> [dates_hold_until_ms("orders", at_ms) for at_ms in (0, 27_661, 27_662, 60_000)]
    [27662, 27662, 57662, 87662]
    """
    return evaluated_ms + REDATED_MS - (evaluated_ms - crc32(group.encode(errors="replace"))) % REDATED_MS


def concerns_of(group: GroupState, view: AssignmentView, topics: Topics, *, has_ages: bool = False) -> Concerns:
    """All that the verdict on a group depends on, besides its state, the time and the date of the newest pass.

    With ``has_ages``, also what its ages do. It may not wait for the next poll, as a commit is newer than its end.

    A group whose members share partitions among themselves is judged as of the newest reading, which a pass of its
    topics may be (monitor.detection.ownership.self_assigned.grace_period.as_of_ms). Views are compared by value, and an
    equal one may have been made of a catalog of another age.
    """
    owned = {place.topic for place in view.ownership.owners}
    concerned = sorted(view.ownership.subscribed.union(owned, topics_beside_members(group)))
    pass_ms = topics.catalog.pass_ms if KINDS[group.kind].is_self_assigned else None
    catalog, hidden = topics.catalog, hidden_topics(group, topics.catalog)
    return (
        view,
        pass_ms,
        sink_of(group, topics),
        catalog.offsets_retention,
        age_beside(catalog, group),
        fault_of(group, catalog),
        missed_brokers(group, catalog),
        [catalog.brokers.leaderless.get(topic) for topic in concerned] if catalog.brokers is not None else None,
        None if hidden is None else (hidden.topics, hidden.seen_ms),
        tuple(proposed_topics(group, view.ownership.subscribed, catalog)),
        *[topics.content(topic) for topic in concerned],
        *(_concerns_with_lag(group, concerned, topics) if has_ages else ()),
    )


def _concerns_with_lag(group: GroupState, concerned: Iterable[str], topics: Topics) -> Concerns:
    """What rules read only where records wait or something has been found, and what ages follow from."""
    catalog, checkpoints, life = topics.catalog, checkpoints_topic(group, topics.catalog.topics), short_life(group)
    return (
        catalog.outages,
        catalog.log_partitions,
        topics.names_digest,
        checkpoints if checkpoints is None else topics.content(checkpoints),
        life is not None and has_siblings(life, catalog.short_lives),
        *[topics.history(topic) for topic in concerned],
    )

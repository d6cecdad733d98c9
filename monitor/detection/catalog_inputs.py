"""What of a catalog the verdict on a group depends on, so that it need not be made again for each pass of a collector.

A pass dates the ends of all partitions anew, also where nothing has happened. How long records have waited follows from
those dates, and nothing else does.
"""

from __future__ import annotations

from monitor.detection.brokers import missed_brokers
from monitor.detection.hidden_topics import hidden_topics
from monitor.detection.offsets_topic import fault_of
from monitor.detection.ownership.assignment_view import AssignmentView
from monitor.detection.ownership.catalog_view import Topics, age_beside
from monitor.detection.ownership.near_topics import proposed_topics
from monitor.detection.ownership.tasks.connect import sink_of
from monitor.model import KINDS, GroupState, topics_beside_members

Concerns = tuple[object, ...]
"""Equal concerns, equal states and no ages: equal verdicts."""


def concerns_of(group: GroupState, view: AssignmentView, topics: Topics) -> Concerns:
    """All that the verdict on a group for which no record waits depends on, besides its state and the time.

    Nor may it wait for the next poll, as a commit is newer than its end (``Judged.has_ages``).

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
    )

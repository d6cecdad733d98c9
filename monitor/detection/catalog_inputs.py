"""What of a catalog the verdict on a group depends on, so that it need not be made again for each pass of a collector.

A pass dates the ends of all partitions anew, also where nothing has happened. How long records have waited follows from
those dates, and nothing else does.
"""

from __future__ import annotations

from monitor.detection.ownership.assignment_view import AssignmentView
from monitor.detection.ownership.catalog_view import Topics, age_beside
from monitor.detection.ownership.near_topics import proposed_topics
from monitor.detection.ownership.tasks.connect import sink_of
from monitor.model import KINDS, GroupState

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
    committed = {offset.topic for offset in group.offsets}
    deleted = {offset.topic for offset in group.deleted_offsets}
    concerned = sorted(view.ownership.subscribed.union(owned, committed, group.left_topics, deleted))
    pass_ms = topics.catalog.pass_ms if KINDS[group.kind].is_self_assigned else None
    beside = sink_of(group, topics), topics.catalog.offsets_retention, age_beside(topics.catalog, group)
    proposed = tuple(proposed_topics(group, view.ownership.subscribed, topics.catalog))
    return (view, pass_ms, *beside, proposed, *[topics.content(topic) for topic in concerned])

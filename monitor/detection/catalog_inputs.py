"""What of a catalog the verdict on a group depends on, so that it need not be made again for each pass of a collector.

A pass dates the ends of all partitions anew, also where nothing has happened. How long records have waited follows from
those dates, and nothing else does.
"""

from __future__ import annotations

from monitor.detection.ownership.assignment_view import AssignmentView
from monitor.detection.ownership.catalog_view import Topics, is_older_than_generation
from monitor.model import KINDS, GroupState

Concerns = tuple[object, ...]
"""Equal concerns, equal states and no ages: equal verdicts."""


def concerns_of(group: GroupState, view: AssignmentView, topics: Topics) -> Concerns:
    """All that the verdict on a group for which no record waits depends on, besides its state and the time.

    A group whose members share partitions among themselves is judged as of the newest reading, which a pass of its
    topics may be (monitor.detection.ownership.self_assigned.grace_period.as_of_ms). Of the others it counts whether a
    pass has begun since the generation: only then what it lacks is an orphan, and not perhaps a topic that is gone.
    """
    owned = {place.topic for place in view.ownership.owners}
    concerned = sorted(view.ownership.subscribed | owned | {offset.topic for offset in group.offsets})
    catalog = topics.catalog
    as_of = catalog.pass_ms if KINDS[group.kind].is_self_assigned else is_older_than_generation(catalog, group)
    return (view, as_of, catalog.watched_ms, *[topics.content(topic) for topic in concerned])

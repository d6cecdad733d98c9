"""All that a verdict on one group depends on, in one value: it can be saved, sent, and evaluated elsewhere."""

from __future__ import annotations

from msgspec.structs import replace

from monitor.detection.ownership.assignment_view import without_offsets
from monitor.detection.ownership.kip848 import named
from monitor.detection.ownership.near_topics import proposed_topics
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.kinds.connect import sink_connectors
from monitor.kinds.kept_groups import checkpoints_topic
from monitor.kinds.streams import needed_topics, topology_of
from monitor.model import Catalog, Finding, GroupState, GroupSummary, Value, topics_beside_members
from monitor.model.ended_findings import EndedLately
from monitor.model.scaling import ScaleMemory


class QuestionError(Exception):
    """A simulation that cannot be made; the text is one sentence with the reason and the possible choices."""


class GroupInputs(Value):
    """A group, the topics it may concern, the instant and the thresholds: equal inputs give equal verdicts.

    ``catalog`` may have more topics than concern the group; see :func:`only_concerned`. ``unjudged`` is the group as it
    is listed if it cannot be evaluated (None: it can): no new verdict is given then (monitor.detection.unjudged).
    ``expected`` are the findings that a job has by its file of expectations or its memory: no rule makes them from the
    rest.
    ``ended`` are its findings that ended lately; None: not known, as of the past. No verdict depends on it.
    ``state_ms`` is of the past: when the recorded state was stored that all later records were added to (0: there was
    none before). None: the inputs are of a job's newest evaluation.
    ``scale_memory`` is what a job remembers of a group whose members it counts (monitor.scaling); no verdict depends on
    it.
    """

    group: GroupState
    catalog: Catalog
    now_ms: int
    settings: DetectionSettings = DetectionSettings()
    unjudged: GroupSummary | None = None
    expected: tuple[Finding, ...] = ()
    ended: EndedLately | None = None
    state_ms: int | None = None
    scale_memory: ScaleMemory | None = None


def only_concerned(inputs: GroupInputs) -> GroupInputs:
    """The same without the topics that the group neither subscribes, owns nor has committed: no verdict needs them.

    Of a group without members, those to which its last members subscribed concern it as well.
    """
    catalog, concerned = inputs.catalog, _concerned(inputs)
    topics = {name: catalog.topics[name] for name in concerned if name in catalog.topics}
    hidden = {name: catalog.hidden[name] for name in concerned if name in catalog.hidden}
    names = {state.topic_id: state.topic for state in topics.values() if state.topic_id is not None}
    group = inputs.group.group
    own = {
        name: configs
        for name, configs in catalog.connect_configs.items()
        if name == group or group in sink_connectors([configs])
    }
    return replace(inputs, catalog=replace(catalog, topics=topics, names=names, connect_configs=own, hidden=hidden))


def _concerned(inputs: GroupInputs) -> list[str]:
    """The topics by name, sorted: also those of a KIP-848 group's targets, and all that a topology needs.

    The checkpoints of MirrorMaker 2 concern a group whose offsets it seems to copy.
    """
    group = named(without_offsets(inputs.group), inputs.catalog)
    found = {*topics_beside_members(inputs.group)}
    checkpoints = checkpoints_topic(inputs.group, inputs.catalog.topics)
    if checkpoints is not None:
        found.add(checkpoints)
    share = inputs.group.share
    if share is not None:
        known = [entry.topic_id for entry in share.partitions] + [entry.topic_id for entry in share.listed]
        found.update(name for topic_id in known if (name := inputs.catalog.names.get(topic_id)) is not None)
    topology = topology_of(group)
    if topology is not None:
        found.update(needed_topics(topology))
    for member in group.members:
        found.update(member.topics)
        found.update(entry.topic for entry in (*member.assigned, *member.owned))
        targets = member.reconciliation.target if member.reconciliation else None
        found.update(name for entry in targets or () if (name := inputs.catalog.names.get(entry.id)) is not None)
    subscribed = {topic for member in group.members for topic in member.topics}
    return sorted(found.union(proposed_topics(group, subscribed, inputs.catalog)))

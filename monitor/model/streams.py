"""Streams groups of the broker (KIP-1071): the application's topology, and for what the group was assigned."""

from __future__ import annotations

from monitor.model.values import IdPartitions, Value


class Subtopology(Value):
    """A part of a topology whose tasks are assigned one by one.

    A task reads one partition of each of its topics: ``source_topics`` (and those that ``source_regexes`` match), and
    ``repartition_sources``, which the broker makes. It writes to ``repartition_sinks``. It has state if it has
    ``changelogs``. Each of ``copartitioned`` are topics, by name, that must have equally many partitions.
    """

    subtopology_id: str
    source_topics: tuple[str, ...] = ()
    source_regexes: tuple[str, ...] = ()
    repartition_sources: tuple[str, ...] = ()
    repartition_sinks: tuple[str, ...] = ()
    changelogs: tuple[str, ...] = ()
    copartitioned: tuple[tuple[str, ...], ...] = ()


class Topology(Value):
    """The application's topology, as its first member of this epoch told it."""

    epoch: int
    subtopologies: tuple[Subtopology, ...] = ()


class FormerTasks(Value):
    """The tasks that a member was to run, or ran, by subtopology."""

    member_id: str
    active: tuple[IdPartitions, ...] = ()
    standby: tuple[IdPartitions, ...] = ()


class AssignorInput(Value):
    """What members had when the broker's assignor was asked for the newest targets, which are sticky.

    ``targets`` are of the members whose target those changed: the one before. ``held`` are of the members that ran
    something else then than the target before: what they ran.

    ``epoch`` is the newest of the group of which the log told, ``first_ms`` when the first record of a group was stored
    that has no epoch yet. ``is_open``: the targets for the epoch are yet to come; ``held`` is empty until then.
    ``is_complete``: no record can be missing that tells what members had. If one can, as in a log that was compacted,
    nothing is kept.
    """

    epoch: int = 0
    first_ms: int | None = None
    is_open: bool = False
    is_complete: bool = False
    targets: tuple[FormerTasks, ...] = ()
    held: tuple[FormerTasks, ...] = ()


class StreamsGroupState(Value):
    """What is known of a streams group beside its members.

    ``validated_epoch`` is the epoch of the topology for which all topics were there when the group's epoch was raised
    (None: some were missing). ``standby_replicas`` is how many standby tasks each task with state was to have then
    (None: not known).
    """

    topology: Topology | None = None
    validated_epoch: int | None = None
    standby_replicas: int | None = None

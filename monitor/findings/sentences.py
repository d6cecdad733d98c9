"""The sentence that a person reads beside a finding, made from its evidence.

A sentence stays the same while nothing changes, because alerts are compared by it. It holds no age (shown beside it)
and no number that moves with the traffic. Names are shown as in monitor.messages.names.

The module of a family has its evidence, and registers the sentence of each kind of evidence here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from monitor.findings.observation import Evidence, Observation
from monitor.messages.names import listed, shown
from monitor.model import GroupState, SinkState, SinkVerdict


def sentence_of(
    found: Observation, group: GroupState, sinks: Sequence[SinkVerdict] = (), sink: SinkState | None = None
) -> str:
    """What a person reads of an observation.

    Args:
        found: what a rule has found of the group.
        group: the group with the names of its topics and with its members, of which the sentence names some.
        sinks: which of the members are tasks of a sink connector.
        sink: the connector whose group it is by its name.

    Raises:
        NotImplementedError: its evidence has no sentence here.
    """
    of_evidence = sentence(found.evidence, found, group)
    more = [_sink_tasks(found, sinks)] if sinks else []
    if sink is not None and not sinks:
        more.append(f"By its name, this is the group of the connector {shown(sink.connector)} of Kafka Connect.")
    if sink is not None and sink.state is not None and sink.is_resting:
        more.append(f"That connector is {sink.state.lower()}.")
    return " ".join([of_evidence, *more])


def _sink_tasks(found: Observation, sinks: Sequence[SinkVerdict]) -> str:
    """Whose consumers the members are: of those that the finding is about, or of all."""
    own = [sink for sink in sinks if sink.member_id in found.members] or sinks
    connectors = listed(sorted({sink.connector for sink in own}))
    if own is sinks:
        return f"The members are tasks of the Connect sink {connectors}."
    tasks = [f"{sink.connector}-{sink.task}" for sink in own]
    if len(tasks) == 1:
        return f"This member is task {listed(tasks)} of the Connect sink {connectors}."
    return f"These members are the tasks {listed(tasks)} of the Connect sink {connectors}."


@singledispatch
def sentence(evidence: Evidence, found: Observation, group: GroupState) -> str:
    """The sentence without what is known of sinks. The families register one function for each kind of evidence."""
    raise NotImplementedError(f"No sentence is made from {type(evidence).__name__}.")

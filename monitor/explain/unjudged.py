"""The explanation of a group that cannot be evaluated now: why, and what was found before."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.detection.evaluation_input import GroupInputs
from monitor.explain.statements import (
    About,
    Explanation,
    Statement,
    cluster_statements,
    finding_statement,
    subordinate_statements,
)
from monitor.messages.formatting import visible
from monitor.messages.names import shown, shown_group
from monitor.model import GroupSummary, PartitionId, TopicPartition


def explain_unjudged(
    inputs: GroupInputs, listed: GroupSummary, topic: str | None = None, partition: PartitionId | None = None
) -> Explanation:
    """Why the group is not evaluated, and the findings of the previous evaluation, of one partition if it is given."""
    return Explanation(
        cluster=inputs.group.cluster,
        group=inputs.group.group,
        evaluated_ms=inputs.now_ms,
        topic=topic,
        partition=partition,
        statements=(_reason(listed), *_above(inputs, listed), *_previous(listed, inputs.now_ms, topic, partition)),
    )


def _reason(listed: GroupSummary) -> Statement:
    name = f"{shown_group(listed.group)} of cluster {shown(listed.cluster)}"
    return Statement(
        about=About.GROUP,
        sentence=f"{name} is a {listed.kind} group that groupwatch cannot evaluate now.",
        evidence=(f"{visible(listed.unjudged or '')}.",),
    )


def _above(inputs: GroupInputs, listed: GroupSummary) -> Iterator[Statement]:
    """The findings of the cluster that concern it. The polls of the topics and brokers go on without its records."""
    return cluster_statements(inputs.catalog, listed, max(inputs.now_ms, inputs.catalog.pass_ms))


def _previous(
    listed: GroupSummary, now_ms: int, topic: str | None, partition: PartitionId | None
) -> Iterator[Statement]:
    if listed.is_unknown:
        sentence = "groupwatch has not evaluated it since it started: whether anything is wrong is unknown."
        yield Statement(about=About.FINDING, sentence=sentence)
        return
    place = None if topic is None or partition is None else TopicPartition(topic, partition)
    own = [each for each in listed.findings if place is None or place in each.partitions]
    follows = listed.subordinate if place is None else ()
    found = "The findings below are those of" if own or follows else "It had no findings in"
    sentence = f"{found} its last evaluation; what has happened since is unknown."
    yield Statement(about=About.FINDING, sentence=sentence)
    for finding in own:
        yield finding_statement(finding, listed.kind, now_ms, is_connect=listed.is_connect)
    yield from subordinate_statements(follows)

"""What is known of a group that cannot be evaluated now: no new verdict, and nothing that looks like health."""

from __future__ import annotations

from msgspec.structs import replace

from monitor.model import GroupSummary, GroupVerdict, MemberVerdict, PartitionVerdict, TopicLag


def unjudged_verdict(verdict: GroupVerdict, listed: GroupSummary) -> GroupVerdict:
    """A verdict on what was last read of the group, with the findings of its previous evaluation.

    The topics go on while its commits are not read. So all that compares the two is unknown: lag, losses, and the
    owners that are expected.

    Args:
        verdict: by the state that was last read, and the topics of now.
        listed: the group as it is listed, with the reason.
    """
    return replace(
        verdict,
        unjudged=listed.unjudged,
        findings=listed.findings,
        subordinate=listed.subordinate,
        members=tuple([_member(each) for each in verdict.members]),
        partitions=tuple([_partition(each) for each in verdict.partitions]),
        topics=tuple([TopicLag(topic=each.topic, partitions=each.partitions) for each in verdict.topics]),
        expectation="none",
        lag=None,
        lag_ms=None,
        lag_at_least=None,
        lag_at_least_ms=None,
        lag_since_ms=None,
        stable_lag=None,
        status=None,
        pace=None,
        paced_lag=None,
        catch_up_ms=None,
        lost=None,
        kept_waiting=None,
        imbalance_ratio=None,
        uncommitted_partitions=0,
        uncommitted_records=0,
        expectations=listed.expectations,
    )


def _member(member: MemberVerdict) -> MemberVerdict:
    return replace(member, expected_partitions=None, idle=None, lag=0)


def _partition(row: PartitionVerdict) -> PartitionVerdict:
    return PartitionVerdict(
        topic=row.topic,
        partition=row.partition,
        owners=row.owners,
        committed=row.committed,
        earliest=row.earliest,
        end=row.end,
    )


def unknown_verdict(listed: GroupSummary, at_ms: int) -> GroupVerdict:
    """The verdict on a group that was never evaluated: who it is, and why nothing else is known (at ``at_ms``)."""
    return GroupVerdict(
        cluster=listed.cluster,
        group=listed.group,
        kind=listed.kind,
        state=listed.state,
        evaluated_ms=at_ms,
        unjudged=listed.unjudged,
        is_unknown=True,
    )

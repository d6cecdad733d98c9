"""What each field of an answer means, with its unit: a test finds the one that is missing, or no longer there.

Offsets and lags are in records (of MetaQ in bytes), times in milliseconds since the epoch, durations in milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FIELDS: Final[Mapping[str, str]] = {
    "cluster": "The cluster, as the configuration names it.",
    "group": "The group.",
    "topic": "The topic.",
    "partition": "A number; of RocketMQ BROKER-QUEUE, of MetaQ BROKER-NUMBER.",
    "member_id": "The member's id, as the broker gave it.",
    "kind": "What kind of group it is.",
    "state": "Where the group stands.",
    "evaluated_ms": "When it was judged (ms since the epoch).",
    "assignor": "The assignor that the group uses.",
    "lag": "Records that wait for the group (of MetaQ bytes); null or absent: not known.",
    "lag_ms": "Age of the oldest record that waits (ms).",
    "since_ms": "Since when it is so (ms since the epoch).",
    "sentence": "What a person reads.",
    "reason": "Why, in one word: docs/findings.md has all.",
    "cause": "The most likely cause of a drift.",
    "advice": "What to do first; absent: there is no general advice.",
    "problem": "What is wrong, in a sentence.",
    "warning": "What a person should know though nothing has failed, in sentences.",
    "status": "How the lag develops, by the rules of Burrow.",
    "pace": "How fast it is read and written, where records wait.",
}
"""Fields that mean the same wherever they stand."""

SPECIAL: Final[Mapping[str, Mapping[str, str]]] = {
    "ApiError": {
        "error": "Why there is no answer, in a sentence.",
        "not_ready": "Clusters that are asked about and of which nothing is known yet, with the status 503.",
    },
    "ApiIndex": {
        "version": "The version of groupwatch.",
        "shard": "Which share of the groups this job knows: 1/1 is all, 2/3 is the second of three.",
        "addresses": "What there is to ask.",
    },
    "ApiAddress": {
        "address": "The path; a name in braces is to be percent-encoded as one piece.",
        "meaning": "What it answers.",
        "parameters": "The parameters of its query.",
    },
    "ClusterCondition": {
        "ready": "Whether the backlog that was seen at start has been read; before that no group is told of.",
        "stale": "Whether the newest evaluation is a minute old or more.",
        "sentence": "What it is doing, as /readyz says it.",
        "groups": "How many groups were judged; absent: not known yet.",
        "groups_with_findings": "How many of them have findings; absent: not known yet.",
        "problem": "Why the cluster cannot be read, in a sentence.",
        "evaluated_ms": "When its groups were judged (ms since the epoch); absent: not yet.",
        "age_ms": "How long ago that was (ms).",
        "batch_duration_ms": "How long the newest micro-batch took (ms).",
        "input_lag": "Offsets of the log of groups that have still to be read.",
        "catalog_ms": "When the newest pass over its topics began (ms since the epoch).",
        "decode_errors": "Records that could not be read, since the state began.",
        "evaluation_errors": "Groups that could not be judged, counted in every micro-batch since the job started.",
        "warm_up": "How far the backlog has been read, until it is ready.",
        "collectors": "How the passes of its collectors go that run in this process.",
    },
    "WarmUpProgress": {
        "total": "Offsets of the backlog.",
        "remaining": "Offsets that have still to be read.",
        "left_ms": "How long that may take (ms).",
    },
    "CollectorHealth": {
        "collector": "What it reads, in one word.",
        "name": "What that is called in the configuration.",
        "complete": "Complete passes since its process started.",
        "incomplete": "Passes in which something did not answer.",
        "failed": "Passes of which nothing could be used.",
        "last_success_ms": "When its newest complete pass was written (ms since the epoch).",
        "pass_ms": "How long its newest pass took (ms).",
    },
    "GroupSummary": {
        "assignor": "The assignor that the group uses; null: none, or not known.",
        "members": "How many members it has; null: it is known by its commits only.",
        "findings": "What is wrong with it, the worst first.",
        "unjudged": "Why it could not be judged; all else is then of its last verdict. Null: it was judged.",
    },
    "Finding": {
        "kind": "What is wrong.",
        "partitions": "Where: the partitions that it is about.",
        "members": "The ids of the members that it is about.",
    },
    "AdvisedFinding": {
        "kind": "What is wrong.",
        "partitions": "Where: the partitions that it is about.",
        "members": "The ids of the members that it is about.",
    },
    "OpenFinding": {
        "id": "The same as long as this can be said of this group; it is that of the findings topic.",
        "kind": "What is wrong.",
        "partitions": "Where: the partitions that it is about.",
        "members": "The ids of the members that it is about.",
    },
    "TopicPartition": {},
    "TopicPartitions": {"partitions": "The partitions of it."},
    "ToldVerdict": {
        "expectation": "exact: the assignor is replayed; target: the broker has chosen; invariants: the assignor is "
        "not known here; none: no members, or their bytes cannot be read.",
        "generation": "The generation of a classic group, the epoch of the others.",
        "generation_ms": "When that was stored (ms since the epoch).",
        "members": "The members.",
        "partitions": "The partitions that it reads, owns or has committed.",
        "findings": "What is wrong with it, the worst first, with what to do.",
        "imbalance_ratio": "Partitions of the largest member over the least that the largest could have; null: not "
        "known, or not what is to be even (Kafka Streams).",
        "rebalances": "Rebalances since the group was first seen.",
        "topics": "What waits in each topic, by name.",
        "catch_up_ms": "How long the records that wait take at this pace (ms); absent: for ever, or not known.",
        "lost": "Records that retention removed before they were read, at most.",
        "lag_at_least_ms": (
            "Age of the oldest record that waits, at least (ms): as lag_ms, but also where it is from before what is "
            "remembered of its partition."
        ),
        "kept_waiting": "The largest share of a partition's log that waits for the group, from 0 to 1.",
        "handovers": "Partitions of a KIP-848 group that go from one member to another.",
        "rebalancing_since_ms": "Since when a rebalance is known to be under way (ms since the epoch).",
        "rebalance_ms": "How long its rebalances took, in all (ms).",
        "moved_partitions": "Partitions that its rebalances moved.",
        "avoidable_moves": "How many of them a sticky assignor would have left where they were.",
        "redelivered_records": "Records that were delivered again, as commits went back.",
        "pause_ms": "How long partitions stood still in rebalances, summed over partitions (ms).",
        "burst_records": "Records that had gathered in those pauses.",
        "stable_lag": "Records of the lag that no open transaction holds back.",
        "paced_lag": "Records of the lag whose pace is known.",
        "source": "Where the group is known from.",
        "sharing": "How its members share partitions.",
        "settles_ms": "When its members may be about to share partitions anew (ms since the epoch).",
    },
    "MemberVerdict": {
        "instance_id": "The instance id of a static member.",
        "client_id": "The client id.",
        "host": "Where it connects from.",
        "topics": "The topics that it subscribes.",
        "partitions": "How many partitions it owns.",
        "expected_partitions": "How many it would own if the group rebalanced now.",
        "idle": "Whether it owns nothing while others do; null: not judged, as tasks count there (Kafka Streams).",
        "unreadable": "Why what it sent could not be decoded.",
        "epoch": "The epoch of a member of a KIP-848 group.",
        "state": "How far a member of a KIP-848 group is with what it was told.",
        "lag": "Records that are known to wait in its partitions, together.",
        "answers": "Whether it answered when it was asked (RocketMQ).",
        "connections": "How many connections it has.",
    },
    "PartitionVerdict": {
        "owners": "The ids of the members that own it.",
        "expected": "Whose it would be if the group rebalanced now; absent: nobody's, or not known.",
        "replayed": "Whose the assignor should have made it in this generation.",
        "committed": "The committed offset; absent: there is none.",
        "earliest": "The first offset that is kept.",
        "end": "The end of the log.",
        "orphan": "Why nobody owns it, if somebody should.",
        "stable": "The last stable offset, where a transaction holds records back that wait.",
    },
    "Pace": {
        "consumed_per_s": "Records that are read a second.",
        "produced_per_s": "Records that are written a second.",
    },
    "TopicLag": {"partitions": "How many partitions of the topic these are."},
    "Handover": {
        "owner": "The id of the member that still has them.",
        "heir": "The id of the member that is to have them; absent: nobody.",
        "is_told": "Whether the owner has been told to give them back.",
        "grace_ms": "How long the owner may take (ms).",
        "partitions": "The partitions.",
    },
    "Explanation": {"statements": "What can be said, in reading order."},
    "Statement": {
        "about": "What the sentence is about.",
        "since_ms": "Since when it is so (ms since the epoch); absent: not known, or no question.",
        "evidence": "What it rests on, and what to do.",
    },
    "WhatIf": {
        "assignor": "The assignor of the answer.",
        "assignor_before": "The one that the group uses.",
        "members": "The members before and after.",
        "moves": "The partitions that get another owner.",
        "balance_before": "How even it is; null: nobody owns anything.",
        "balance_after": "How even it would be; null: nobody would own anything.",
        "idle": "The ids of the members that would own nothing.",
        "orphans": "The partitions that nobody would own.",
        "assumptions": "What had to be assumed, in sentences.",
    },
    "MemberChange": {
        "before": "What it owns.",
        "after": "What it would own.",
        "partitions_before": "How many partitions it owns.",
        "partitions_after": "How many it would own.",
        "joins": "Whether it is new.",
        "leaves": "Whether it would be gone.",
        "idle": "Whether it would own nothing.",
    },
    "Move": {
        "before": "The ids of those who own it; absent: nobody.",
        "after": "The ids of those who would own it; absent: nobody.",
    },
    "BalanceSide": {
        "member_id": "The member with most partitions.",
        "largest": "How many it has.",
        "optimum": "How many the largest must have at least.",
        "ratio": "The one over the other.",
    },
    "GroupHistory": {"points": "The oldest first, at most 120."},
    "LagPoint": {
        "at_ms": "When the group was judged (ms since the epoch).",
        "lag": "Records that waited (of MetaQ bytes); null: not known.",
    },
}
"""By type: its fields that mean something of their own."""


def meaning(type_name: str, field: str) -> str:
    """What the field of that type means.

    Raises:
        KeyError: it is not described.
    """
    return SPECIAL[type_name].get(field) or FIELDS[field]

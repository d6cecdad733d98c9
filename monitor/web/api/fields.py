"""The meaning of each field of a response, with its unit. A test finds missing and obsolete ones.

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
    "kind": "The kind of group.",
    "state": "The state of the group.",
    "evaluated_ms": "When the group was evaluated (ms since the epoch).",
    "assignor": "The assignor that the group uses.",
    "lag": "The lag in records (of MetaQ bytes); null or absent: unknown.",
    "lag_ms": "Age of the oldest record of the lag (ms).",
    "since_ms": "When it started (ms since the epoch).",
    "sentence": "The text for a person.",
    "reason": "The reason, in one word: docs/findings.md lists all.",
    "cause": "The most likely cause of a drift.",
    "severity": "How bad the finding is.",
    "advice": "What to do first; absent: there is no general advice.",
    "problem": "The problem, in a sentence.",
    "warning": "Warnings, in sentences: nothing has failed.",
    "status": "The lag status according to Burrow's rules.",
    "libraries": "The library; several if each of them fits, sorted by name; absent: unknown.",
    "certainty": "How sure that is: certain, likely, possible or unknown (docs/explain.md).",
    "versions": "The releases of the library that fit, in words; absent: unknown.",
    "pace": "Throughput in the partitions with lag: consumed and produced.",
    "tasks": "The tasks of the finding, by name (Kafka Streams, Connect).",
    "process": "The instance of a Kafka Streams application, by its process id; of Connect the worker's URL.",
    "connector": "The name of the connector.",
}
"""Fields that mean the same wherever they stand."""

SPECIAL: Final[Mapping[str, Mapping[str, str]]] = {
    "ApiError": {
        "error": "Why the request failed, in a sentence.",
        "not_ready": "Requested clusters that are not ready, with the status 503.",
    },
    "ApiIndex": {
        "version": "The version of groupwatch.",
        "shard": "The share of the groups that this job watches: 1/1 is all, 2/3 is the second of three.",
        "addresses": "The addresses of the API.",
    },
    "ApiAddress": {
        "address": "The path; percent-encode a name in braces as one piece.",
        "meaning": "What it returns.",
        "parameters": "The parameters of its query.",
    },
    "ClusterCondition": {
        "ready": "Whether the backlog at the start has been read. Before that, groups may be of the last run.",
        "stale": "Whether the newest evaluation is a minute old or more, or of the last run.",
        "sentence": "Its state, as in /readyz.",
        "groups": "Number of evaluated groups; absent: not known yet.",
        "groups_with_findings": "Number of groups with findings; absent: not known yet.",
        "problem": "Why the cluster cannot be read, in a sentence.",
        "evaluated_ms": "When its groups were evaluated (ms since the epoch); absent: not yet.",
        "age_ms": "How long ago that was (ms).",
        "batch_duration_ms": "How long the newest micro-batch took (ms).",
        "input_lag": "Offsets of the offsets topic that remain to be read.",
        "catalog_ms": "When the newest pass over its topics started (ms since the epoch).",
        "decode_errors": "Records that could not be decoded since the state was created.",
        "evaluation_errors": "Groups that could not be evaluated, counted in every micro-batch since the job started.",
        "warm_up": "Progress of reading the backlog, until the cluster is ready.",
        "collectors": "Health of its collectors that run in this process.",
    },
    "WarmUpProgress": {
        "total": "Offsets of the backlog.",
        "remaining": "Offsets that remain to be read.",
        "left_ms": "Estimated time for them (ms).",
    },
    "CollectorHealth": {
        "collector": "The system that it polls, in one word.",
        "name": "The name of that system in the configuration.",
        "complete": "Complete passes since its process started.",
        "incomplete": "Passes with missing responses.",
        "failed": "Passes without a usable response.",
        "last_success_ms": "When its newest complete pass was written (ms since the epoch).",
        "pass_ms": "How long its newest pass took (ms).",
    },
    "GroupSummary": {
        "sink_groups": "Of a Connect cluster: the consumer groups that its connectors have if they are sinks.",
        "assignor": "The assignor that the group uses; null: none, or unknown.",
        "members": "Number of members; null: the group is known only by its commits.",
        "findings": "Its findings, worst first.",
        "libraries": "Its members by client library, most first; absent: none, or no Kafka group.",
        "unjudged": "Why it could not be evaluated; other fields are then of the previous evaluation. Null: evaluated.",
    },
    "Finding": {
        "kind": "The kind of finding.",
        "partitions": "The partitions of the finding.",
        "members": "The member ids of the finding.",
        "tasks": "The tasks of the finding, by name (Kafka Streams, Kafka Connect).",
    },
    "AdvisedFinding": {
        "kind": "The kind of finding.",
        "partitions": "The partitions of the finding.",
        "members": "The member ids of the finding.",
        "tasks": "The tasks of the finding, by name (Kafka Streams, Kafka Connect).",
    },
    "OpenFinding": {
        "id": "The id of the finding, as in the findings topic: constant as long as the group has this finding.",
        "kind": "The kind of finding.",
        "partitions": "The partitions of the finding.",
        "members": "The member ids of the finding.",
        "tasks": "The tasks of the finding, by name (Kafka Streams, Kafka Connect).",
    },
    "TopicPartition": {},
    "TopicPartitions": {"partitions": "Its partitions."},
    "ToldVerdict": {
        "expectation": "exact: groupwatch replays the assignor; checked: only its invariants, as its "
        "result is not deterministic; target: the coordinator's target assignment; "
        "invariants: groupwatch does not support the assignor; none: no members, or unreadable ones.",
        "generation": "The generation of a classic group, the epoch of the others.",
        "generation_ms": "When that was stored (ms since the epoch).",
        "members": "The members.",
        "partitions": "The partitions that the group subscribes to, owns or has committed.",
        "findings": "Its findings, worst first, with severity and advice.",
        "imbalance_ratio": "Partitions of the largest member over those of the largest one in an optimal assignment; "
        "null: unknown, or not applicable (Kafka Streams).",
        "rebalances": "Rebalances since the group was first seen.",
        "topics": "The lag of each topic, by name.",
        "catch_up_ms": "Time until the lag is 0 at this throughput (ms); absent: never, or unknown.",
        "lost": "Upper bound of the records that retention removed before they were committed.",
        "deliveries": "Share groups: progress in each partition, by the acknowledgments of the members; absent: none.",
        "delivery_totals": (
            "Share groups: what became of the records since the group was first seen; absent: share state is not read."
        ),
        "has_default_limit": (
            "Whether delivery_limit is that of the settings, as the configs of the group could not be read."
        ),
        "delivery_limit": "Share groups: a record is given up after so many deliveries.",
        "lag_at_least_ms": (
            "Lower bound of the age of the oldest record of the lag (ms): as lag_ms, but also where the record is "
            "older than the history of its partition."
        ),
        "lag_since_ms": (
            "When the oldest record of the lag was written (ms since the epoch), as estimated from the end offsets "
            "that were seen."
        ),
        "kept_waiting": "The largest lag of a partition as a share of its log, from 0 to 1.",
        "handovers": "Partitions of a KIP-848 group that move from one member to another.",
        "rebalancing_since_ms": "When the rebalance in progress started, as far as known (ms since the epoch).",
        "rebalance_ms": "Total duration of its rebalances (ms).",
        "moved_partitions": "Partitions that its rebalances moved.",
        "avoidable_moves": "Moves that a sticky assignor would have avoided.",
        "redelivered_records": "Records redelivered because committed offsets moved back.",
        "pause_ms": "Time in which rebalances stopped consumption, summed over partitions (ms).",
        "burst_records": "Records that accumulated during these pauses.",
        "stable_lag": "The part of the lag that is not behind an open transaction.",
        "paced_lag": "The part of the lag whose throughput is known.",
        "source": "The source of the group's state.",
        "sharing": "How its members consume partitions.",
        "tasks": "The tasks of Kafka Streams, or the connectors and tasks of Connect, sorted.",
        "processes": "What runs them: application instances, or Connect workers.",
        "task_balance": "The busiest of them; absent: not evaluated, or no tasks.",
        "connect": "Of the workers of a Connect cluster; absent: the group is none.",
        "sink": "The connector whose group it is by its name, according to the topic of configurations; absent: none.",
        "sinks": "Which member is which task of a Connect sink, by the client ids that Connect gives.",
        "settles_ms": "The end of the grace period in which members may still be rebalancing (ms since the epoch).",
    },
    "TaskVerdict": {
        "task": "The name of the task; of Connect, that of the connector itself if it is one.",
        "part": "The subtopology, or the connector.",
        "number": "The number of the task there; null: the connector itself.",
        "owners": "The ids of the members that run it.",
        "standbys": "The ids of the members that keep a copy of its state.",
        "reads": "The partitions that it consumes.",
        "orphan": "Why no member runs it.",
        "since_ms": "Since when no member runs it (ms since the epoch).",
        "last_url": "Connect: the URL of the worker that ran it last.",
        "until_ms": "Connect: until when the leader waits for that worker (ms since the epoch).",
    },
    "ProcessLoad": {
        "members": "The ids of its members.",
        "active": "Number of active tasks.",
        "standby": "Number of standby tasks.",
        "connectors": "Connect: number of connectors.",
        "config_offset": "Connect: the offset of the topic of configurations up to which it had read when it joined.",
    },
    "TaskBalance": {
        "members": "The ids of its members.",
        "tasks": "Its number of active tasks.",
        "fair": "Tasks of the busiest thread in an even assignment.",
    },
    "ConnectVerdict": {
        "connectors": "The connectors that run, or are configured.",
        "leader_url": "The URL of the leader.",
        "config_offset": "The offset of the topic of configurations up to which the leader had read.",
        "delay_until_ms": "Until when the leader waits for a worker that is gone (ms since the epoch).",
    },
    "ConnectorVerdict": {
        "running": "Number of its tasks that run.",
        "tasks": "Number of its configured tasks; absent: the topic of configurations is not read.",
        "state": "What it is to do, as configured; absent: not configured, so it is started, or not known.",
        "sink_group": "The consumer group of the connector if it is a sink.",
        "workers": "The ids of the members that run it or its tasks.",
    },
    "SinkVerdict": {"task": "The number of the task."},
    "SinkState": {
        "state": "What it is to do; absent: it is started.",
        "changed_ms": "When its configuration was last changed (ms since the epoch).",
    },
    "MemberVerdict": {
        "instance_id": "The instance id of a static member.",
        "client_id": "The client id.",
        "host": "The host that it connects from.",
        "topics": "The topics that it subscribes to.",
        "partitions": "Number of partitions that it owns.",
        "expected_partitions": "Number of partitions that it would own if the group rebalanced now.",
        "idle": "Whether it owns no partition while others do; null: not evaluated, as tasks count (Kafka Streams).",
        "unreadable": "Why its data could not be decoded.",
        "epoch": "The epoch of a member of a KIP-848 group.",
        "state": "The reconciliation state of a member of a KIP-848 group.",
        "lag": "The known lag of its partitions, summed.",
        "answers": "Whether it responded to the last request (RocketMQ).",
        "connections": "Number of its connections.",
        "library": "The client library that it uses; absent: unknown, or not a Kafka client.",
        "process": "The application instance that it is a thread of (Kafka Streams).",
        "active_tasks": "Number of tasks that it runs; absent: the group has no tasks.",
        "standby_tasks": "Number of tasks of which it keeps a copy of the state (Kafka Streams).",
        "remarks": "What deviates from Kafka's protocol in its bytes, although groupwatch can decode them.",
    },
    "ClientLibrary": {},
    "LibraryMembers": {"library": "The client library.", "members": "The members of the group that use it."},
    "LibraryUse": {
        "libraries": "The library; several if each of them fits, sorted by name; empty: unknown.",
        "members": "The members in the cluster that use it.",
        "groups": "The groups that have such members.",
    },
    "PartitionVerdict": {
        "owners": "The ids of the members that own it.",
        "expected": "The id of its owner if the group rebalanced now; absent: none, or unknown.",
        "replayed": "The id of the owner that the assignor computes for this generation.",
        "committed": "The committed offset; absent: there is none.",
        "earliest": "The first retained offset.",
        "end": "The end of the log.",
        "orphan": "Why it has no owner, if it should have one.",
        "stable": "The last stable offset, if an open transaction holds back part of the lag.",
    },
    "Pace": {
        "consumed_per_s": "Records consumed per second.",
        "produced_per_s": "Records produced per second.",
    },
    "TopicLag": {"partitions": "Number of the topic's partitions in the group."},
    "Handover": {
        "owner": "The id of the current owner.",
        "heir": "The id of the target owner; absent: none.",
        "is_told": "Whether the coordinator has requested the revocation.",
        "grace_ms": "The grace period of the owner (ms).",
        "partitions": "The partitions.",
    },
    "Explanation": {"statements": "The statements, in reading order."},
    "Statement": {
        "about": "The subject of the sentence.",
        "since_ms": "When it started (ms since the epoch); absent: unknown, or not applicable.",
        "evidence": "The evidence, and what to do.",
    },
    "WhatIf": {
        "assignor": "The simulated assignor.",
        "assignor_before": "The group's assignor.",
        "members": "The members before and after.",
        "moves": "The partitions that get a different owner.",
        "balance_before": "The balance; null: no partition has an owner, or the group has tasks.",
        "balance_after": "The balance after the change; null as above.",
        "idle": "The ids of the members that would own no partition.",
        "orphans": "The partitions that would have no owner.",
        "assumptions": "The assumptions, in sentences.",
        "task_moves": "Streams groups: the tasks that get a different member; absent: it is another group.",
    },
    "TaskMove": {
        "task": "The task: its subtopology and its number.",
        "is_standby": "Whether it is a standby task.",
        "before": "The ids of the members that have it; absent: none.",
        "after": "The ids of the members that would have it; absent: none.",
    },
    "TaskSets": {
        "active": "The active tasks, by name.",
        "standby": "The standby tasks, by name.",
    },
    "MemberChange": {
        "before": "The partitions that it owns.",
        "after": "The partitions that it would own.",
        "partitions_before": "Number of partitions that it owns.",
        "partitions_after": "Number of partitions that it would own.",
        "joins": "Whether it is new.",
        "leaves": "Whether it would leave.",
        "idle": "Whether it would own no partition; of a streams group, whether it would have no task.",
        "tasks_before": "Streams groups: its tasks; absent: it is new, or the group is another one.",
        "tasks_after": "Streams groups: the tasks that it would have; absent: it would leave.",
    },
    "Move": {
        "before": "The ids of its owners; absent: none.",
        "after": "The ids of its owners after the change; absent: none.",
    },
    "BalanceSide": {
        "member_id": "The member with most partitions.",
        "largest": "Its number of partitions.",
        "optimum": "Partitions of the largest member in an optimal assignment.",
        "ratio": "largest divided by optimum.",
    },
    "DeliveryVerdict": {
        "start_offset": "The share group's start offset, which is one acknowledgment behind; absent: none yet.",
        "first_waiting": "The first offset that is not done; absent: there is none, or it is unknown.",
        "lost": "Records that retention removed before they were done.",
        "waiting_redelivery": "Records that were delivered and are available again.",
        "max_deliveries": "The largest delivery count of these records.",
        "last_tries": "Records that are given up if the next delivery fails.",
        "last_try_offsets": "The first ten offsets of these records.",
        "last_tries_since_ms": "Since when there have been such records (ms since the epoch).",
        "given_up": "Records that were archived at the delivery limit since the partition was first seen.",
        "given_up_offset": "The newest offset of these records.",
        "given_up_ms": "When it was archived (ms since the epoch).",
        "rejected": "Other archived offsets: rejected, markers and aborted records of transactions, compacted away.",
        "accepted": "Accepted records since the partition was first seen.",
        "returned": "Records that became available again after a delivery since the partition was first seen.",
        "answered_ms": "When a member last acknowledged records, or a lock expired (ms since the epoch).",
        "is_readable": "Whether the coordinator has initialized the partition for the group.",
        "batches": "Its first 100 batches, by offset.",
        "more_batches": "How many batches follow these.",
    },
    "DeliveryTotals": {
        "accepted": "Accepted records.",
        "returned": "Records that became available again after a delivery.",
        "rejected": "Other archived offsets, as in DeliveryVerdict.",
        "given_up": "Records that were archived at the delivery limit.",
    },
    "DeliveryBatch": {
        "first": "The first offset.",
        "last": "The last offset.",
        "state": "0 available, 2 acknowledged, 4 archived (rejected, or given up at the delivery limit).",
        "deliveries": "How often these records were delivered.",
    },
    "GroupHistory": {"points": "The oldest first, at most 120."},
    "GroupStory": {
        "since_ms": "The beginning of the span (ms since the epoch).",
        "until_ms": "Its end (ms since the epoch).",
        "happened": "What happened, the oldest first.",
        "lag": "The lag at regular instants, the oldest first.",
        "unit": "The unit of the lag.",
    },
    "Happened": {
        "at_ms": "When it happened (ms since the epoch).",
        "about": "What it is about: a rebalance, a finding that opened or closed, or the group itself.",
        "finding": "The kind and reason of the finding.",
    },
    "LagThen": {"at_ms": "The instant (ms since the epoch)."},
    "LagPoint": {
        "at_ms": "When the group was evaluated (ms since the epoch).",
        "lag": "The lag in records (of MetaQ bytes); null: unknown.",
    },
}
"""By type: its fields with a meaning of their own."""


def meaning(type_name: str, field: str) -> str:
    """The meaning of a field of that type.

    Raises:
        KeyError: it is not described.
    """
    return SPECIAL[type_name].get(field) or FIELDS[field]

"""Groups without members, judged and exposed as ever: which alerts tell of them, by kind and by what else is known.

The rules leave out what another alert tells (monitor.alert_rules.lag); that it does is asked of the series as they are.
"""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from monitor.alert_rules import rules_file
from monitor.detection.evaluate import evaluate
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.metrics.render import render_groups
from monitor.model import CommittedOffset, EndOffsetAt, GroupKind, GroupState, Phase, Sharing, TopicState
from monitor.model.commit_history import CommitPoint, extend
from tests.dashboards.alert_cases import UP, Series
from tests.dashboards.promtool import FIRED, in_cluster, run_cases
from tests.support.builders import catalog, group, topic

MINUTE = 60_000
HOUR = 60 * MINUTE
NOW = 100 * HOUR
LEFT = NOW - 2 * HOUR
"""When the members left."""

READ = NOW - 90 * MINUTE
"""When that was written which the group has committed: so old is what waits, 27,000 records."""

END = 1_000_000


def end_at(at_ms: int) -> int:
    """Five records are written each second."""
    return END - 5 * (NOW - at_ms) // 1000


def orders(*, partition: int | str = 0, has_markers: bool = False) -> TopicState:
    """A topic whose newest ten minutes are remembered, and some of the three hours before."""
    newest = tuple(EndOffsetAt(at, end_at(at)) for at in range(NOW - 10 * MINUTE, NOW + 1, 20_000))
    older = tuple(EndOffsetAt(at, end_at(at)) for at in range(NOW - 3 * HOUR, NOW - HOUR + 1, 30 * MINUTE))
    whole = topic("orders", 1, end=END)
    (state,) = whole.partitions
    state = replace(state, partition=partition, ends=newest, older=older, first_seen_ms=HOUR)
    return replace(whole, partitions=(state,), pass_ms=NOW, has_markers=has_markers)


def rested(*, has_markers: bool) -> TopicState:
    """A topic in which nothing has been written for hours."""
    whole = orders(has_markers=has_markers)
    (state,) = whole.partitions
    ends = (EndOffsetAt(NOW - 3 * HOUR, END), EndOffsetAt(NOW, END))
    return replace(whole, partitions=(replace(state, ends=ends, older=()),))


def committed(*points: tuple[int, int], partition: int | str = 0) -> CommittedOffset:
    """The commits of the partition, each with its time and its offset."""
    history = extend(b"", [CommitPoint(at_ms, offset) for at_ms, offset in points])
    at_ms, offset = points[-1]
    return CommittedOffset(topic="orders", partition=partition, offset=offset, committed_ms=at_ms, history=history)


def away(offset: CommittedOffset, **more: object) -> GroupState:
    """A group of consumers whose members have left."""
    return group(offsets=[offset], phase=Phase.EMPTY, phase_ms=LEFT, generation_ms=LEFT, **more)


def exposed(state: GroupState, topic_state: TopicState) -> Series:
    """What is exposed of the group now, for two hours: what is told does not depend on how ages grow."""
    verdict = evaluate(state, catalog(topic_state, pass_ms=NOW), NOW, DetectionSettings())
    lines = [line for block in render_groups([verdict]) for line in block.samples.splitlines()]
    return UP | {series: f"{value}x120" for series, value in (line.rsplit(" ", 1) for line in lines)}


LONG_AGO = [(LEFT - 10_000 * back, end_at(READ)) for back in range(10, -1, -1)]
"""Nobody has committed since the members left, though somebody set the offset forward then."""

BEHIND = {"GroupwatchLagOld", "GroupwatchLagVeryOld"}
STOPPED = BEHIND | {"GroupwatchPartitionSilent"}

GROUPS: dict[str, tuple[GroupState, TopicState, set[str]]] = {
    "consumers": (away(committed(*LONG_AGO)), orders(), {"GroupwatchGroupWithoutMembers"}),
    "consumers of KIP-848": (
        away(committed(*LONG_AGO), kind=GroupKind.CONSUMER),
        orders(),
        {"GroupwatchGroupWithoutMembers"},
    ),
    "Kafka Streams (KIP-1071)": (
        away(committed(*LONG_AGO), kind=GroupKind.STREAMS, protocol_type=""),
        orders(),
        STOPPED,
    ),
    "RocketMQ, clustering": (
        away(committed(*LONG_AGO, partition="b:0"), kind=GroupKind.ROCKETMQ),
        orders(partition="b:0"),
        {"GroupwatchGroupWithoutMembers"},
    ),
    "RocketMQ, broadcasting": (
        away(committed(*LONG_AGO, partition="b:0"), kind=GroupKind.ROCKETMQ, sharing=Sharing.BROADCAST),
        orders(partition="b:0"),
        STOPPED,
    ),
    "RocketMQ, POP": (
        away(committed(*LONG_AGO, partition="b:0"), kind=GroupKind.ROCKETMQ, sharing=Sharing.BY_RECORD),
        orders(partition="b:0"),
        STOPPED,
    ),
    "somebody else reads under its name, one record a second": (
        away(committed(*[(NOW - 10_000 * back, end_at(READ) - 10 * back) for back in range(60, -1, -1)])),
        orders(),
        BEHIND,
    ),
    "somebody else commits under its name, always the same": (
        away(committed(*[(NOW - 10_000 * back, end_at(READ)) for back in range(60, -1, -1)])),
        orders(),
        {"GroupwatchPartitionStalled"},
    ),
    "the marker of a transaction is all that waits": (
        away(committed((LEFT - MINUTE, END - 2), (LEFT, END - 1))),
        rested(has_markers=True),
        set(),
    ),
    "a record is all that waits": (
        away(committed((LEFT - MINUTE, END - 2), (LEFT, END - 1))),
        rested(has_markers=False),
        {"GroupwatchGroupWithoutMembers"},
    ),
}


def test_a_group_without_members_that_is_behind_is_told_and_by_what_knows_most_of_it(tmp_path: Path):
    """Each in a cluster of its own, in one run: promtool evaluates all rules at each minute, whatever they find."""
    series, looks = [], []
    for number, (state, topic_state, expected) in enumerate(GROUPS.values()):
        cluster = f"c-{number}"
        for name, values in exposed(state, topic_state).items():
            assert name.count('{cluster="c"') == 1
            series.append({"series": name.replace('{cluster="c"', f'{{cluster="{cluster}"'), "values": values})
        fired = [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in sorted(expected)]
        looks.append({"expr": in_cluster(FIRED, cluster), "eval_time": "119m", "exp_samples": fired})
    test = {"name": "; ".join(GROUPS), "interval": "1m", "input_series": series, "promql_expr_test": looks}
    run_cases(tmp_path, rules_file(), [test])

"""A verdict holds until the instant that it names: judging only then tells the same as judging all the time.

Random groups of every kind, with thresholds of seconds so that a minute has many of them.
"""

from __future__ import annotations

from math import inf

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.detection import DetectionSettings
from monitor.detection.catalog_inputs import concerns_of
from monitor.detection.evaluate import Judged, judge_until
from monitor.detection.group_summary import summary_of
from monitor.detection.ownership.assignment_view import view_assignment
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.ownership.self_assigned.grace_period import as_of_ms
from monitor.detection.thresholds.burrow import BurrowSettings
from monitor.metrics.age_instants import with_ages, with_instants
from monitor.metrics.render import render_groups
from monitor.model import (
    Catalog,
    CommitPoint,
    CommittedOffset,
    EndFall,
    EndOffsetAt,
    FindingKind,
    GroupKind,
    GroupState,
    GroupVerdict,
    Member,
    MemberState,
    PartitionState,
    Phase,
    Rebalance,
    RebalanceInProgress,
    Reconciliation,
    Release,
    Rewind,
    Sharing,
    Source,
    TopicPartitions,
    TopicState,
    Truncations,
)
from monitor.model.commit_history import extend
from tests.support.builders import NOW, catalog, commit, group, redated, topic
from tests.support.examples import example_count

SECONDS = 90
LATELY = st.integers(NOW - 100_000, NOW + 30_000)
"""Around now; what other machines date may lie ahead."""

BRIEF = st.integers(0, 40_000)
TOPIC = "t"
PARTITIONS = 3


def rising(low: int, high: int) -> st.SearchStrategy[list[tuple[int, int]]]:
    """Points in time with offsets that do not fall."""
    points = st.lists(st.tuples(LATELY, st.integers(low, high)), min_size=1, max_size=12)
    return points.map(lambda each: list(zip(sorted(at for at, _ in each), sorted(o for _, o in each), strict=True)))


FALLS = st.builds(EndFall, from_ms=LATELY, at_ms=LATELY, before=st.integers(41, 60), after=st.integers(20, 40))


@st.composite
def partition_states(draw: st.DrawFn, number: int) -> PartitionState:
    ends = draw(rising(20, 40))
    stable = draw(st.none() | st.integers(20, ends[-1][1]))
    return PartitionState(
        partition=number,
        first_seen_ms=draw(st.sampled_from([0, NOW - 60_000, NOW - 1_000])),
        earliest=draw(st.sampled_from([None, 0, 22, 30])),
        end=ends[-1][1],
        ends=tuple(EndOffsetAt(at_ms, offset) for at_ms, offset in ends),
        former_ms=draw(st.sampled_from([0, 0, 0, NOW - 50_000])),
        earliest_ms=draw(st.sampled_from([NOW - 70_000, NOW + 5_000])),
        stable=stable,
        stable_ms=draw(LATELY) if stable is not None else 0,
        released=draw(st.none() | st.builds(Release, at_ms=LATELY, offset=st.integers(20, 40))),
        woken=draw(st.none() | st.builds(EndOffsetAt, at_ms=LATELY, offset=st.integers(20, 40))),
        truncations=draw(st.none() | st.builds(Truncations, st.none() | FALLS, st.none() | FALLS, st.integers(0, 9))),
    )


@st.composite
def commits(draw: st.DrawFn, number: int) -> CommittedOffset:
    points = draw(rising(18, 41))
    history = extend(b"", [CommitPoint(at_ms, offset) for at_ms, offset in points])
    at_ms, offset = points[-1]
    rewind = draw(st.none() | st.builds(Rewind, LATELY, st.integers(30, 45), st.integers(18, 29)))
    return CommittedOffset(
        topic=TOPIC, partition=number, offset=offset, committed_ms=at_ms, history=history, last_rewind=rewind
    )


@st.composite
def members(draw: st.DrawFn, name: str, owned: tuple[int, ...], kind: GroupKind) -> Member:
    view = None
    if kind is GroupKind.CONSUMER:
        state = draw(st.sampled_from([MemberState.STABLE, MemberState.UNREVOKED_PARTITIONS]))
        view = Reconciliation(epoch=5, state=state, since_ms=draw(LATELY))
    return Member(
        member_id=name,
        topics=(TOPIC,),
        assigned=(TopicPartitions(TOPIC, owned),) if owned else (),
        session_timeout_ms=draw(BRIEF),
        rebalance_timeout_ms=draw(BRIEF),
        reconciliation=view,
        connections=draw(st.sampled_from([1, 1, 2])),
    )


@st.composite
def groups(draw: st.DrawFn) -> GroupState:
    kind = draw(st.sampled_from(list(GroupKind)))
    phase = draw(st.sampled_from([Phase.STABLE, Phase.STABLE, Phase.EMPTY, Phase.ASSIGNING, Phase.OFFSETS_ONLY]))
    owners = [draw(st.integers(0, 2)) for _ in range(PARTITIONS)]  # 2: nobody
    own = [tuple(number for number, owner in enumerate(owners) if owner == index) for index in range(2)]
    joined = phase not in {Phase.EMPTY, Phase.OFFSETS_ONLY}
    ends = sorted(draw(st.lists(LATELY, max_size=6)))
    return GroupState(
        cluster="c",
        group="g",
        kind=kind,
        phase=phase,
        phase_ms=draw(LATELY),
        protocol=draw(st.sampled_from(["range", "roundrobin", "AVG"])),
        protocol_type="consumer",
        generation=3,
        generation_ms=draw(LATELY),
        members=tuple(draw(members(f"C{index}", own[index], kind)) for index in range(2)) if joined else (),
        offsets=tuple(draw(commits(number)) for number in range(draw(st.integers(0, PARTITIONS)))),
        history=tuple(Rebalance(generation=n, started_ms=end - 5, ended_ms=end) for n, end in enumerate(ends)),
        sampled=draw(st.none() | st.builds(RebalanceInProgress, LATELY, LATELY, st.none(), st.booleans())),
        source=draw(st.sampled_from([Source.LOG, Source.SYSTEM, Source.CHECKPOINT])),
        observed_ms=draw(LATELY),
        sharing=draw(st.sampled_from(list(Sharing))),
    )


@st.composite
def catalogs(draw: st.DrawFn) -> Catalog:
    partitions = tuple(draw(partition_states(number)) for number in range(PARTITIONS))
    state = TopicState(
        cluster="c", topic=TOPIC, pass_ms=NOW, topic_id="T", partitions=partitions, has_markers=draw(st.booleans())
    )
    return catalog(state, pass_ms=draw(LATELY))


THRESHOLDS = st.builds(
    DetectionSettings,
    commit_silence_ms=st.integers(0, 20_000),
    lag_records=st.sampled_from([None, 0, 3]),
    handover_ms=st.none() | BRIEF,
    rebalance_long_ms=BRIEF,
    storm_rebalances=st.integers(2, 4),
    storm_window_ms=st.integers(1, 30_000),
    skew_records=st.sampled_from([0, 5]),
    skew_ms=BRIEF,
    retention_share=st.sampled_from([0.1, 0.8]),
    burrow=st.builds(BurrowSettings, allowed_lag=st.sampled_from([0, 2])),
    zookeeper_settling_ms=BRIEF,
    rocketmq_settling_ms=BRIEF,
    connection_expiry_ms=BRIEF,
)


def without_ages(verdict: GroupVerdict) -> GroupVerdict:
    """But for what grows by a second a second, and for when its lag and its findings began."""
    return replace(
        verdict,
        evaluated_ms=0,
        findings=tuple(replace(each, since_ms=0) for each in verdict.findings),
        lag_ms=None,
        lag_at_least_ms=None,
        lag_since_ms=None,
        topics=tuple(replace(topic, lag_ms=None) for topic in verdict.topics),
        partitions=tuple(replace(row, lag_ms=None) for row in verdict.partitions),
    )


def without_rates(verdict: GroupVerdict) -> GroupVerdict:
    """But for how fast partitions are read and written, what follows from it, and the status by Burrow's rules.

    Of a lopsided lag, only the cause follows from it.
    """
    bare = [
        replace(each, sentence="", partitions=())
        if (each.kind, each.reason) == (FindingKind.IMBALANCE, "lag")
        else each
        for each in verdict.findings
    ]
    return replace(
        verdict,
        findings=tuple(each for each in bare if (each.kind, each.reason) != (FindingKind.RETENTION, "close_to_loss")),
        partitions=tuple(replace(row, pace=None, status=None) for row in verdict.partitions),
        status=None,
        pace=None,
        catch_up_ms=None,
        paced_lag=None,
    )


@settings(max_examples=example_count(1.5), suppress_health_check=list(HealthCheck))
@given(groups(), catalogs(), THRESHOLDS, st.integers(0, 999))
def test_judging_when_it_is_due_tells_the_same_as_judging_every_second(state, topics, thresholds, offset_ms):
    view, known = view_assignment(state, topics), Topics(topics)

    def judged(now_ms: int) -> Judged:
        return judge_until(state, known, view, now_ms, thresholds)

    def begins_now(each: Judged, since_ms: int) -> bool:
        """What another clock dates later than now begins now, whenever that is."""
        return since_ms == as_of_ms(state, topics.pass_ms, each.verdict.evaluated_ms)

    kept = judged(NOW + offset_ms)
    for now_ms in range(NOW + offset_ms, NOW + offset_ms + 1_000 * SECONDS, 1_000):
        fresh = judged(now_ms)
        if kept.until_ms is not None and now_ms >= kept.until_ms:
            kept = fresh
        assert without_ages(fresh.verdict) == without_ages(kept.verdict), f"{now_ms - NOW} ms later"
        if fresh.verdict.lag_ms and kept.verdict.lag_ms:  # an age of 0 may be one that is not reached yet
            assert fresh.verdict.lag_since_ms == kept.verdict.lag_since_ms, f"{now_ms - NOW} ms later"
        for new, old in zip(fresh.verdict.findings, kept.verdict.findings, strict=True):
            both_begin = begins_now(fresh, new.since_ms) and begins_now(kept, old.since_ms)
            assert both_begin or new.since_ms == old.since_ms, f"{now_ms - NOW} ms later"


@settings(max_examples=example_count(1.5), suppress_health_check=list(HealthCheck))
@given(groups(), catalogs(), THRESHOLDS, st.integers(0, 999))
def test_ages_that_grow_evenly_need_no_judging_until_it_is_due(state, topics, thresholds, offset_ms):
    """The samples with instants, made once, are at each second those of a verdict that is made then."""
    view, known, began_ms = view_assignment(state, topics), Topics(topics), NOW + offset_ms
    kept = judge_until(state, known, view, began_ms, thresholds)
    if not kept.grows_evenly:
        return
    dated = with_instants(render_groups([kept.verdict]), began_ms)
    until_ms = min(kept.until_ms or inf, began_ms + 1_000 * SECONDS)
    for now_ms in range(began_ms, int(until_ms), 1_000):
        fresh = judge_until(state, known, view, now_ms, thresholds).verdict
        assert with_ages(dated, now_ms) == render_groups([fresh]), f"{now_ms - NOW} ms later"
        assert replace(summary_of(fresh), findings=()) == replace(summary_of(kept.verdict), findings=())
        assert fresh.findings == kept.verdict.findings


def test_the_ages_of_a_query_do_not_grow_though_it_was_read_at_this_very_instant():
    """It is judged as of its reading, so they stay from the next millisecond on."""
    known = catalog(redated(topic("t", 1), NOW + 10_000))
    query = group(offsets=(commit("t", 0, 60, NOW - 1_000),), observed_ms=NOW + 20_000)
    for source, grows in ((Source.LOG, True), (Source.CHECKPOINT, False)):
        state = replace(query, source=source)
        judged = judge_until(
            state,
            Topics(known),
            view_assignment(state, known),
            NOW + 20_000,
            DetectionSettings(commit_silence_ms=60_000),
        )
        assert judged.has_ages
        assert judged.grows_evenly == grows, source


@settings(max_examples=example_count(1.5), suppress_health_check=list(HealthCheck))
@given(groups(), catalogs(), THRESHOLDS, st.integers(1, 200_000))
def test_a_verdict_whose_concerns_a_later_pass_leaves_as_they_are_is_that_by_the_later_pass(
    state, topics, thresholds, later_ms
):
    """That is why the bucket keeps it. A pass that finds nothing else has dated all ends anew."""
    later = replace(
        topics,
        pass_ms=topics.pass_ms + later_ms,
        topics={TOPIC: redated(topics.topics[TOPIC], NOW + 30_000 + later_ms)},
    )
    before, after = (Topics(each) for each in (topics, later))
    views = [view_assignment(state, each) for each in (topics, later)]
    kept = judge_until(state, before, views[0], now_ms := NOW + 30_000, thresholds)
    fresh = judge_until(state, after, views[1], now_ms, thresholds)
    if not kept.has_ages and concerns_of(state, views[0], before) == concerns_of(state, views[1], after):
        assert without_ages(fresh.verdict) == without_ages(kept.verdict)


@settings(max_examples=example_count(1.5), suppress_health_check=list(HealthCheck))
@given(groups(), catalogs(), THRESHOLDS, st.integers(1, 200_000))
def test_so_is_one_with_ages_that_grow_evenly_but_for_what_is_measured_up_to_the_newest_date(
    state, topics, thresholds, later_ms
):
    """Once a pass has seen the ends where the one before did."""
    passes = [
        replace(topics, pass_ms=at_ms, topics={TOPIC: redated(topics.topics[TOPIC], at_ms)})
        for at_ms in (NOW + 30_000, NOW + 30_000 + later_ms)
    ]
    before, after = (Topics(each) for each in passes)
    views = [view_assignment(state, each) for each in passes]
    kept = judge_until(state, before, views[0], now_ms := NOW + 30_000, thresholds)
    if not kept.grows_evenly:
        return
    concerns = [
        concerns_of(state, view, each, has_ages=True) for view, each in zip(views, (before, after), strict=True)
    ]
    if concerns[0] == concerns[1]:
        fresh = judge_until(state, after, views[1], now_ms, thresholds)
        assert without_rates(fresh.verdict) == without_rates(kept.verdict)

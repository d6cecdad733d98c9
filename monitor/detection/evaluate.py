"""The verdict on one group: read the facts once, judge every partition and member, then ask every rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from math import inf
from typing import Final

from msgspec.structs import asdict, replace

from monitor.detection.brokers import missed_brokers, topics_without_leader
from monitor.detection.even_ages import begins_now, grow_evenly
from monitor.detection.explanations import explanations
from monitor.detection.hidden_topics import HiddenTopics, hidden_topics, still_true, unlisted_topics
from monitor.detection.lag.deliveries import commits_of, configs_of, read_deliveries, totals_of, with_lag
from monitor.detection.lag.doubtful_ends import (
    beyond_end_since_ms,
    former_lag,
    has_doubtful_end,
    may_precede_truncation,
)
from monitor.detection.lag.expiry import expired_offsets, expiries_of
from monitor.detection.lag.lag import (
    is_of_former_log,
    lag_at_least_ms,
    lag_by_topic,
    lag_ms,
    lag_records,
    oldest_ms,
    total,
)
from monitor.detection.lag.skips import skips_of
from monitor.detection.lag.throughput import lag_status, last_catch_up_ms, pace_of, paced_rows, progress_of, total_pace
from monitor.detection.lag.uncommitted import invalid_places, left_behind, uncommitted_records
from monitor.detection.lag.unprocessed import redelivery_of, unreadable_records
from monitor.detection.moment import Moment
from monitor.detection.offsets_topic import block_start_ms, hiding_fault
from monitor.detection.ownership.assignment_view import AssignmentView, view_assignment
from monitor.detection.ownership.catalog_view import Places, Topics
from monitor.detection.ownership.context import Facts, Losses, Ownership
from monitor.detection.ownership.self_assigned.grace_period import as_of_ms, next_settling_ms, settles_ms, told_until
from monitor.detection.ownership.tasks.connect import sink_of, tasks_now
from monitor.detection.rules.lag_imbalance import members_with_lag
from monitor.detection.rules.open_transaction import records_held_back
from monitor.detection.rules.orphaned import Orphans, judge_tasks, orphans_of
from monitor.detection.rules.rebalance import rebalancing_since_ms
from monitor.detection.rules.registry import applicable_rules
from monitor.detection.rules.retention import kept_waiting, lost_records
from monitor.detection.rules.rule import Rule
from monitor.detection.thresholds.burrow import BurrowSettings, worst_of
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.detection.unknown_versions import unknown_versions
from monitor.findings.alerts import changed_age_s
from monitor.findings.observation import Observation
from monitor.findings.sentences import sentence_of
from monitor.findings.table import by_rank, rank
from monitor.kinds.offset_expiry import known_kind
from monitor.kinds.short_lives import has_siblings, short_life
from monitor.model import (
    KINDS,
    MOST,
    Catalog,
    CommittedOffset,
    Finding,
    GroupState,
    GroupVerdict,
    LagStatus,
    OrphanReason,
    PartitionState,
    PartitionVerdict,
    Phase,
    TaskVerdict,
    TopicPartition,
    Value,
    traits_of,
)
from monitor.model.commit_attempts import without_failed_attempts
from monitor.model.findings import SubordinateFinding

AGES_HOLD_MS: Final = 5_000
"""How late an age may be shown in any case (ms)."""
LONGEST_AGES_HOLD_MS: Final = 30_000
"""How late the age of a long outage may be: as late as a job looks at a quiet fleet."""
AGE_SHARE: Final = 20
"""An age may be late by one part of so many of it: "10 min" says the same for half a minute."""

_OK: Final = LagStatus.OK
_REWIND: Final = LagStatus.REWIND
_GONE: Final = Phase.GONE
_UNSEEN: Final = Phase.UNSEEN


def evaluate(group: GroupState, catalog: Catalog, now_ms: int, settings: DetectionSettings) -> GroupVerdict:
    """The verdict on a group at an instant. Pure: equal arguments give equal verdicts.

    Args:
        group: the group's state, of the same cluster as the catalog.
        catalog: the topics that exist now. Subscribed or assigned topics that it lacks count as not existing.
        now_ms: the instant, in milliseconds since the epoch. A finding never begins later.
        settings: the thresholds.
    """
    return judge(group, Topics(catalog), view_assignment(group, catalog), now_ms, settings)


class Judged(Value):
    """A verdict, and until when it holds while its inputs stay the same; None: for as long as they do.

    But for its ages, those of the lag and of findings, which grow meanwhile: they may be shown for ``ages_hold_ms``.
    None: it has none. Where a commit is newer than the end of its partition, the date of the next poll alone may change
    it, too. ``grows_evenly``: its ages are the times since instants that stay (monitor.detection.even_ages).
    """

    verdict: GroupVerdict
    until_ms: int | None
    ages_hold_ms: int | None
    grows_evenly: bool = False

    @property
    def has_ages(self) -> bool:
        """Whether it has an age, or may change with the next poll alone."""
        return self.ages_hold_ms is not None

    def with_addition(self, verdict: GroupVerdict, due_ms: int | None) -> Judged:
        """The same for its verdict with something added, which holds until ``due_ms``; None: for as long as the rest.

        A finding that is added has an age.
        """
        hold_ms = self.ages_hold_ms
        return replace(
            self,
            verdict=verdict,
            until_ms=min([each for each in (self.until_ms, due_ms) if each is not None], default=None),
            ages_hold_ms=AGES_HOLD_MS if hold_ms is None and verdict.findings else hold_ms,
            grows_evenly=self.grows_evenly and not begins_now(verdict),
        )


def judge(
    group: GroupState, topics: Topics, view: AssignmentView, now_ms: int, settings: DetectionSettings
) -> GroupVerdict:
    """As :func:`evaluate`, where the view of the group is known already."""
    return judge_until(group, topics, view, now_ms, settings).verdict


def judge_by_each(
    group: GroupState, topics: Topics, view: AssignmentView, now_ms: int, settings: tuple[DetectionSettings, ...]
) -> tuple[GroupVerdict, ...]:
    """As :func:`judge`, by several thresholds. What does not depend on them is worked out once."""
    first, *others = settings
    facts = facts_of(group, topics, view, now_ms, first)
    verdicts = [_verdict_of(facts, view, now_ms)]
    for other in others:
        if _partitions_depend_on(other) == _partitions_depend_on(first):
            same = replace(facts, settings=other)
        else:
            same = facts_of(group, topics, view, now_ms, other)
        verdicts.append(_verdict_of(same, view, now_ms))
    return tuple(verdicts)


def _partitions_depend_on(settings: DetectionSettings) -> DetectionSettings:
    """The thresholds that :func:`facts_of` looks at; the others have their defaults."""
    return DetectionSettings(
        burrow=settings.burrow,
        delivery_limit=settings.delivery_limit,
        rocketmq_settling_ms=settings.rocketmq_settling_ms,
        zookeeper_settling_ms=settings.zookeeper_settling_ms,
        route_refresh_ms=settings.route_refresh_ms,
    )


def judge_until(
    group: GroupState, topics: Topics, view: AssignmentView, now_ms: int, settings: DetectionSettings
) -> Judged:
    """As :func:`judge`, with how long it holds."""
    facts = facts_of(group, topics, view, now_ms, settings)
    verdict = _verdict_of(facts, view, now_ms)
    next_ms = facts.moment.next_ms
    is_never = next_ms == inf or facts.now_ms < now_ms  # time does not go on for a group until it is read again
    until_ms = None if is_never else int(next_ms)
    return Judged(verdict, until_ms, _ages_hold_ms(facts, verdict), grow_evenly(facts, verdict))


def _ages_hold_ms(facts: Facts, verdict: GroupVerdict) -> int | None:
    """For how long the ages of a verdict may be shown; None without any. The youngest of them says it.

    To judge a fleet whose consumers have stopped every five seconds takes as much as all else (docs/performance.md).
    """
    if facts.awaits_poll or facts.uncommitted:
        return AGES_HOLD_MS
    if not facts.waiting and not verdict.findings:
        return None
    ages = [facts.now_ms - finding.since_ms for finding in verdict.findings]
    ages += [row.lag_ms for row in facts.waiting if row.lag_ms is not None]
    return min(max(min(ages, default=0) // AGE_SHARE, AGES_HOLD_MS), LONGEST_AGES_HOLD_MS)


def _verdict_of(facts: Facts, view: AssignmentView, now_ms: int) -> GroupVerdict:
    group, settings = facts.group, facts.settings
    hidden = hidden_topics(group, facts.catalog)
    found = findings_of(facts, applicable_rules(facts))
    if hidden is not None:
        found = _with_findings_of(hidden, facts, found)
    unlisted, without_leader = _unlisted_topics(facts), topics_without_leader(facts.partitions, facts.catalog)
    uncounted: AbstractSet[str] = frozenset()
    if group.unread_commits or facts.beyond_end:
        uncounted = {each.topic for each in group.unread_commits} | {place.topic for place in facts.beyond_end}
    topics_lag = lag_by_topic(facts.partitions, uncounted, facts.uncommitted)
    waiting = facts.waiting
    cut = [row for row in waiting if row.earliest]
    known = lag = total([topic.lag if topic.lag_at_least is None else topic.lag_at_least for topic in topics_lag])
    age_ms = oldest_ms(topics_lag)
    at_least_ms = age_ms
    if uncounted:
        known = None
    # The sum of the rest would look as if nothing waited there.
    if uncounted or facts.uncommitted or hidden or unlisted:
        lag = age_ms = None
        at_least_ms = max([row.lag_ms for row in waiting if row.lag_ms is not None], default=None)
    at_least_ms = lag_at_least_ms(facts, at_least_ms)
    paced = paced_rows(waiting) if lag is not None else ()
    pace = total_pace([row.pace for row in paced]) if paced else None
    paced_lag = total([row.lag for row in paced]) if paced else None
    return GroupVerdict(
        cluster=group.cluster,
        group=group.group,
        kind=known_kind(group),
        state=_GONE if group.phase is _UNSEEN else group.phase,
        evaluated_ms=now_ms,
        assignor=facts.group.protocol,
        expectation=facts.expectation.kind,
        generation=group.generation,
        generation_ms=group.generation_ms,
        members=facts.members,
        partitions=facts.partitions,
        findings=found,
        lag=lag,
        lag_ms=age_ms,
        imbalance_ratio=facts.balance.ratio if facts.balance else None,
        rebalances=group.rebalances,
        status=_status(facts, lag),
        topics=topics_lag,
        pace=pace,
        catch_up_ms=0 if lag == 0 else last_catch_up_ms(paced),
        lost=None if known is None else total([0, *[lost_records(row) for row in cut]]),
        kept_waiting=None if known is None else max([0.0, *[kept_waiting(row) for row in cut]]),
        handovers=view.expectation.handovers,
        rebalancing_since_ms=rebalancing_since_ms(group, facts.moment),
        rebalance_ms=group.rebalance_ms,
        moved_partitions=group.moved_partitions,
        avoidable_moves=group.avoidable_moves,
        redelivered_records=group.redelivered_records,
        pause_ms=group.pause_ms,
        burst_records=group.burst_records,
        stable_lag=None if lag is None else max(0, lag - records_held_back(waiting)),
        paced_lag=paced_lag,
        source=group.source,
        sharing=group.sharing,
        settles_ms=next_settling_ms(group, view.grown_ms, settings, facts.moment),
        lag_at_least_ms=at_least_ms,
        lag_since_ms=facts.now_ms - age_ms if lag and age_ms is not None else None,
        deliveries=tuple(facts.deliveries.values()) if facts.deliveries else (),
        delivery_totals=totals_of(group, facts.delivery_limit),
        delivery_limit=facts.delivery_limit if facts.deliveries is not None else None,
        has_default_limit=facts.deliveries is not None and configs_of(group).delivery_limit is None,
        tasks=facts.tasks,
        processes=view.tasks.processes if view.tasks else (),
        task_balance=view.tasks.balance if view.tasks else None,
        connect=view.tasks.connect if view.tasks else None,
        sinks=facts.sinks,
        sink=facts.sink,
        unknown_versions=unknown_versions(group),
        skips=facts.losses.skips,
        offsets_expire_ms=min(facts.losses.expiries.values()) if facts.losses.expiries else None,
        expired_offsets=facts.losses.expired,
        lag_at_least=known if lag is None else None,
        uncommitted_partitions=len(facts.uncommitted),
        uncommitted_records=min(MOST, sum(facts.uncommitted.values())),
        short_life=facts.losses.short_life,
        subordinate=subordinate_findings(facts, found, has_no_leader=bool(without_leader)),
        hidden_topics=(hidden.topics if hidden is not None else ()) + unlisted,
        missed_brokers=missed_brokers(group, facts.catalog),
        topics_without_leader=without_leader,
        blocked_since_ms=block_start_ms(group, facts.catalog, now_ms - (at_least_ms or 0)),
        redelivery=redelivery_of(group),
        unreadable_records=unreadable_records(group),
    )


def _unlisted_topics(facts: Facts) -> tuple[str, ...]:
    """The topics that the group has committed in the log, and that groupwatch may not see."""
    if len(facts.partitions) == len(facts.known) or not facts.traits.commits_to_log or not facts.catalog.pass_ms:
        return ()  # as nearly always
    return unlisted_topics(facts.committed, facts.catalog)


def _status(facts: Facts, lag: int | None) -> LagStatus | None:
    """By Burrow's rules, which ask for commits: share groups make none."""
    if facts.deliveries is not None:
        return None
    rows = facts.partitions if facts.former_lag else facts.waiting  # of what went back, the lag is not known yet
    worst = worst_of([row.status for row in rows if row.status])
    is_hidden = any(row.status is None for row in facts.waiting)
    if (is_hidden and worst is not LagStatus.ERR) or (worst is _OK and facts.uncommitted):
        return None  # nothing is known to be wrong where nothing is known
    return worst or (None if lag is None else LagStatus.OK)


def findings_of(facts: Facts, rules: Iterable[Rule]) -> tuple[Finding, ...]:
    """What the rules find, the worst first, each with its sentence.

    Raises:
        KeyError: a rule has found what has no row in monitor.findings.table.
    """
    observed = [found for rule in rules for found in rule.find(facts)]
    if not observed:
        return ()
    observed.sort(key=lambda found: rank(found.kind, found.reason))
    return tuple([_as_finding(found, facts) for found in observed])


def _with_findings_of(hidden: HiddenTopics, facts: Facts, own: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings of a group, and those of topics that are no longer seen as they were when they were last seen."""
    group, then = facts.group, hidden.catalog
    before = facts_of(group, Topics(then), view_assignment(group, then), hidden.seen_ms, facts.settings)
    kept = still_true(findings_of(before, applicable_rules(before)), hidden, group)
    return by_rank([*own, *_besides(own, kept)])


def subordinate_findings(
    facts: Facts, own: Iterable[Finding], *, has_no_leader: bool
) -> tuple[SubordinateFinding, ...]:
    """What would be found of the group if a finding of the cluster that lasts did not explain it.

    ``has_no_leader``: a partition that concerns the group has no leader.
    """
    found: list[SubordinateFinding] = []
    for follows, catalog in explanations(facts.group, facts.catalog, has_no_leader=has_no_leader):
        bare = replace(facts, catalog=catalog)
        new = _besides([*own, *found], findings_of(bare, applicable_rules(facts)))
        found += [SubordinateFinding(**asdict(each), follows=follows) for each in new]
    return tuple(found)


def _besides(own: Iterable[Finding], others: Iterable[Finding]) -> list[Finding]:
    """Those of the others of a kind and reason that a group has no finding of."""
    known = {(each.kind, each.reason) for each in own}
    return [each for each in others if (each.kind, each.reason) not in known]


def _as_finding(found: Observation, facts: Facts) -> Finding:
    """The only place where what was found becomes words."""
    return Finding(
        kind=found.kind,
        reason=found.reason,
        since_ms=found.since_ms,
        sentence=sentence_of(found, facts.group, facts.sinks, facts.sink),
        partitions=found.partitions,
        members=found.members,
        cause=found.cause,
        tasks=found.tasks,
        library=found.library,
        alert_age_s=changed_age_s(found.kind, found.reason, facts.settings.alert_ages),
    )


def facts_of(
    group: GroupState, topics: Topics, view: AssignmentView, now_ms: int, settings: DetectionSettings
) -> Facts:
    """The facts that the rules read."""
    group = view.named(group)
    owners = view.ownership.owners
    limit = configs_of(group).delivery_limit or settings.delivery_limit
    shared = read_deliveries(group, topics, view.ownership.subscribed, limit)
    committed = (
        {
            TopicPartition(each.topic, each.partition): without_failed_attempts(each) if each.attempts else each
            for each in group.offsets
        }
        if shared is None
        else commits_of(shared, topics)
    )
    known = _known(topics, view.ownership, (*committed, *invalid_places(group)))
    left = left_behind(group, topics, committed)
    if left:
        known = dict(sorted((known | left).items()))
    moment = Moment(as_of_ms(group, topics.catalog.pass_ms, now_ms))
    is_settling = KINDS[group.kind].is_self_assigned and not moment.has_come(settles_ms(group, view.grown_ms, settings))
    orphans = {} if is_settling else orphans_of(group, topics.catalog, view.ownership, view.expectation, known)
    is_all = known.keys() >= owners.keys() and known.keys() >= committed.keys()
    places = known if is_all else sorted(known.keys() | owners.keys() | committed.keys())
    judge = _Judge(group, view, orphans, moment, settings.burrow)
    judge.is_hidden = hiding_fault(group, topics.catalog, moment, settings.commit_silence_ms) is not None
    judged = judge.partition
    partitions = tuple([judged(place, known.get(place), committed.get(place)) for place in places])
    if shared is not None:
        partitions = with_lag(partitions, shared, configs_of(group))
    waiting = tuple([row for row in partitions if row.lag])
    is_whole = is_all and len(committed) == len(known)
    life = short_life(group)
    return Facts(
        group=group,
        traits=traits_of(group),
        catalog=topics.catalog,
        moment=moment,
        settings=settings,
        ownership=view.ownership,
        expectation=view.expectation,
        known=known,
        committed=committed,
        partitions=partitions,
        members=members_with_lag(view.members, waiting) if waiting else view.members,
        balance=view.balance,
        waiting=waiting,
        is_settling=is_settling,
        deliveries=shared,
        delivery_limit=limit,
        task_view=view.tasks,
        tasks=_tasks(view, group, moment, orphans, known),
        sinks=view.sinks,
        sink=sink_of(group, topics),
        beyond_end=judge.beyond_end,
        former_lag=judge.former_lag,
        awaits_poll=judge.awaits_poll,
        uncommitted={} if is_whole else uncommitted_records(group, topics.catalog, known, committed, moment),
        losses=Losses(
            skips=skips_of(group, topics.catalog, known, committed, moment),
            expiries=expiries_of(group, view.ownership, committed, topics.catalog.offsets_retention, moment),
            expired=expired_offsets(group, topics, moment),
            short_life=life,
            is_one_off=life is not None and has_siblings(life, topics.catalog.short_lives),
        ),
    )


def _tasks(
    view: AssignmentView,
    group: GroupState,
    moment: Moment,
    orphans: Orphans,
    known: Places,
) -> tuple[TaskVerdict, ...]:
    """The tasks, with why they are idle now."""
    if view.tasks is None:
        return ()
    if view.tasks.connect is not None:
        return tasks_now(view.tasks.tasks, moment)
    return judge_tasks(group, view.tasks, orphans, known)


def _known(topics: Topics, ownership: Ownership, committed: Iterable[TopicPartition]) -> Places:
    """The partitions that exist and concern the group, in order. Of one topic alone: that topic's own, not a copy."""
    existing = sorted(ownership.subscribed & topics.catalog.topics.keys())
    if len(existing) == 1:
        known = topics.places(existing[0])
    else:
        known = {place: state for topic in existing for place, state in topics.places(topic).items()}
    elsewhere = [
        place
        for place in (*ownership.owners, *committed)
        if place.topic not in ownership.subscribed and place in topics.places(place.topic)
    ]
    if not elsewhere:
        return known
    both = known | {place: topics.places(place.topic)[place] for place in elsewhere}
    return {place: both[place] for place in sorted(both)}


class _Judge:
    """Makes the row of a partition from what the group as a whole says of it.

    ``beyond_end`` are the partitions so far whose commit is beyond the end, each with since when. ``former_lag`` are
    those whose lag is unknown until the next polls, each with the lag that it had before. ``awaits_poll``: a newer date
    of an end alone may change a row. ``is_hidden``: the brokers take no commits of the group, or did not until a moment
    ago, so Burrow's rules, which go by commits, know nothing of partitions with lag.
    """

    __slots__ = (
        "_burrow",
        "_commits_to_log",
        "_current",
        "_group",
        "_moment",
        "_orphans",
        "_owners",
        "_replayed",
        "awaits_poll",
        "beyond_end",
        "former_lag",
        "is_hidden",
    )

    def __init__(
        self,
        group: GroupState,
        view: AssignmentView,
        orphans: Mapping[TopicPartition, OrphanReason],
        moment: Moment,
        burrow: BurrowSettings,
    ) -> None:
        self._group = group
        self._owners = view.ownership.owners
        self._current = view.expectation.current
        self._replayed = view.expectation.replayed
        self._orphans = orphans
        self._moment = moment
        self._burrow = burrow
        self._commits_to_log = KINDS[group.kind].commits_to_log
        self.awaits_poll = self.is_hidden = False
        self.beyond_end: dict[TopicPartition, int] = {}
        self.former_lag: dict[TopicPartition, int] = {}

    def partition(
        self, place: TopicPartition, state: PartitionState | None, commit: CommittedOffset | None
    ) -> PartitionVerdict:
        """Written out by position: this is done for every partition of every group, in every micro-batch."""
        offset = commit.offset if commit else None
        end = state.end if state else None
        lag = age_ms = status = pace = stable = None
        if commit and state and end is not None and not (state.former_ms and is_of_former_log(commit, state)):
            lag, age_ms, status = lag_records(offset, end), 0, _OK
            if lag:  # the rest matters only where records wait
                age_ms, stable = lag_ms(state, commit.offset, self._moment.now_ms), state.stable
                progress = progress_of(commit, state)
                status = lag_status(progress, lag, told_until(self._group, state, self._moment), self._burrow)
                if self.is_hidden and status is not _REWIND:
                    status = None
                pace = pace_of(progress)
            may_be_unknown = state.truncations or commit.last_rewind or commit.offset > end
            if may_be_unknown and self._is_lag_unknown(place, state, commit):
                lag = age_ms = pace = stable = None
                status = None if status is _OK else status  # of commits that went back, it stays
            elif offset is not None and offset > end and self._commits_to_log:
                end = offset  # the poll is older than the commit, of which the log has had the records
        current, replayed = self._current.get(place), self._replayed.get(place)
        return PartitionVerdict(
            place.topic,
            place.partition,
            self._owners.get(place, ()),
            current[0] if current else None,
            replayed[0] if replayed else None,
            offset,
            state.earliest if state else None,
            end,
            lag,
            age_ms,
            self._orphans.get(place) if self._orphans else None,
            status,
            pace,
            stable,
        )

    def _is_lag_unknown(self, place: TopicPartition, state: PartitionState, commit: CommittedOffset) -> bool:
        """Whether the commit and the end do not fit together (monitor.detection.lag.doubtful_ends)."""
        if not self._commits_to_log:
            return False
        if has_doubtful_end(commit, state):
            self.awaits_poll = True
            self.former_lag[place] = former_lag(commit, state)
            return True
        if state.end is None or commit.offset <= state.end:
            return False
        since_ms = beyond_end_since_ms(commit, state)
        if since_ms is None:
            self.awaits_poll = True
            return may_precede_truncation(commit, state)
        self.beyond_end[place] = since_ms
        return True

"""Judge a bucket: its groups against the catalog, as summaries and as metrics. Unchanged rows are sent once.

What is right and wrong is decided by monitor.detection, how it reads by monitor.metrics; here rows are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from math import inf
from typing import Final

import msgspec

from monitor.detection.catalog_inputs import Concerns, concerns_of, dates_hold_until_ms
from monitor.detection.evaluate import Judged, judge_until
from monitor.detection.group_summary import summary_of, unjudged_summary
from monitor.detection.ownership.assignment_view import AssignmentView, AssignmentViews
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.thresholds.overrides import DetectionRules
from monitor.expectations.expectation import Expectations
from monitor.expectations.verdicts import with_expectations
from monitor.metrics.age_instants import deflated_samples, with_ages, with_instants
from monitor.metrics.render import render_commits, render_groups
from monitor.metrics.series_cap import apart_if_large
from monitor.metrics.series_filter import ALL_SERIES, SeriesRules
from monitor.metrics.specs import SCALE_FAMILIES
from monitor.model import FamilyBlock, GroupState, GroupSummary
from monitor.scaling.verdicts import Scaler
from streaming_jobs.buckets.batch_context import BatchContext, Unread
from streaming_jobs.ingest.schemas import ALL_BLOCKS, BucketRow, RowKind, block_name

NO_PAYLOAD: Final = b""
"""The digest of a block without samples."""
NEVER: Final = -2
LONGEST_REASON: Final = 500
"""So many characters of an error are shown with its group; the log has all of it."""

_SUMMARY: Final = msgspec.msgpack.Decoder(GroupSummary)


@dataclass(slots=True)
class _EvaluatedGroup:
    """What was made of a state: the group as it is listed, and its samples.

    It holds until ``due_ms`` (inf: always), while the state is the same and what the group depends on of the catalog
    (``concerns``) stays as it is. ``topics`` is the newest catalog for which that has been seen. From ``dates_hold_ms``
    on, it does not hold for a catalog with other dates (inf: it does) than that of the pass at ``pass_ms``.
    """

    state: GroupState
    summary: bytes
    blocks: tuple[FamilyBlock, ...]
    evaluated_ms: int = 0
    due_ms: float = -inf
    topics: Topics | None = None
    concerns: Concerns | None = None
    dates_hold_ms: float = inf
    pass_ms: int = 0

    def holds_for_dates(self, topics: Topics, now_ms: int) -> bool:
        """Whether it holds for the dates of a catalog."""
        return now_ms < self.dates_hold_ms or self.pass_ms == topics.catalog.pass_ms

    def holds_for(self, view: AssignmentView, topics: Topics, now_ms: int) -> bool:
        """Whether it holds for another catalog, by which the group is viewed so."""
        if self.concerns is None or not self.holds_for_dates(topics, now_ms):
            return False
        return self.concerns == concerns_of(self.state, view, topics, has_ages=self.dates_hold_ms < inf)


@dataclass(slots=True)
class BucketEvaluator:
    """The judge of one bucket in one Python worker. It remembers what it has sent, and in which micro-batch.

    A group is judged again only when its state has changed, or what concerns it of the catalog, or when its verdict may
    become another by time alone. Judging all of them, most of which were quiet, was most of what a micro-batch cost.
    """

    number: int
    rules: DetectionRules
    series: SeriesRules = ALL_SERIES
    made: int = 0
    """How many verdicts were made since the beginning."""
    expectations: Expectations | None = None
    """What groups should look like; None: nothing is expected of any."""
    scaler: Scaler = field(default_factory=Scaler)
    """How many members groups need."""
    _standings: AssignmentViews = field(default_factory=AssignmentViews)
    _last: dict[str, _EvaluatedGroup] = field(default_factory=dict)
    """The newest verdict on each group: what is shown of one that can no longer be judged."""
    _summaries: dict[str, bytes] = field(default_factory=dict)
    _digests: dict[str, bytes] = field(default_factory=dict)
    _stopped: dict[str, int] = field(default_factory=dict)
    """The groups of which nothing new is known, and since when (ms since the epoch): their ages stay as they were."""
    _before_ms: int = 0
    """The instant of the micro-batch before."""
    _told: int = NEVER

    def expect(self, expectations: Expectations | None) -> None:
        """Judge by these from now on: if they are others, every verdict is made again."""
        if expectations is self.expectations or expectations == self.expectations:
            return
        self.expectations = expectations
        for last in self._last.values():
            last.due_ms = -inf

    def follows(self, context: BatchContext) -> bool:
        """Whether this judge sent the rows of the micro-batch before; else another one has seen the groups since."""
        return self._told == context.known

    def rows(self, groups: Mapping[str, GroupState], topics: Topics, context: BatchContext) -> Iterator[BucketRow]:
        """The rows of these groups, which are all of the bucket, that the driver needs.

        That is what differs from what this judge sent in the micro-batch before. If another worker sent the rows then,
        or if the driver knows nothing, it is all of it.
        """
        is_followed = self.follows(context)
        if not is_followed:
            self._summaries, self._digests = {}, {}
            yield BucketRow(self.number, RowKind.BLOCK, ALL_BLOCKS, None)
        self._told = context.batch
        gone = self._forget_all_but(groups)
        yield from (BucketRow(self.number, RowKind.SUMMARIES, name, None) for name in sorted(gone))
        made, stopped = self.made, self._stopped
        self._stopped = {}
        evaluated: list[_EvaluatedGroup] = []
        changed: list[msgspec.Raw] = []
        for name, state in groups.items():
            unread = context.unread_of(name)
            try:
                if unread is None:
                    judged = self._last[name] = self._evaluate(name, state, topics, context.now_ms)
                else:
                    judged = self._unread_evaluation(name, state, topics, unread)
                    self._stopped[name] = unread.since_ms
            except Exception as error:  # one group's failure is its own; the others go on
                reason = f"{type(error).__name__}: {error}"
                yield BucketRow(self.number, RowKind.FAILURE, f"group/{name}", reason.encode("utf-8", "replace"))
                self._stopped[name] = stopped.get(name, self._before_ms)
                judged = self._failed_evaluation(name, state, reason, self._stopped[name])
            evaluated.append(judged)
            if self._summaries.get(name) != judged.summary:
                self._summaries[name] = judged.summary
                changed.append(msgspec.Raw(judged.summary))
        if changed:
            yield BucketRow(self.number, RowKind.SUMMARIES, "", msgspec.msgpack.encode(changed))
        yield from self._note_rows(groups, context.now_ms, is_followed=is_followed)
        if not is_followed or gone or self.made > made or self._stopped != stopped:
            yield from self._changed_blocks([block for each in evaluated for block in each.blocks])
        self._before_ms = context.now_ms
        due_ms = min([each.due_ms for each in evaluated], default=inf)
        yield BucketRow(self.number, RowKind.DUE, "", None if due_ms == inf else msgspec.msgpack.encode(int(due_ms)))

    def _note_rows(self, groups: Mapping[str, GroupState], now_ms: int, *, is_followed: bool) -> Iterator[BucketRow]:
        """The notes on groups whose members are counted."""
        for name, since_ms in self._stopped.items():
            self.scaler.miss(name, since_ms, now_ms)
        counted = groups if is_followed else self._groups_to_scale(groups)
        for name, note in self.scaler.changed_notes(counted, is_whole=not is_followed):
            yield BucketRow(self.number, RowKind.SCALE, name, note)

    def _groups_to_scale(self, groups: Mapping[str, GroupState]) -> Iterable[str]:
        """Those of the groups whose members are counted."""
        if not self.rules.scales:
            return ()
        return [name for name, state in groups.items() if self.rules.of(state.cluster, name).scale is not None]

    def _evaluate(self, name: str, state: GroupState, topics: Topics, now_ms: int) -> _EvaluatedGroup:
        last = self._last.get(name)
        known = last if last is not None and last.state is state and now_ms < last.due_ms else None
        if known is not None and known.topics is topics and known.holds_for_dates(topics, now_ms):
            return known
        view = self._standings.of(state, topics)
        if known is not None and known.holds_for(view, topics, now_ms):
            known.topics = topics
            return known
        self.made += 1
        judged = self._judge(name, state, topics, view, now_ms)
        return _EvaluatedGroup(
            state,
            msgspec.msgpack.encode(summary_of(judged.verdict)),
            self._render(judged, state),
            judged.verdict.evaluated_ms,
            _due_ms(judged),
            topics,
            None if _needs_each_pass(judged) else concerns_of(state, view, topics, has_ages=judged.has_ages),
            dates_hold_until_ms(name, now_ms) if judged.has_ages else inf,
            topics.catalog.pass_ms,
        )

    def _judge(self, name: str, state: GroupState, topics: Topics, view: AssignmentView, now_ms: int) -> Judged:
        settings = self.rules.of(state.cluster, name)
        judged = judge_until(state, topics, view, now_ms, settings)
        if settings.scale is not None:
            judged = self.scaler.with_scaling(judged, state, topics, view, settings.scale)
        if self.expectations is None:
            return judged
        return with_expectations(judged, self.expectations, state, settings.alert_ages)

    def _render(self, judged: Judged, state: GroupState) -> tuple[FamilyBlock, ...]:
        verdict = judged.verdict
        blocks = render_groups([verdict], self.series)
        if judged.grows_evenly and judged.has_ages:
            blocks = with_instants(blocks, verdict.evaluated_ms)
        blocks += render_commits(state, self.series)
        return blocks if self.series.max_series is None else apart_if_large(verdict.group, blocks)

    def _unread_evaluation(self, name: str, state: GroupState, topics: Topics, unread: Unread) -> _EvaluatedGroup:
        """The last verdict on a group whose records cannot be read, marked. A worker without it makes that of then.

        One on another state is of a time when this worker had the bucket before. Of what this process has never read
        there is no verdict: what came since is unknown, and so is for how long that has been so.
        """
        last = self._last.get(name)
        if last is None or (last.state is not state and last.state != state):
            self._last.pop(name, None)
            if unread.was_read:
                self._last[name] = self._evaluate(name, state, topics, unread.since_ms)
        return self._failed_evaluation(name, state, unread.sentence, unread.since_ms)

    def _failed_evaluation(self, name: str, state: GroupState, reason: str, known_ms: int) -> _EvaluatedGroup:
        """The last verdict on the group, marked; its samples stay as they were, with ages as of when it was known last.

        After a start there may be none.
        """
        last = self._last.get(name)
        summary = unjudged_summary(state, None if last is None else _SUMMARY.decode(last.summary), _shorten(reason))
        kept = () if last is None else [each for each in last.blocks if each.family not in SCALE_FAMILIES]
        blocks = () if last is None else with_ages(kept, max(last.evaluated_ms, known_ms))
        return _EvaluatedGroup(state, msgspec.msgpack.encode(summary), blocks, due_ms=inf)

    def reset(self) -> None:
        """The driver has been instructed to forget the bucket: send all of it."""
        self._told = NEVER

    def _forget_all_but(self, groups: Mapping[str, GroupState]) -> set[str]:
        """The groups that are gone. One that comes back is sent as new."""
        self._standings.keep_only(groups.keys())
        self.scaler.keep_only(groups.keys())
        gone = self._summaries.keys() - groups.keys()
        for name in gone:
            del self._summaries[name]
        for name in self._last.keys() - groups.keys():
            del self._last[name]
        return gone

    def _changed_blocks(self, blocks: list[FamilyBlock]) -> Iterator[BucketRow]:
        samples: dict[str, list[str]] = {name: [] for name in self._digests}
        for block in blocks:
            name = block_name(block.family, block.group) if block.group else block.family
            samples.setdefault(name, []).append(block.samples)
        for name, parts in samples.items():
            text = "".join(parts)
            digest = blake2b(text.encode(), digest_size=16).digest() if text else NO_PAYLOAD
            if self._digests.get(name, NO_PAYLOAD) != digest:
                self._digests[name] = digest
                yield BucketRow(
                    self.number, RowKind.BLOCK, name, msgspec.msgpack.encode(deflated_samples(text)) if text else None
                )
            if not text:
                self._digests.pop(name, None)


def _needs_each_pass(judged: Judged) -> bool:
    """Whether a pass may change a verdict by its date alone, or by more than what concerns the group.

    A number of members is made of the newest pass, and tasks are of more topics than concern other groups.
    """
    verdict = judged.verdict
    is_of_more = verdict.scaling is not None or bool(verdict.tasks or verdict.processes)
    return judged.has_ages and (is_of_more or not judged.grows_evenly)


def _due_ms(judged: Judged) -> float:
    """Until when what was made of a verdict holds. Ages that grow evenly are made where they are shown."""
    until_ms = judged.until_ms or inf
    if judged.ages_hold_ms is None or judged.grows_evenly:
        return until_ms
    return min(until_ms, judged.verdict.evaluated_ms + judged.ages_hold_ms)


def _shorten(reason: str) -> str:
    return reason[:LONGEST_REASON].encode("utf-8", "replace").decode()

"""The backtest of a cluster: many groups, a part of the span at a time, so that it needs little memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple, Protocol

from monitor.detection.thresholds.overrides import DetectionRules
from monitor.history.backtest.episodes import Pair
from monitor.history.backtest.outcome import ALERT_SEVERITIES, FINDING_SEVERITIES, ClusterBacktest, Tally
from monitor.history.backtest.trial import GroupTrial, try_rules
from monitor.history.held import HeldRecording
from monitor.history.recorded import NotRecordedError, decode_settings
from monitor.history.replay import beyond_reach
from monitor.history.tables import DAY_MS
from monitor.history.walk import GroupWalk
from monitor.messages.names import shown
from monitor.messages.notification import utc
from monitor.model.patterns import name_pattern

HOUR_MS: Final = 3_600_000
PART_MS: Final = 2 * HOUR_MS
"""About how much of the span is held at once: it starts with states, which are recorded every hour."""

BATCH_BYTES: Final = 5_000_000
"""The states of how many groups are in a batch: those of about 10,000 partitions."""


USUAL_BYTES: Final = 5_000
"""What counts for a group without a state: as one with ten partitions."""

SMALL_BYTES_A_DAY: Final = 50_000
"""A day of groups with states of this size takes about half a minute: for less, no second worker is worth its start."""


class BatchRecording(Protocol):
    """A recording that can hold a part of itself in memory."""

    def begin_ms(self, cluster: str) -> int:
        """When the oldest portion of the cluster was recorded."""

    def reach_ms(self, cluster: str) -> int:
        """When the newest portion was recorded."""

    def state_times(self, cluster: str, since_ms: int, until_ms: int) -> Sequence[int]:
        """When states were recorded between two instants."""

    def settings_between(self, cluster: str, since_ms: int, until_ms: int) -> Sequence[tuple[int, bytes]]:
        """The settings that were in force between two instants, each with its start; the first starts with them."""

    def group_sizes(self, cluster: str, since_ms: int, until_ms: int) -> Mapping[str, int]:
        """The groups that were known between two instants, each with the size of its state in bytes."""

    def hold(self, cluster: str, since_ms: int, until_ms: int, groups: Sequence[str] | None = None) -> HeldRecording:
        """All that verdicts on these groups between two instants are made of."""


class Part(NamedTuple):
    """A part of the span, with the thresholds that were in force in it."""

    since_ms: int
    until_ms: int
    rules: DetectionRules


class Progress(NamedTuple):
    """How far a backtest is: so many of the parts of all batches."""

    cluster: str
    done: int
    all: int


class Backtest(NamedTuple):
    """What to try: these thresholds, on what is recorded of a cluster between two instants.

    ``groups``: a regular expression for the whole names of the groups that count; None: all.
    """

    cluster: str
    rules: DetectionRules
    since_ms: int
    until_ms: int
    groups: str | None = None

    def is_chosen(self, group: str) -> bool:
        """Whether a group counts.

        Raises:
            PatternError: the expression cannot be read.
        """
        return self.groups is None or name_pattern(self.groups).matches(group)


class Plan(NamedTuple):
    """How a backtest is done: part by part of the span, for one batch of groups after the other, in any order.

    ``groups`` is how many groups were known and count; those in batches have other thresholds than were in force.
    """

    asked: Backtest
    parts: tuple[Part, ...]
    groups: int
    batches: tuple[tuple[str, ...], ...]


class GroupPairs(NamedTuple):
    """What was found of a group, and what would have been."""

    group: str
    findings: list[Pair]
    alerts: list[Pair]


def plan_backtest(recording: BatchRecording, asked: Backtest, workers: int = 1) -> Plan:
    """The plan of a backtest that so many workers do, each for a batch at a time.

    Raises:
        RecordingError: the recording cannot be read, or has nothing of that span.
    """
    since_ms, until_ms = _recorded_span(recording, asked)
    parts = tuple(span_parts(recording, asked.cluster, since_ms, until_ms))
    sizes = recording.group_sizes(asked.cluster, since_ms, until_ms)
    chosen = {name: size or USUAL_BYTES for name, size in sizes.items() if asked.is_chosen(name)}
    others = {name: size for name, size in chosen.items() if _has_others(asked, name, parts)}
    return Plan(
        asked, parts, len(chosen), tuple(group_batches(others, batch_bytes(others, until_ms - since_ms, workers)))
    )


def try_batch(
    recording: BatchRecording, plan: Plan, number: int, tell: Callable[[Progress], None] = lambda _: None
) -> list[GroupPairs]:
    """What was found of the groups of a batch, and what would have been.

    Raises:
        RecordingError: the recording cannot be read.
    """
    trials = {group: GroupTrial() for group in plan.batches[number]}
    for done, part in enumerate(plan.parts):
        tell(Progress(plan.asked.cluster, number * len(plan.parts) + done, len(plan.batches) * len(plan.parts)))
        _try_part(recording, plan.asked, part, trials)
    until_ms = plan.parts[-1].until_ms
    return [GroupPairs(group, trial.findings(until_ms), trial.alerts(until_ms)) for group, trial in trials.items()]


def summarize(plan: Plan, batches: Iterable[list[GroupPairs]]) -> ClusterBacktest:
    """The outcome of a plan, from what was found in its batches."""
    findings, alerts = Tally(FINDING_SEVERITIES), Tally(ALERT_SEVERITIES)
    for pairs in chain.from_iterable(batches):
        findings.count(pairs.group, pairs.findings)
        alerts.count(pairs.group, pairs.alerts)
    return ClusterBacktest(
        cluster=plan.asked.cluster,
        since_ms=plan.parts[0].since_ms,
        until_ms=plan.parts[-1].until_ms,
        groups=plan.groups,
        judged=sum(map(len, plan.batches)),
        alerts=alerts.rows(),
        findings=findings.rows(),
        alert_examples=alerts.examples(),
        finding_examples=findings.examples(),
    )


def _try_part(recording: BatchRecording, asked: Backtest, part: Part, trials: Mapping[str, GroupTrial]) -> None:
    held = recording.hold(asked.cluster, part.since_ms, part.until_ms, sorted(trials))
    for group, trial in trials.items():
        walk = GroupWalk(held, asked.cluster, group, part.since_ms, part.until_ms)
        try_rules(trial, walk, asked.rules, part.since_ms, part.until_ms)


def _recorded_span(recording: BatchRecording, asked: Backtest) -> tuple[int, int]:
    """What of the span is recorded."""
    reach_ms, begin_ms = recording.reach_ms(asked.cluster), recording.begin_ms(asked.cluster)
    since_ms, until_ms = max(asked.since_ms, begin_ms), min(asked.until_ms, reach_ms)
    if since_ms < until_ms:
        return since_ms, until_ms
    if asked.since_ms >= reach_ms:
        raise beyond_reach(asked.cluster, reach_ms)
    raise NotRecordedError(f"The recording of cluster {shown(asked.cluster)} starts at {utc(begin_ms)}.")


def span_parts(recording: BatchRecording, cluster: str, since_ms: int, until_ms: int) -> Iterator[Part]:
    """Parts of about two hours that start where states were recorded, and where the thresholds changed."""
    settings = recording.settings_between(cluster, since_ms, until_ms)
    in_force = [(at_ms, decode_settings(each).rules) for at_ms, each in settings]
    changes = [at_ms for at_ms, _ in in_force if since_ms < at_ms < until_ms]
    starts = sorted({since_ms, *changes, *_apart(recording.state_times(cluster, since_ms, until_ms), since_ms)})
    for start_ms, end_ms in zip(starts, [*starts[1:], until_ms], strict=True):
        rules = [rules for at_ms, rules in in_force if at_ms <= start_ms]
        is_last = end_ms == until_ms
        yield Part(start_ms, end_ms if is_last else end_ms - 1, rules[-1] if rules else DetectionRules())


def _apart(times_ms: Sequence[int], since_ms: int) -> Iterator[int]:
    """Of these, some that are about a part apart."""
    last_ms = since_ms
    for at_ms in sorted(times_ms):
        if at_ms - last_ms >= PART_MS - HOUR_MS // 2:
            last_ms = at_ms
            yield at_ms


def _has_others(asked: Backtest, group: str, parts: Sequence[Part]) -> bool:
    """Whether the group has other thresholds than were in force in any part."""
    own = asked.rules.of(asked.cluster, group)
    return any(part.rules.of(asked.cluster, group) != own for part in parts)


def batch_bytes(sizes: Mapping[str, int], span_ms: int, workers: int) -> int:
    """How large a batch is: four for each worker, if there is enough to do for several."""
    size = sum(sizes.values())
    if workers == 1 or size * span_ms < SMALL_BYTES_A_DAY * DAY_MS:
        return BATCH_BYTES
    return min(BATCH_BYTES, -(-size // (4 * workers)))


def group_batches(sizes: Mapping[str, int], most_bytes: int) -> Iterator[tuple[str, ...]]:
    """Groups of so many bytes together, or one that is larger."""
    batch: list[str] = []
    size = 0
    for group in sorted(sizes):
        if batch and size + sizes[group] > most_bytes:
            yield tuple(batch)
            batch, size = [], 0
        batch.append(group)
        size += sizes[group]
    if batch:
        yield tuple(batch)

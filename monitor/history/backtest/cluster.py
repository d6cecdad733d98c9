"""The backtest of a cluster: many groups, a part of the span at a time, so that it needs little memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from monitor.detection.thresholds.overrides import DetectionRules
from monitor.history.backtest.outcome import ALERT_SEVERITIES, FINDING_SEVERITIES, ClusterBacktest, Tally
from monitor.history.backtest.trial import GroupTrial, try_rules
from monitor.history.held import HeldRecording
from monitor.history.recorded import NotRecordedError, decode_settings
from monitor.history.walk import GroupWalk
from monitor.messages.names import shown
from monitor.messages.notification import utc

HOUR_MS: Final = 3_600_000
PART_MS: Final = 2 * HOUR_MS
"""About how much of the span is held at once: it starts with states, which are recorded every hour."""

BATCH_BYTES: Final = 5_000_000
"""The states of how many groups are in a batch: those of about 10,000 partitions."""


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

    ``is_chosen`` says by its name whether a group counts.
    """

    cluster: str
    rules: DetectionRules
    since_ms: int
    until_ms: int
    is_chosen: Callable[[str], bool] = lambda _: True


def backtest_cluster(
    recording: BatchRecording, asked: Backtest, tell: Callable[[Progress], None] = lambda _: None
) -> ClusterBacktest:
    """What would have been reported of a cluster with other thresholds, beside what was. ``tell`` gets the progress.

    Raises:
        RecordingError: the recording cannot be read, or has nothing of that span.
    """
    cluster, rules = asked.cluster, asked.rules
    since_ms, until_ms = _recorded_span(recording, asked)
    parts = list(_parts(recording, cluster, since_ms, until_ms))
    known = recording.group_sizes(cluster, since_ms, until_ms)
    sizes = {name: size for name, size in known.items() if asked.is_chosen(name)}
    others = {name: size for name, size in sizes.items() if _has_others(cluster, name, rules, parts)}
    batches = list(_batches(others))
    findings, alerts = Tally(FINDING_SEVERITIES), Tally(ALERT_SEVERITIES)
    for number, batch in enumerate(batches):
        trials = {group: GroupTrial() for group in batch}
        for place, part in enumerate(parts):
            tell(Progress(cluster, number * len(parts) + place, len(batches) * len(parts)))
            _try_part(recording, cluster, rules, part, trials)
        for group, trial in trials.items():
            findings.count(group, trial.findings(until_ms))
            alerts.count(group, trial.alerts(until_ms))
    return ClusterBacktest(
        cluster=cluster,
        since_ms=since_ms,
        until_ms=until_ms,
        groups=len(sizes),
        judged=len(others),
        alerts=alerts.rows(),
        findings=findings.rows(),
        alert_examples=alerts.examples(),
        finding_examples=findings.examples(),
    )


def _try_part(
    recording: BatchRecording, cluster: str, rules: DetectionRules, part: Part, trials: Mapping[str, GroupTrial]
) -> None:
    held = recording.hold(cluster, part.since_ms, part.until_ms, sorted(trials))
    for group, trial in trials.items():
        walk = GroupWalk(held, cluster, group, part.since_ms, part.until_ms)
        try_rules(trial, walk, rules, part.since_ms, part.until_ms)


def _recorded_span(recording: BatchRecording, asked: Backtest) -> tuple[int, int]:
    """What of the span is recorded."""
    reach_ms, begin_ms = recording.reach_ms(asked.cluster), recording.begin_ms(asked.cluster)
    since_ms, until_ms = max(asked.since_ms, begin_ms), min(asked.until_ms, reach_ms)
    if since_ms < until_ms:
        return since_ms, until_ms
    ends = f"reaches until {utc(reach_ms)}" if asked.since_ms >= reach_ms else f"starts at {utc(begin_ms)}"
    raise NotRecordedError(f"The recording of cluster {shown(asked.cluster)} {ends}.")


def _parts(recording: BatchRecording, cluster: str, since_ms: int, until_ms: int) -> Iterator[Part]:
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


def _has_others(cluster: str, group: str, rules: DetectionRules, parts: Sequence[Part]) -> bool:
    """Whether the group has other thresholds than were in force in any part."""
    own = rules.of(cluster, group)
    return any(part.rules.of(cluster, group) != own for part in parts)


def _batches(sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Groups of about equal size together; a group is in one of them as a whole."""
    batch: list[str] = []
    size = 0
    for group in sorted(sizes):
        if batch and size + sizes[group] > BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(group)
        size += sizes[group]
    if batch:
        yield batch

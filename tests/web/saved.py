"""A cluster as an evaluation holds it, from states that are given; one named "broken" cannot be read."""

from collections.abc import Iterator
from dataclasses import dataclass

from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.model import Catalog, GroupState, GroupUse
from monitor.model.ended_findings import EndedLately
from monitor.snapshot_file import Evaluated, NotJudgedError, all_lines
from monitor.topics.uses import group_use

DEFAULTS = DetectionSettings()


@dataclass(frozen=True)
class Saved:
    """What verdicts on these groups are made of."""

    catalog: Catalog
    states: tuple[GroupState, ...]
    now_ms: int
    settings: DetectionSettings = DEFAULTS
    ended: EndedLately | None = None

    def inputs(self, group: str) -> GroupInputs | None:
        """As the board gives it."""
        if group == "broken":
            raise NotJudgedError("StateCorruptError: the stored bytes are no GroupState")
        state = next((state for state in self.states if state.group == group), None)
        if state is None:
            return None
        return GroupInputs(
            group=state, catalog=self.catalog, now_ms=self.now_ms, settings=self.settings, ended=self.ended
        )

    def uses(self) -> tuple[GroupUse, ...]:
        """The groups with their topics."""
        return tuple(group_use(state, self.catalog) for state in self.states)


def pieces(*clusters: Saved, also: tuple[str, ...] = ()) -> Iterator[bytes]:
    """The snapshot of all groups of these clusters."""
    names = [tuple(state.group for state in cluster.states) + also for cluster in clusters]
    return all_lines(Evaluated(inputs=c, groups=own) for c, own in zip(clusters, names, strict=True))

"""A whole cluster at an instant of the past."""

from __future__ import annotations

from monitor.detection.evaluation_input import GroupInputs
from monitor.history.held import HeldRecording
from monitor.history.replay import beyond_reach, catalog_at, group_at, settings_at
from monitor.kinds.offset_expiry import is_shown
from monitor.model import Catalog


class ClusterThen:
    """What the verdicts on a cluster's groups were made of at an instant (monitor.snapshot_file.ClusterInputs)."""

    def __init__(self, held: HeldRecording, cluster: str, at_ms: int) -> None:
        """Fold the cluster's topics.

        Raises:
            RecordingError: the recording cannot be read, or does not reach until then.
        """
        if at_ms > held.reach_ms(cluster):
            raise beyond_reach(cluster, held.reach_ms(cluster))
        self._held = held
        self._cluster = cluster
        self._at_ms = at_ms
        self._settings = settings_at(held, cluster, at_ms)
        self._catalog = catalog_at(held, cluster, held.topics, self._settings, at_ms)

    @property
    def catalog(self) -> Catalog:
        """The topics."""
        return self._catalog

    def inputs(self, group: str) -> GroupInputs | None:
        """What the verdict on a group was made of, with the whole catalog; None: there was no such group.

        Raises:
            RecordingError: the recording is damaged.
        """
        state = group_at(self._held, self._cluster, group, self._at_ms)
        if state is None or not is_shown(state, self._catalog.offsets_retention, self._at_ms):
            return None
        settings = self._settings.rules.of(self._cluster, group)
        return GroupInputs(group=state, catalog=self._catalog, now_ms=self._at_ms, settings=settings)

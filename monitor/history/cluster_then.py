"""A whole cluster at an instant of the past."""

from __future__ import annotations

from monitor.detection.evaluation_input import GroupInputs
from monitor.history.held import HeldRecording
from monitor.history.recorded import NotRecordedError, RecordedEntity
from monitor.history.replay import CatalogFold, Key, catalog_keys, fold_group_rows, settings_at
from monitor.messages.names import shown
from monitor.messages.notification import utc
from monitor.model import Catalog


class ClusterThen:
    """What the verdicts on a cluster's groups were made of at an instant (monitor.snapshot_file.ClusterInputs)."""

    def __init__(self, held: HeldRecording, cluster: str, at_ms: int) -> None:
        """Fold the cluster's topics.

        Raises:
            RecordingError: the recording cannot be read, or does not reach until then.
        """
        if at_ms > held.reach_ms(cluster):
            reach = utc(held.reach_ms(cluster))
            raise NotRecordedError(f"The recording of cluster {shown(cluster)} reaches until {reach}.")
        self._held = held
        self._cluster = cluster
        self._at_ms = at_ms
        self._settings = settings_at(held, cluster, at_ms)
        self._catalog = self._catalog_then()

    @property
    def catalog(self) -> Catalog:
        """The topics."""
        return self._catalog

    def inputs(self, group: str) -> GroupInputs | None:
        """What the verdict on a group was made of, with the whole catalog; None: there was no such group.

        Raises:
            RecordingError: the recording is damaged.
        """
        own: Key = (RecordedEntity.GROUP, group)
        base = self._held.base(self._cluster, self._at_ms, [own])
        rows = self._held.rows(self._cluster, base.recorded_ms, self._at_ms, [own, (RecordedEntity.LISTING, "")])
        state = fold_group_rows(self._cluster, group, base.groups.get(group), rows, self._at_ms)
        if state is None:
            return None
        settings = self._settings.rules.of(self._cluster, group)
        return GroupInputs(group=state, catalog=self._catalog, now_ms=self._at_ms, settings=settings)

    def _catalog_then(self) -> Catalog:
        keys = catalog_keys(self._held.topics, self._settings)
        base = self._held.base(self._cluster, self._at_ms, keys)
        folded = CatalogFold(self._cluster, base)
        folded.fold(self._held.rows(self._cluster, base.recorded_ms, self._at_ms, keys), self._at_ms)
        return folded.catalog(self._settings.connect_topics)

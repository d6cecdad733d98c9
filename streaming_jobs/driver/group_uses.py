"""The topics of all groups of a cluster, computed on request: micro-batches do nothing for it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from monitor.model import KINDS, Catalog, GroupUse
from monitor.topics.uses import group_use
from monitor.tracking.serialization import StoredStateError, decode_group_state


class _KnownUse(NamedTuple):
    """A use with the bytes of the state that it was read from; None: they are no state."""

    stored: bytes
    use: GroupUse | None


@dataclass(slots=True)
class GroupUseCache:
    """Reads only the groups whose state has been stored again since the last look. For all threads."""

    _known: dict[str, _KnownUse] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _uses: tuple[GroupUse, ...] = ()
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def uses(self, stored: Mapping[str, bytes], catalog: Catalog) -> tuple[GroupUse, ...]:
        """The groups by name; the same tuple while nothing differs. A group that cannot be read is left out."""
        with self._lock:
            has_other_names = catalog.names != self._names
            self._names = catalog.names
            self._known = {
                group: self._read(group, data, catalog, has_other_names=has_other_names)
                for group, data in stored.items()
            }
            uses = tuple([use for group in sorted(self._known) if (use := self._known[group].use) is not None])
            if uses != self._uses:
                self._uses = uses
            return self._uses

    def _read(self, group: str, data: bytes, catalog: Catalog, *, has_other_names: bool) -> _KnownUse:
        known = self._known.get(group)
        if known is not None and known.stored is data and not (has_other_names and _is_by_id(known.use)):
            return known
        try:
            return _KnownUse(data, group_use(decode_group_state(data), catalog))
        except StoredStateError:
            return _KnownUse(data, None)


def _is_by_id(use: GroupUse | None) -> bool:
    return use is not None and KINDS[use.kind].by_topic_id

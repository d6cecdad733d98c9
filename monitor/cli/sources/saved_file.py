"""Answers of a file that groupwatch snapshot has written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from monitor.cli.errors import SourceError
from monitor.detection.client_libraries.census import count_members, take_census
from monitor.detection.client_libraries.recognition import recognize_libraries
from monitor.detection.evaluation_input import GroupInputs
from monitor.model import LibraryMembers, LibraryUse
from monitor.snapshot_file import SnapshotFileError, cluster_names, find_inputs, group_states
from monitor.web.views.addresses import GroupAddress


class SavedFile(NamedTuple):
    """A saved snapshot."""

    path: Path

    def clusters(self) -> tuple[str, ...]:
        """The names of its clusters."""
        with self._lines() as lines:
            return cluster_names(lines)

    def page_url(self, cluster: str, group: str = "") -> str | None:
        """It does not know where a page is."""

    def group_names(self, cluster: str) -> tuple[str, ...]:
        """The names of the groups of a cluster."""
        with self._lines() as lines:
            return tuple([state.group for state in group_states(lines, cluster)])

    def inputs(self, address: GroupAddress, at: str | None) -> GroupInputs:
        """See GroupSource; there is no other instant than that of the snapshot."""
        if at is not None:
            raise SourceError("A snapshot is of one instant: --at cannot be combined with --snapshot.")
        with self._lines() as lines:
            return find_inputs(lines, address.cluster, address.group)

    def census(self, cluster: str | None, *, partial: bool) -> tuple[LibraryUse, ...]:
        """See CensusSource; a snapshot has what was ready."""
        groups: defaultdict[str, list[tuple[str, tuple[LibraryMembers, ...]]]] = defaultdict(list)
        with self._lines() as lines:
            for state in group_states(lines, cluster):
                members = count_members(recognize_libraries(state).values())
                groups[state.cluster].append((state.group, members))
        return tuple([use for name in sorted(groups) for use in take_census(name, groups[name])])

    @contextmanager
    def _lines(self) -> Iterator[Iterable[bytes]]:
        """Its lines; also an error in them is one of the file."""
        try:
            with self.path.open("rb") as lines:
                yield lines
        except OSError as error:
            raise SourceError(f"{self.path} cannot be read: {error.strerror or error}.") from error
        except SnapshotFileError as error:
            raise SourceError(f"{self.path}: {error}") from error

"""The tables of a recording, read without Spark: chosen rows, and the bounds in a table's log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError
from pyarrow import fs

from monitor.history.recorded import RecordingError
from monitor.history.tables import day_of
from monitor.history.work_limit import TooMuchWorkError, bytes_used_up
from monitor.messages.names import shown
from monitor.model import Entity

BATCH_ROWS: Final = 16
"""A row of a group in a storm has up to a megabyte."""

FRAGMENTS: Final = 1
"""So many files are read at once, and as many are read ahead."""


class DeltaReader:
    """Reads the tables in a folder (a path, or an address such as ``s3://bucket/folder``)."""

    def __init__(self, folder: str, most_bytes: int | None = None) -> None:
        """A read of more than ``most_bytes`` raises TooMuchWorkError; None: none does."""
        self.folder = folder.rstrip("/")
        self._most_bytes = most_bytes

    def open_table(self, table: str) -> DeltaTable | None:
        """A table; None: there is none.

        Raises:
            RecordingError: it cannot be read.
        """
        try:
            return DeltaTable(f"{self.folder}/{table}")
        except TableNotFoundError:
            return None
        except (DeltaError, OSError) as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> RecordingError:
        return RecordingError(f"The recording in {shown(self.folder)} cannot be read: {_first_line(error)}.")

    def _files(self, table: DeltaTable) -> fs.FileSystem | None:
        """The files of a table on a disk; None: elsewhere, where Delta's own reader knows the way.

        Arrow's threads then call no Python, which may have ended when they do: that aborted the process.
        """
        return None if "://" in self.folder else fs.SubTreeFileSystem(_path_of(table), fs.LocalFileSystem())

    def rows(
        self,
        table: DeltaTable,
        names: list[str],
        chosen: Any,  # noqa: ANN401 -- Arrow has no types
        files: str | None = None,
        most: int | None = None,
    ) -> Iterator[tuple[Any, ...]]:
        """The chosen rows, at most so many. ``files``: which have them, by the bounds in the table's log.

        Raises:
            RecordingError: the table cannot be read.
            TooMuchWorkError: there are more bytes than may be read.
        """
        try:
            dataset = table.to_pyarrow_dataset(filesystem=self._files(table), file_pruning_predicate=files)
            found = self._read_all(dataset, names, chosen, most)
        except pa.ArrowMemoryError:
            raise  # which is a MemoryError, too
        except (DeltaError, OSError, pa.ArrowException) as error:
            raise self._unreadable(error) from error
        return zip(*(found.column(name).to_pylist() for name in names), strict=True)

    def _read_all(
        self,
        dataset: Any,  # noqa: ANN401 -- as above
        names: list[str],
        chosen: Any,  # noqa: ANN401 -- as above
        most: int | None,
    ) -> pa.Table:
        """The chosen rows. With a limit, they are read a few at a time: no more are in memory than it allows."""
        if most is not None:
            return dataset.head(most, columns=names, filter=chosen)
        if self._most_bytes is None:
            return dataset.to_table(names, filter=chosen)
        scanner = dataset.scanner(
            names, filter=chosen, batch_size=BATCH_ROWS, batch_readahead=1, fragment_readahead=FRAGMENTS
        )
        batches: list[pa.RecordBatch] = []
        size = 0
        for batch in scanner.to_batches():
            size += _weight(batch)
            if size > self._most_bytes:
                del batch, batches
                pa.default_memory_pool().release_unused()
                raise TooMuchWorkError(bytes_used_up(self.folder, self._most_bytes))
            batches += [batch] if batch.num_rows else []
        return pa.Table.from_batches(batches, schema=scanner.projected_schema)


def _weight(batch: pa.RecordBatch) -> int:
    """The bytes of a batch; those of topics and listings count a quarter, as far less follows from them."""
    if not batch.num_rows:
        return 0
    if "entity" not in batch.schema.names:
        return int(batch.nbytes)
    own = batch.filter(pc.equal(batch.column("entity"), Entity.GROUP.value))
    return int(own.nbytes + (batch.nbytes - own.nbytes) // 4)


def _first_line(error: Exception) -> str:
    """What an error says first: Delta's go on with hints in colors."""
    return shown(str(error).splitlines()[0]) if str(error) else type(error).__name__


def _path_of(table: DeltaTable) -> str:
    return url2pathname(urlsplit(table.table_uri).path) if "://" in table.table_uri else table.table_uri


def recorded_bounds(table: DeltaTable, cluster: str) -> list[tuple[int, int]]:
    """The first and the last recorded_ms of each file of a cluster."""
    files = bounds_in_files(table, "min.recorded_ms", "max.recorded_ms")
    return [(first_ms, last_ms) for own, first_ms, last_ms in files if own == cluster]


def bounds_in_files(table: DeltaTable, *bounds: str) -> Iterator[tuple[Any, ...]]:
    """The cluster of each file, with such bounds of what is in it, by the table's log; without files that lack some."""
    files = table.get_add_actions(flatten=True)  # as a table of pyarrow it would load pandas: 0.2 s
    columns = [files.column(name).to_pylist() for name in ("partition.cluster", *bounds)]
    yield from (row for row in zip(*columns, strict=True) if None not in row)


def since(cluster: str, after_ms: int) -> Any:  # noqa: ANN401 -- as above
    """The rows of a cluster's portions after one."""
    own = (pc.field("cluster") == cluster) & (pc.field("day") >= day_of(after_ms))
    return own & (pc.field("recorded_ms") > after_ms)

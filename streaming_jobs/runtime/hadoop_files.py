"""Files on any file system that Spark knows, through Spark's own Hadoop client: a disk, HDFS, S3."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from streaming_jobs.runtime.query_errors import cause_of


class FilesError(Exception):
    """A file system refused; the text names the path and the innermost cause."""


class HadoopFiles:
    """The file system that a folder is on. Every path given must be on the same one."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        """Find the file system.

        Raises:
            FilesError: Spark knows none for this scheme, or it cannot be reached.
        """
        jvm: Any = spark._jvm
        # Kept: to resolve a name, Py4J looks for a class of each of its parts in every jar of the class path (40 ms).
        self._path = jvm.org.apache.hadoop.fs.Path
        self._streams = jvm.org.apache.commons.io.IOUtils
        self._permission = jvm.org.apache.hadoop.fs.permission.FsPermission
        self._utf8 = jvm.java.nio.charset.StandardCharsets.UTF_8
        with _convert_errors(folder):
            self._files = self._path(folder).getFileSystem(spark._jsc.hadoopConfiguration())

    def on_this_machine(self, path: str) -> Path | None:
        """The path as the operating system knows it; None if it is not in the file system of this machine."""
        uri = self._files.makeQualified(self._path(path)).toUri()
        return Path(uri.getPath()) if uri.getScheme() == "file" else None

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder."""
        with _convert_errors(path):
            return bool(self._files.exists(self._path(path)))

    def is_empty(self, folder: str) -> bool:
        """Whether nothing is in the folder, or there is no folder."""
        with _convert_errors(folder):
            return not self._files.exists(self._path(folder)) or not len(self._files.listStatus(self._path(folder)))

    def make_folder(self, path: str) -> None:
        """A folder with all that is above it; no harm if it is there."""
        with _convert_errors(path):
            self._files.mkdirs(self._path(path))

    def make_private_folder(self, path: str) -> None:
        """A folder that only this user can open. Of one that is there others lose their rights; its group keeps them.

        File systems without permissions (S3) take no notice.
        """
        is_new = not self.exists(path)
        self.make_folder(path)
        with _convert_errors(path):
            mode = int(self._files.getFileStatus(self._path(path)).getPermission().toShort())
            wanted = 0o700 if is_new else mode & 0o770
            if wanted != mode:
                self._files.setPermission(self._path(path), self._permission(f"{wanted:o}"))

    def read(self, path: str) -> str | None:
        """The text of a file; None if there is no such file."""
        if not self.exists(path):
            return None
        with _convert_errors(path):
            stream = self._files.open(self._path(path))
            try:
                return str(self._streams.toString(stream, self._utf8))
            finally:
                stream.close()

    def names(self, folder: str) -> list[str]:
        """The names of what is in a folder.

        Raises:
            FilesError: there is no such folder, or it cannot be read.
        """
        with _convert_errors(folder):
            return [str(each.getPath().getName()) for each in self._files.listStatus(self._path(folder))]

    def read_bytes(self, path: str, limit: int) -> bytes | None:
        """The first bytes of a file, at most so many; None if there is no such file."""
        if not self.exists(path):
            return None
        with _convert_errors(path):
            stream = self._files.open(self._path(path))
            try:
                return bytes(stream.readNBytes(limit))
            finally:
                stream.close()

    def write(self, path: str, text: str) -> None:
        """Make or replace a file. It may be left cut off when this fails."""
        with _convert_errors(path):
            stream = self._files.create(self._path(path), True)
            try:
                self._streams.write(text, stream, self._utf8)
            finally:
                stream.close()

    def delete(self, path: str) -> None:
        """Remove a file; no harm if there is none."""
        with _convert_errors(path):
            self._files.delete(self._path(path), False)

    def move(self, path: str, to: str) -> None:
        """Rename a file or a folder; ``to`` must not be there."""
        with _convert_errors(path):
            moved = self._files.rename(self._path(path), self._path(to))
        if not moved:
            raise FilesError(f"{path} cannot be renamed to {to}")


class Note(NamedTuple):
    """A file with a small text."""

    files: HadoopFiles
    path: str

    def read(self) -> str | None:
        """The text; None: there is no file. Raises FilesError."""
        return self.files.read(self.path)

    def write(self, text: str) -> None:
        """Make or replace the file. It may be left cut off when this fails. Raises FilesError."""
        self.files.write(self.path, text)


@contextmanager
def _convert_errors(path: str) -> Iterator[None]:
    try:
        yield
    except (Py4JError, PySparkException) as error:
        raise FilesError(f"{path}: {cause_of(error)}") from error

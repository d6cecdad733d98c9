"""The checkpoints of other queries on any file system that Spark knows, for the collector that reads them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from pyspark.sql import SparkSession

from monitor.collectors.spark.checkpoint_files import CheckpointUnreadable
from streaming_jobs.runtime.hadoop_files import FilesError, HadoopFiles


class SparkFiles:
    """What CheckpointFiles asks of a file system, by Spark's Hadoop client; each folder may be on another one.

    For one thread. A file system is looked up once, which takes much longer than a request to it, and again after a
    failure.
    """

    def __init__(self, spark: SparkSession) -> None:
        """Prepare; no request is made yet."""
        self._spark = spark
        self._known: dict[str, HadoopFiles] = {}

    def names(self, folder: str) -> Iterator[str]:
        """See CheckpointFiles."""
        with self._files(folder) as files:
            return iter(files.names(folder))

    def read(self, path: str, limit: int) -> bytes | None:
        """See CheckpointFiles."""
        with self._files(path) as files:
            return files.read_bytes(path, limit + 1)

    @contextmanager
    def _files(self, path: str) -> Iterator[HadoopFiles]:
        place = file_system_of(path)
        try:
            if place not in self._known:
                self._known[place] = HadoopFiles(self._spark, path)
            yield self._known[place]
        except FilesError as error:
            self._known.pop(place, None)
            raise CheckpointUnreadable(f"{error}.") from error


def file_system_of(path: str) -> str:
    """Which file system a path or URI is on: its scheme and authority; "": Spark's default one.

    >>> [file_system_of(path) for path in ("hdfs://name:9000/a/b", "file:/a", "/a/b", "s3a://bucket/a")]
    ['hdfs://name:9000', 'file:', '', 's3a://bucket']
    """
    try:
        scheme, authority, *_ = urlsplit(path)
    except ValueError:  # no URI, whatever Hadoop makes of it
        return path
    return f"{scheme}://{authority}" if authority else f"{scheme}:" if scheme else ""

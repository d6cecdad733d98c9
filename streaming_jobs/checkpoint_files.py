"""The checkpoints of other queries on any file system that Spark knows, for the collector that reads them."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import SparkSession

from monitor.collectors.checkpoint_files import CheckpointUnreadable
from streaming_jobs.hadoop_files import FilesError, HadoopFiles


class SparkFiles:
    """What CheckpointFiles asks of a file system, by Spark's Hadoop client; each folder may be on another one."""

    def __init__(self, spark: SparkSession) -> None:
        """Prepare; nothing is asked yet."""
        self._spark = spark

    def names(self, folder: str) -> Iterator[str]:
        """See CheckpointFiles."""
        try:
            return iter(HadoopFiles(self._spark, folder).names(folder))
        except FilesError as error:
            raise CheckpointUnreadable(f"{error}.") from error

    def read(self, path: str, limit: int) -> bytes | None:
        """See CheckpointFiles."""
        try:
            return HadoopFiles(self._spark, path).read_bytes(path, limit + 1)
        except FilesError as error:
            raise CheckpointUnreadable(f"{error}.") from error

"""The folder of a recording: closed to other users, and of one job for each cluster."""

from __future__ import annotations

from pyspark.sql import SparkSession

from streaming_jobs.runtime.checkpoint import folder_of
from streaming_jobs.runtime.checkpoint_lock import CheckpointHold, CheckpointLocked, Lease, LocalLock
from streaming_jobs.runtime.hadoop_files import HadoopFiles


class FolderInUse(Exception):  # noqa: N818 -- it reads as what happened
    """Another job records the cluster there; the text says which."""


class RecordingHold:
    """Has one cluster's part of a recording for this job. For one thread."""

    def __init__(self, spark: SparkSession, folder: str, cluster: str) -> None:
        self._spark = spark
        self._folder = folder
        self._cluster = cluster
        self._hold: CheckpointHold | None = None

    def take(self) -> None:
        """Have it from now on, unless it is taken already. Other users lose their rights to the folder.

        Raises:
            FolderInUse: another job has it, or has taken it away meanwhile.
            FilesError: the folder cannot be reached.
        """
        if self._hold is None:
            self._hold = self._take_hold()
        if self._hold.lost is not None:
            raise FolderInUse(_sentence(self._hold.lost))

    def release(self) -> None:
        """Let others have it; no harm if it was never taken."""
        if self._hold is not None:
            self._hold.release()

    def _take_hold(self) -> CheckpointHold:
        files = HadoopFiles(self._spark, self._folder)
        files.make_private_folder(self._folder)  # it has the names of groups, clients and hosts
        files.make_folder(f"{self._folder}/checkpoints")
        file = f"{self._folder}/checkpoints/{folder_of(self._cluster)}+owner"
        here = files.on_this_machine(file)
        hold: CheckpointHold = LocalLock(here) if here is not None else Lease(files, file)
        try:
            hold.take()
        except CheckpointLocked as holder:
            raise FolderInUse(_sentence(str(holder))) from None
        return hold


def _sentence(holder: str) -> str:
    return f"another job records this cluster there ({holder})"

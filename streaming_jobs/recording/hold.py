"""The folder of a recording: closed to other users, and of one job for each cluster."""

from __future__ import annotations

import logging

from pyspark.sql import SparkSession

from streaming_jobs.runtime.checkpoint import folder_of
from streaming_jobs.runtime.checkpoint_lock import CheckpointHold, CheckpointLocked, Lease, LocalLock
from streaming_jobs.runtime.hadoop_files import FilesError, HadoopFiles

log = logging.getLogger(__name__)


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
            lost, self._hold = self._hold.lost, None  # it is free again once the other job has ended
            raise FolderInUse(_sentence(lost))

    def release(self) -> None:
        """Let others have it; no harm if it was never taken."""
        if self._hold is not None:
            self._hold.release()

    def _take_hold(self) -> CheckpointHold:
        files = HadoopFiles(self._spark, self._folder)
        self._close_folder(files)
        files.make_folder(f"{self._folder}/checkpoints")
        file = f"{self._folder}/checkpoints/{folder_of(self._cluster)}+owner"
        here = files.on_this_machine(file)
        hold: CheckpointHold = LocalLock(here) if here is not None else Lease(files, file)
        try:
            hold.take()
        except CheckpointLocked as holder:
            raise FolderInUse(_sentence(str(holder))) from None
        return hold

    def _close_folder(self, files: HadoopFiles) -> None:
        """It has the names of groups, clients and hosts. One of another owner, as a volume often is, stays open."""
        is_new = not files.exists(self._folder)
        try:
            files.make_private_folder(self._folder)
        except FilesError as error:
            if is_new or not files.exists(self._folder):
                raise
            log.warning("Cluster %s: other users may read the recording in %s: %s", self._cluster, self._folder, error)


def _sentence(holder: str) -> str:
    return f"another job records this cluster there ({holder})"

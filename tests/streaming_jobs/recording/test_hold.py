"""The folder of a recording is closed to other users, and of one job for each cluster."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from streaming_jobs.recording.hold import FolderInUse, RecordingHold
from streaming_jobs.runtime.hadoop_files import FilesError, HadoopFiles
from streaming_jobs.runtime.session import create_session, stop_session
from tests.support.job_process import BRIEF_JVM, DRIVER_JVM

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    log = tmp_path_factory.mktemp("spark") / "spark.log"
    session = create_session("local[1]", 1, [], {DRIVER_JVM: BRIEF_JVM}, log)
    yield session
    stop_session(session)
    gc.collect()  # so that what PySpark left open is found here, and not in the tests of another file


def mode(folder: Path) -> int:
    return folder.stat().st_mode & 0o777


def test_other_users_cannot_open_it_and_its_group_keeps_its_rights(spark: SparkSession, tmp_path: Path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    old.chmod(0o755)
    for folder in (old, new):
        hold = RecordingHold(spark, str(folder), "c")
        hold.take()
        hold.release()
    assert (mode(old), mode(new)) == (0o750, 0o700)


def test_a_folder_of_another_owner_is_recorded_in_and_stays_open(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    """As the root of a volume that a cluster has mounted. To root nothing is forbidden, so this one is refused here."""
    tmp_path.chmod(0o777)

    def refuse(files: HadoopFiles, path: str) -> None:
        raise FilesError(f"{path}: chmod: Operation not permitted")

    monkeypatch.setattr(HadoopFiles, "make_private_folder", refuse)
    hold = RecordingHold(spark, str(tmp_path), "c")
    hold.take()
    hold.release()
    assert mode(tmp_path) == 0o777
    assert "other users may read the recording" in caplog.text
    with pytest.raises(FilesError):
        RecordingHold(spark, str(tmp_path / "new"), "c").take()


def test_a_second_job_is_refused_for_the_same_cluster_until_the_first_ends(spark: SparkSession, tmp_path: Path):
    first, second = (RecordingHold(spark, str(tmp_path), "c") for _ in range(2))
    other = RecordingHold(spark, str(tmp_path), "..")
    first.take()
    first.take()  # at each restart of the query
    other.take()
    sentence = re.escape(f"another job records this cluster there (process {os.getpid()} on ")
    with pytest.raises(FolderInUse, match=sentence):
        second.take()
    first.release()
    second.take()
    second.release()
    other.release()

"""File systems without locks: what needs one says so, and what can do without one goes on."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from monitor.java_runtime.cached_folder import fill_folder
from streaming_jobs.runtime.checkpoint_lock import LocalLock
from streaming_jobs.runtime.hadoop_files import FilesError
from streaming_jobs.runtime.run_folder import RunFolder, remove_abandoned


@pytest.fixture(params=[errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def reason(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """As on NFS that is mounted without locks, or in user space (FUSE)."""

    def refuse(_descriptor: int, _operation: int) -> None:
        raise OSError(request.param, os.strerror(request.param))

    monkeypatch.setattr(fcntl, "flock", refuse)
    return os.strerror(request.param)


def test_a_checkpoint_or_recording_needs_locks_and_says_so(tmp_path: Path, reason: str):
    file = tmp_path / "c+owner"
    with pytest.raises(FilesError) as refused:
        LocalLock(file).take()
    assert str(refused.value) == (
        f"its file system has no locks ({file}: {reason}). Mount it with locks (flock), or choose a folder on another "
        "file system"
    )


def test_a_folder_for_temporary_files_does_without_and_is_not_removed(
    tmp_path: Path, reason: str, caplog: pytest.LogCaptureFixture
):
    """Before, a start made one folder after the other, forever."""
    with RunFolder(tmp_path) as folder:
        assert remove_abandoned(tmp_path) == 0
        assert [each.name for each in tmp_path.iterdir()] == [folder.path.name]
    assert "is on a file system without locks" in caplog.text
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_the_cache_is_filled_and_the_first_of_two_has_it(tmp_path: Path, reason: str):
    into, told = tmp_path / "jars", []

    def fill(work: Path) -> Path:
        (work / "a.jar").touch()
        into.mkdir(exist_ok=True)  # another process was faster
        (into / "b.jar").touch()
        return work

    fill_folder(into, fill, told.append)
    assert [each.name for each in into.iterdir()] == ["b.jar"]
    assert told == [f"{into}.lock cannot be locked ({reason}): going on without a lock"]

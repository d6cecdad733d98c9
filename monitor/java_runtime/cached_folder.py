"""Folders of the user's cache: each is complete or absent, whatever ends the process that fills it."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def fill_folder(into: Path, fill: Callable[[Path], Path], progress: Callable[[str], None]) -> None:
    """Fill a folder, unless it is there already.

    A temporary folder beside it is filled, and renamed when all is there. A lock file keeps two processes from filling
    the same folder; it is free again when its holder dies. A file system without locks has to do without.

    Args:
        into: The folder; afterwards it is complete.
        fill: Takes the temporary folder; returns what of it becomes ``into``.
        progress: Is called at a wait for another process.
    """
    if into.is_dir():
        return
    into.parent.mkdir(parents=True, exist_ok=True)
    with _locked(into.with_name(into.name + ".lock"), progress):
        if not into.is_dir():  # else another process has just filled it
            work = Path(tempfile.mkdtemp(prefix=into.name + ".", suffix=".part", dir=into.parent))
            try:
                _rename(fill(work), into)
            finally:
                shutil.rmtree(work, ignore_errors=True)


@contextmanager
def _locked(lock_file: Path, progress: Callable[[str], None]) -> Iterator[None]:
    with lock_file.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"another process is filling {lock_file.stem}: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:  # a file system without locks: of two that fill the folder, the first has it
            progress(f"{lock_file} cannot be locked ({error.strerror}): going on without a lock")
        yield


def _rename(filled: Path, into: Path) -> None:
    try:
        filled.rename(into)
    except OSError:
        if not into.is_dir():
            raise

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
    the same folder; it is free again when its holder dies.

    Args:
        into: The folder; afterwards it is complete.
        fill: Takes the temporary folder; returns what of it becomes ``into``.
        progress: Is told of a wait for another process.
    """
    if into.is_dir():
        return
    into.parent.mkdir(parents=True, exist_ok=True)
    with _locked(into.with_name(into.name + ".lock"), progress):
        if not into.is_dir():  # else another process has just filled it
            work = Path(tempfile.mkdtemp(prefix=into.name + ".", suffix=".part", dir=into.parent))
            try:
                fill(work).rename(into)
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
        yield

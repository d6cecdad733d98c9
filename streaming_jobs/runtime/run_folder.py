"""A private folder for what a process needs only while it runs: sockets, unpacked libraries, files of secrets.

A process that is killed cannot clean up, and each start of a job leaves some 15 MB of native libraries. So the folder
is locked while its process lives, and a later start removes the folders without a lock.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from streaming_jobs.runtime.file_locks import has_no_locks

log = logging.getLogger(__name__)

PREFIX: Final = "groupwatch-run-"

LONGEST_SOCKET_FOLDER: Final = 60
"""Bytes of a path. A Unix domain socket's path may have 107, and Spark gives its sockets names of 42."""

SHORT_BASE: Final = Path("/tmp")
"""Where folders for sockets are made if the folder for temporary files has a longer name (macOS), or capitals in it."""


class NoLocksError(Exception):
    """The file system has no locks."""


class RunFolder:
    """A folder that only this user can open (mode 700). It is removed by ``close``, or by a start after a crash."""

    def __init__(self, base: Path | None = None) -> None:
        """Create it.

        Args:
            base: the folder that it is made in; None: the system's folder for temporary files.
        """
        self._base = Path(tempfile.gettempdir()) if base is None else base
        self.path, self._lock = _create(self._base)
        self._sockets: RunFolder | None = None

    @property
    def sockets(self) -> Path:
        """A folder for Unix domain sockets: this one, or one with a path that is short enough and in lower case.

        PySpark 4.2's worker puts the path of a stateful query's socket into lower case (``EvalConf`` in its
        ``worker.py``). With a capital letter in TMPDIR, every micro-batch failed.
        """
        path = str(self.path)
        if len(os.fsencode(path)) <= LONGEST_SOCKET_FOLDER and path == path.lower():
            return self.path
        if self._sockets is None:
            self._sockets = RunFolder(SHORT_BASE)
        return self._sockets.path

    def write(self, name: str, text: str) -> Path:
        """A file in it with this text, which only this user can read (mode 600)."""
        file = self.path / name
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as stream:  # noqa: PTH123 -- the mode is given when it is created
            stream.write(text)
        return file

    def close(self) -> None:
        """Remove it with all that is in it; no harm if it is gone."""
        if self._sockets is not None:
            self._sockets.close()
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def remove_abandoned(base: Path | None = None) -> int:
    """Remove this user's run folders whose processes have ended; how many there were.

    Args:
        base: where to look; None: where ``RunFolder`` makes them.
    """
    places = {Path(tempfile.gettempdir()), SHORT_BASE} if base is None else {base}
    removed = sum(_remove(folder) for place in places for folder in _own_folders(place))
    if removed:
        log.info("Removed %d temporary folder(s) of processes that were killed", removed)
    return removed


def _create(base: Path) -> tuple[Path, int | None]:
    """A new folder and the descriptor that holds its lock.

    Another start may take a folder for abandoned in the instant before it is locked; then a second one is made. If
    the file system has no locks there is none, and no start removes a folder that may be in use.
    """
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
        try:
            lock = _lock(path)
        except NoLocksError:
            log.warning("%s is on a file system without locks. Remove it if this process is killed.", path)
            return path, None
        if lock is not None and _is_still(path, lock):
            return path, lock
        if lock is not None:
            os.close(lock)


def _own_folders(base: Path) -> Iterator[Path]:
    """Folders of this user's that are named like run folders; never what a link of another user's leads to."""
    try:
        found = [entry for entry in os.scandir(base) if entry.name.startswith(PREFIX)]
    except OSError:
        return
    for entry in found:
        try:
            seen = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.getuid():
            yield Path(entry.path)


def _remove(folder: Path) -> bool:
    try:
        lock = _lock(folder)
    except NoLocksError:
        return False
    if lock is None:
        return False
    try:
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
    return True


def _lock(folder: Path) -> int | None:
    """The descriptor of the folder, locked; None if another process has it locked, or it is gone.

    Raises:
        NoLocksError: the file system has no locks.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if has_no_locks(error):
            raise NoLocksError from error
        return None
    return descriptor


def _is_still(path: Path, descriptor: int) -> bool:
    """Whether the path leads to the folder that is open."""
    try:
        here, there = path.stat(follow_symlinks=False), os.fstat(descriptor)
    except OSError:
        return False
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)

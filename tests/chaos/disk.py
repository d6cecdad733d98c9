"""A small file system of its own, which can be full, and can stand still."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

SIZE: Final = 256 * 2**20
BALLAST: Final = "ballast"


class NoDisk(Exception):  # noqa: N818 -- it reads as what happened
    """Only root can mount a file system, and not in every container."""


class Disk:
    """An ext4 in a file, mounted for the time of a ``with`` block."""

    def __init__(self, folder: Path) -> None:
        self._image = folder / "disk.img"
        self.path = folder / "disk"

    def __enter__(self) -> Path:
        """Mount it.

        Raises:
            NoDisk: that cannot be done here.
        """
        self.path.mkdir()
        with self._image.open("wb") as file:
            file.truncate(SIZE)
        for command in (["mkfs.ext4", "-q", str(self._image)], ["mount", "-o", "loop", self._image, self.path]):
            if os.getuid() or subprocess.run(command, capture_output=True, check=False).returncode:
                raise NoDisk(f"{command[0]} cannot be used")
        return self.path

    def __exit__(self, *_: object) -> None:
        self._thaw()
        subprocess.run(["umount", "-l", str(self.path)], check=False)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Whatever is written waits until the end of the block."""
        subprocess.run(["fsfreeze", "-f", str(self.path)], check=True)
        try:
            yield
        finally:
            self._thaw()

    @contextmanager
    def full(self) -> Iterator[None]:
        """No room is left until the end of the block."""
        ballast = self.path / BALLAST
        with ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, os.statvfs(self.path).f_bavail * os.statvfs(self.path).f_bsize))
        try:
            yield
        finally:
            ballast.unlink()

    def _thaw(self) -> None:
        subprocess.run(["fsfreeze", "-u", str(self.path)], capture_output=True, check=False)

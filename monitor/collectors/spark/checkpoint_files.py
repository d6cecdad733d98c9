"""The files of a checkpoint, wherever it is: what has to be known of a file system to read one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from monitor.collectors.errors import CollectorError


class CheckpointUnreadable(CollectorError):  # noqa: N818 - it reads as what happened
    """A checkpoint cannot be read; the text names the path and why."""


class CheckpointFiles(Protocol):
    """A file system, with the two operations that a checkpoint's reader needs."""

    def names(self, folder: str) -> Iterator[str]:
        """The names in a folder, in any order.

        Raises:
            CheckpointUnreadable: there is no such folder, or it cannot be read.
        """

    def read(self, path: str, limit: int) -> bytes | None:
        """What is in a file, at most one byte more than ``limit``; None: there is no such file.

        Raises:
            CheckpointUnreadable: it cannot be read.
        """


class LocalFiles:
    """The file system of this machine: paths, and URIs with the scheme ``file``."""

    def names(self, folder: str) -> Iterator[str]:
        """See CheckpointFiles."""
        try:
            with os.scandir(_local(folder)) as entries:
                for entry in entries:
                    yield entry.name
        except OSError as error:
            raise CheckpointUnreadable(f"{folder} cannot be read ({error.strerror}).") from error

    def read(self, path: str, limit: int) -> bytes | None:
        """See CheckpointFiles."""
        try:
            with _local(path).open("rb") as file:
                return file.read(limit + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CheckpointUnreadable(f"{path} cannot be read ({error.strerror}).") from error


def _local(path: str) -> Path:
    try:
        scheme, _, rest, _, _ = urlsplit(path)
    except ValueError:  # a bracket without its other half
        raise CheckpointUnreadable(f"{path} is neither a path nor a URI.") from None
    if len(scheme) > 1 and scheme != "file":
        raise CheckpointUnreadable(
            f"{path} is not on a file system of this machine; the job can read it, groupwatch collect cannot."
        )
    return Path(unquote(rest)) if scheme == "file" else Path(path)

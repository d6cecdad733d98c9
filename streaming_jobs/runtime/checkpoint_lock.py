"""One job for each checkpoint: a lock of the operating system where there is one, else a lease in a file.

On a disk of this machine the kernel knows who holds a lock, and frees it when the holder dies, however it dies. Other
file systems have no locks. There the owner keeps a file and writes it again every few seconds; a file that stays the
same for the time of a lease has no owner. No clock of another machine is looked at.
"""

from __future__ import annotations

import fcntl
import logging
import os
import secrets
import socket
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol, Self

import msgspec

from streaming_jobs.runtime.file_locks import has_no_locks
from streaming_jobs.runtime.hadoop_files import FilesError, HadoopFiles

log = logging.getLogger(__name__)

LEASE_S: Final = 30.0
"""How long a file must stay as it is before another process may have it."""

RENEWAL_S: Final = 5.0
POLL_S: Final = 0.5

SETTLING_S: Final = 2.0
"""Two that take a free lease at once both write the file; who wrote last has it, and both know after so long."""


class CheckpointLocked(Exception):  # noqa: N818 -- it reads as what happened
    """Another job has the checkpoint; the text says who, after "by"."""


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """The owner of a checkpoint. ``begun`` distinguishes processes with the same pid (clock ticks since boot).

    A pid means something in one pid namespace of one boot only: ``machine``. Both None where there is no /proc.
    """

    id: str
    host: str
    pid: int
    since: str
    machine: str | None = None
    begun: int | None = None
    renewals: int = 0

    @classmethod
    def here(cls) -> Self:
        """This process, now."""
        return cls(
            id=secrets.token_hex(8),
            host=socket.gethostname(),
            pid=os.getpid(),
            since=datetime.now(UTC).isoformat(timespec="seconds"),  # noqa: TID251 -- for a person, as the wall shows it
            machine=_machine(),
            begun=_process_start(os.getpid()),
        )

    def is_dead(self) -> bool:
        """Whether its process is known to have ended; False if that cannot be known from here."""
        return self.machine is not None and self.machine == _machine() and self.begun != _process_start(self.pid)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.since}"


class CheckpointHold(Protocol):
    """How a job has a checkpoint for itself."""

    @property
    def lost(self) -> str | None:
        """Who has taken it away meanwhile; None: it is not lost."""

    def take(self) -> None:
        """Have it from now on.

        Raises:
            CheckpointLocked: another job has it.
            FilesError: it cannot be known.
        """

    def release(self) -> None:
        """Let others have it; no harm if it was never taken."""


class LocalLock:
    """A lock of the operating system on a file of this machine. Its text is for people only."""

    lost = None

    def __init__(self, file: Path) -> None:
        self._file = file
        self._descriptor: int | None = None

    def take(self) -> None:
        """See CheckpointHold."""
        try:
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise FilesError(f"{self._file}: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(descriptor, 4096, 0)
            os.close(descriptor)
            if isinstance(error, BlockingIOError):
                raise CheckpointLocked(_owner_name(holder)) from None
            raise FilesError(_lock_failure(self._file, error)) from error
        self._descriptor = descriptor
        self._sign(descriptor)

    def release(self) -> None:
        """See CheckpointHold. The file stays: taking it away would let two jobs lock two files of one name."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _sign(self, descriptor: int) -> None:
        try:
            os.fchmod(descriptor, 0o600)  # it names this host; an earlier version let everybody read it
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, msgspec.json.encode(Owner.here()), 0)
        except OSError as error:  # a full disk: the lock counts, not its text
            log.warning("%s is locked, but the lock has no owner entry (%s)", self._file, error.strerror)


def _lock_failure(file: Path, error: OSError) -> str:
    if not has_no_locks(error):
        return f"{file} cannot be locked ({error.strerror})"
    return (
        f"its file system has no locks ({file}: {error.strerror}). Mount it with locks (flock), or choose a folder on "
        "another file system"
    )


class Lease:
    """A file that its owner keeps writing again, on any file system."""

    def __init__(self, files: HadoopFiles, file: str) -> None:
        self._files = files
        self._file = file
        self._owner = Owner.here()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self.lost: str | None = None

    def take(self) -> None:
        """See CheckpointHold. Takes up to ``LEASE_S`` if an owner died on another machine."""
        self._await_lease()
        self._write()
        self._ended.wait(SETTLING_S)
        rival = self._rival()
        if rival is not None:
            raise CheckpointLocked(str(rival))
        self._thread = threading.Thread(target=self._keep, name=f"lease-{self._file}", daemon=True)
        self._thread.start()

    def release(self) -> None:
        """See CheckpointHold."""
        if self._thread is None:
            return
        self._ended.set()
        self._thread.join()
        self._thread = None
        try:
            if self._rival() is None:
                self._files.delete(self._file)
        except FilesError as error:
            log.warning("The checkpoint lease could not be released (%s); it expires in %.0f s", error, LEASE_S)

    def _await_lease(self) -> None:
        """Return once the file has no owner; raise CheckpointLocked as soon as its owner shows a sign of life."""
        first = self._seen()
        deadline = time.monotonic() + LEASE_S
        if first is not None and not _is_dead(first):
            log.info("Waiting up to %.0f s for a lease renewal of %s", LEASE_S, _owner_name(first.encode()))
        while first is not None and not _is_dead(first) and time.monotonic() < deadline:
            self._ended.wait(POLL_S)
            now = self._seen()
            if now is None:
                return
            if now != first:
                raise CheckpointLocked(_owner_name(now.encode()))

    def _seen(self) -> str | None:
        """The text of the file; empty while it cannot be read, as may be when its owner is writing it again."""
        try:
            return self._files.read(self._file)
        except FilesError as error:
            log.debug("%s cannot be read now (%s)", self._file, error)
            return ""

    def _keep(self) -> None:
        told = False
        while self.lost is None and not self._ended.wait(RENEWAL_S):
            try:
                self._renew()
                told = False
            except FilesError as error:
                if not told:
                    log.warning("%s cannot be renewed (%s); retrying", self._file, error)
                told = True

    def _renew(self) -> None:
        rival = self._rival()
        if rival is None:
            self._owner = msgspec.structs.replace(self._owner, renewals=self._owner.renewals + 1)
            self._write()
        else:
            self.lost = str(rival)

    def _write(self) -> None:
        self._files.write(self._file, msgspec.json.encode(self._owner).decode())

    def _rival(self) -> Owner | None:
        """The file's owner if that is another process. A file that is gone or cut off has none: it is written again."""
        found = _owner_of(self._files.read(self._file) or "")
        return found if found is not None and found.id != self._owner.id else None


_OWNERS: Final = msgspec.json.Decoder(Owner)


def _owner_of(text: str | bytes) -> Owner | None:
    try:
        return _OWNERS.decode(text)
    except msgspec.DecodeError:
        return None


def _owner_name(text: bytes) -> str:
    owner = _owner_of(text)
    return "an unidentified process" if owner is None else str(owner)


def _is_dead(text: str) -> bool:
    owner = _owner_of(text)
    return owner is not None and owner.is_dead()


def _machine() -> str | None:
    """This boot of this machine and the namespace of our pids: a container may share its host's name with another."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return None


def _process_start(pid: int) -> int | None:
    """When a process began, in clock ticks since boot; None if it is no more, or has ended and waits to be buried."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])

"""What each process of a job has at an instant: descriptors, sockets, threads and memory, as Linux counts them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from tests.support.job_process import processes_of

SOCKET: Final = "socket:"
WORKERS_PROGRAM: Final = "streaming_jobs.runtime.worker_daemon"


class Role(StrEnum):
    """What a process of a job is for."""

    DRIVER = "driver"
    JVM = "jvm"
    WORKERS_PARENT = "workers' parent"
    """The Python process from which the workers are forked."""
    WORKER = "worker"


@dataclass(frozen=True)
class ProcessCount:
    """One process. ``descriptors`` has the ``sockets``, too; memory is resident, in MB."""

    role: Role
    pid: int
    descriptors: int
    sockets: int
    threads: int
    memory_mb: int

    def as_json(self) -> dict[str, Any]:
        """Its fields."""
        return asdict(self)


def census(driver: int) -> tuple[ProcessCount, ...]:
    """Every process of a job that still lives, the driver first, then by number.

    Processes that come and go (what a JVM or a worker is about to start) are left out.
    """
    found = (count_of(pid, driver) for pid in sorted(processes_of(driver)))
    return tuple(sorted((each for each in found if each is not None), key=lambda each: [*Role].index(each.role)))


def count_of(pid: int, driver: int) -> ProcessCount | None:
    """What a process has; None: it has ended, or it is none of a job's lasting processes."""
    place = Path("/proc") / str(pid)
    try:
        role = _role(place, driver)
        fields = _status(place)
        links = [*_links(place / "fd")]
    except OSError:
        return None
    if role is None or "VmRSS" not in fields:
        return None
    return ProcessCount(
        role=role,
        pid=pid,
        descriptors=len(links),
        sockets=sum(link.startswith(SOCKET) for link in links),
        threads=int(fields["Threads"]),
        memory_mb=int(fields["VmRSS"].split()[0]) // 1024,
    )


def _role(place: Path, driver: int) -> Role | None:
    command = _command(place)
    if int(place.name) == driver:
        return Role.DRIVER
    if WORKERS_PROGRAM in command:
        return Role.WORKERS_PARENT if _is_jvm(place.parent / _status(place)["PPid"]) else Role.WORKER
    return Role.JVM if _is_jvm(place) else None  # a JVM that starts a program is for a moment two of its name


def _is_jvm(place: Path) -> bool:
    return (place / "exe").readlink().name == "java" and (place / "comm").read_text().strip() == "java"


def _command(place: Path) -> list[str]:
    return (place / "cmdline").read_text(encoding="utf-8", errors="replace").split("\0")


def _status(place: Path) -> dict[str, str]:
    lines = (place / "status").read_text(encoding="utf-8", errors="replace").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _links(folder: Path) -> Iterator[str]:
    """What the descriptors lead to; those that are closed meanwhile are passed over."""
    for descriptor in folder.iterdir():
        with suppress(FileNotFoundError):
            yield str(descriptor.readlink())


def of_role(counts: Iterable[ProcessCount], role: Role) -> list[ProcessCount]:
    """The processes of one role."""
    return [each for each in counts if each.role is role]

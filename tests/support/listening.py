"""What a process and all that it has started listen on, as the kernel tells it."""

from __future__ import annotations

import ipaddress
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.job_process import process_fields

LISTEN: Final = "0A"
"""The state of a socket in /proc/net/tcp."""


LOOKS: Final = 3
"""So often it is looked up whose a socket is: beside a load, its program may have closed or opened others meanwhile."""


class Listener(NamedTuple):
    """A TCP socket that waits for connections, and the program that has it."""

    address: ipaddress.IPv4Address | ipaddress.IPv6Address
    port: int
    program: str

    @property
    def is_open(self) -> bool:
        """Whether other machines can reach it."""
        mapped = getattr(self.address, "ipv4_mapped", None)
        return not (mapped or self.address).is_loopback


def listeners(root: int) -> set[Listener]:
    """The listening sockets of a process and of its descendants, now."""
    return _owned(_listening(), root)


def _listening() -> dict[str, list[str]]:
    """The lines of /proc/net about sockets that listen, by their inodes."""
    lines = (line for file in ("tcp", "tcp6") for line in _lines(Path("/proc/net", file)))
    return {line[9]: line for line in lines if line[3] == LISTEN}


def _owned(lines: dict[str, list[str]], root: int) -> set[Listener]:
    owners = _sockets_of(tree(root)) if lines else {}
    return {_listener(line, owners[inode]) for inode, line in lines.items() if inode in owners}


@contextmanager
def watched_listeners(root: int, pause_s: float = 0.02) -> Iterator[set[Listener]]:
    """All that are seen while the block lasts; many live for a part of a second."""
    seen: set[Listener] = set()
    stop = threading.Event()

    def watch() -> None:
        looks: Counter[str] = Counter()
        while not stop.wait(pause_s):
            now = _listening()
            # Whose a socket is takes long to find out, and does not change.
            seen.update(_owned({inode: line for inode, line in now.items() if looks[inode] < LOOKS}, root))
            looks = Counter({inode: looks[inode] + 1 for inode in now})

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()


def tree(root: int) -> set[int]:
    """A process and its descendants."""
    parents = {
        int(stat.parent.name): int(fields[1])
        for stat in Path("/proc").glob("[0-9]*/stat")
        if (fields := process_fields(stat))
    }
    found, added = {root}, {root}
    while added:
        added = {pid for pid, parent in parents.items() if parent in added} - found
        found |= added
    return found


def _sockets_of(pids: set[int]) -> dict[str, str]:
    """The programs by the inodes of their sockets."""
    found: dict[str, str] = {}
    for pid in pids:
        try:
            name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
            links = [str(each.readlink()) for each in Path(f"/proc/{pid}/fd").iterdir()]
        except OSError:  # it has just ended, or closed one
            continue
        found |= {link[8:-1]: name for link in links if link.startswith("socket:[")}
    return found


def _lines(file: Path) -> list[list[str]]:
    return [line.split() for line in file.read_text(encoding="ascii").splitlines()[1:]]


def _listener(line: list[str], program: str) -> Listener:
    address, _, port = line[1].partition(":")
    words = (bytes.fromhex(address[i : i + 8])[::-1] for i in range(0, len(address), 8))
    return Listener(ipaddress.ip_address(b"".join(words)), int(port, 16), program)

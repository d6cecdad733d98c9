"""A thread that reads of one group after the other which library the API names for each member."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import cycle
from typing import Any

from tests.clients.groups import Group
from tests.clients.judging import Recognized
from tests.clients.libraries import CLIENT
from tests.scenarios.run import NAME
from tests.support.background import Background
from tests.support.job_process import JobProcess


class Recognizing(Background):
    """Keeps of each member what was said last, and what was wrong at any time."""

    def __init__(self, job: JobProcess, groups: Sequence[Group], every_s: float = 0.25) -> None:
        super().__init__()
        self._job = job
        self._groups = groups
        self._every_s = every_s
        self._last: dict[str, Recognized] = {}
        self._wrong: dict[str, Recognized] = {}

    def members(self) -> list[Recognized]:
        """All members that were seen; one that was ever recognized as another library is told as that."""
        return list((self._last | self._wrong).values())

    def look(self, group: Group) -> None:
        """Read what is said of a group now."""
        for member in self._job.group(NAME, group.name).get("members", ()):
            found = recognized(group, member)
            self._last[found.member] = found
            if not found.is_in_set:
                self._wrong[found.member] = found

    def _run(self) -> None:
        for group in cycle(self._groups):
            if self._stopping.wait(self._every_s):
                return
            with suppress(OSError):  # it has no members yet, or the machine is busy
                self.look(group)


def recognized(group: Group, member: dict[str, Any]) -> Recognized:
    """What the API says of a member, beside the truth: where libraries differ, the client id is chosen and names it."""
    name = group.clients[0] if len(group.clients) == 1 else member["client_id"].removeprefix("app-")
    said = member["library"]
    return Recognized(
        group=group.name,
        member=member["member_id"],
        library=CLIENT[name].library.value,
        configured=group.configured.value,
        said=tuple(said.get("libraries", ())),
        certainty=said.get("certainty", "unknown"),
        versions=said.get("versions"),
    )

"""A real consumer of a share group, in a process of its own: see ShareMember.java."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.support.consumers import Consumers
from tests.support.crowd import NEEDED
from tests.support.java_program import jars_of_kafka, java_command

_PROGRAM: Final = Path(__file__).parent / "ShareMember.java"


class ShareMember(Consumers):
    """A JVM with one share consumer."""

    def answer_with(self, what: str, until: int | None = None) -> int:
        """Have it acknowledge all records so from now on: ACCEPT, RELEASE, REJECT, HOLD or NOTHING.

        Args:
            what: as ShareMember.java says.
            until: it stops polling once it has acknowledged a record that was delivered so often.

        Returns:
            The place in its events from which on it does.
        """
        since = self.seen()
        self.tell("answer", **{"with": what}, **({} if until is None else {"until": until}))
        self.await_event(since, "answers", **{"with": what})
        return since

    def __init__(self, bootstrap: str) -> None:
        options = ("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
        super().__init__(bootstrap, java_command(_PROGRAM, options=options, jars=jars_of_kafka(NEEDED)))

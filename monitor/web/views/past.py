"""What was known of a group at an instant of the past, as an address asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from starlette.exceptions import HTTPException

from monitor.detection.evaluation_input import GroupInputs
from monitor.history.instants import InstantError, read_instant, read_span
from monitor.history.recorded import NotRecordedError, RecordingError
from monitor.history.story import GroupStory
from monitor.messages.formatting import visible
from monitor.messages.notification import utc
from monitor.web.views.addresses import GroupAddress

LONGEST_MS: Final = 86_400_000
"""The longest span that a job reads: it holds what was recorded of the group, beside all that it watches."""

NOTHING_RECORDED: Final = "This job records nothing: [history] folder is not set."


class Past(Protocol):
    """Where a recording is read from."""

    def inputs(self, cluster: str, group: str, at_ms: int) -> GroupInputs | None:
        """What the verdict on a group was made of at an instant; None: there was no such group.

        Raises:
            RecordingError: the recording cannot be read.
        """

    def story(self, cluster: str, group: str, since_ms: int, until_ms: int) -> GroupStory | None:
        """What happened to a group in a span of time; None: there was no such group.

        Raises:
            RecordingError: as above.
        """


class PastReader:
    """Answers addresses that ask for an instant. ``past`` None: nothing is recorded."""

    def __init__(self, past: Past | None, now_ms: Callable[[], int]) -> None:
        self._past = past
        self._now_ms = now_ms

    def inputs(self, address: GroupAddress, at: str) -> GroupInputs:
        """What the verdict on the group was made of at an instant.

        Raises:
            HTTPException: 400, the text names no instant; 404, there was no such group, or nothing is recorded; 503,
                the recording cannot be read.
        """
        with _refusing():
            at_ms = read_instant(at, self._now_ms())
            found = self._recording.inputs(address.cluster, address.group, at_ms)
        if found is None:
            raise HTTPException(404, f"{_unknown(address)} at {utc(at_ms)}.")
        return found

    def story(self, address: GroupAddress, since: str, until: str) -> GroupStory:
        """What happened to the group between two instants.

        Raises:
            HTTPException: as above.
        """
        with _refusing():
            now_ms = self._now_ms()
            since_ms, until_ms = read_span(since, until, now_ms)
            if until_ms - since_ms > LONGEST_MS:
                raise InstantError("The job answers for at most one day; groupwatch history --history reads more.")
            found = self._recording.story(address.cluster, address.group, since_ms, until_ms)
        if found is None:
            raise HTTPException(404, f"{_unknown(address)} from {utc(since_ms)} to {utc(until_ms)}.")
        return found

    @property
    def _recording(self) -> Past:
        if self._past is None:
            raise HTTPException(404, NOTHING_RECORDED)
        return self._past


@contextmanager
def _refusing() -> Iterator[None]:
    """What cannot be answered, as the status and the sentence of an answer."""
    try:
        yield
    except InstantError as error:
        raise HTTPException(400, str(error)) from error
    except NotRecordedError as error:
        raise HTTPException(404, visible(str(error))) from error
    except RecordingError as error:
        raise HTTPException(503, visible(str(error))) from error


def _unknown(address: GroupAddress) -> str:
    return f"No group named {visible(address.group)} was known in cluster {visible(address.cluster)}"

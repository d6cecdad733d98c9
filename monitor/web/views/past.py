"""What was known of a group at an instant of the past, as an address asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request

from monitor.detection.evaluate import evaluate
from monitor.detection.evaluation_input import GroupInputs
from monitor.history.chronicle.values import Chronicle
from monitor.history.instants import InstantError, read_instant, read_span
from monitor.history.recorded import NotRecordedError, RecordingError
from monitor.history.report.facts import IncidentReport
from monitor.history.tables import DAY_MS
from monitor.history.work_limit import TooMuchWorkError
from monitor.messages.formatting import counted, visible
from monitor.messages.notification import utc
from monitor.model import GroupVerdict
from monitor.web.views.addresses import GroupAddress

Answer = TypeVar("Answer")

LONGEST_MS: Final = DAY_MS
"""The longest span of which a job reads the events: it holds these, beside all that it watches."""

LONGEST_TIMELINE_MS: Final = 31 * DAY_MS
"""The longest span of a timeline. What is longer than a day comes from the tables, where it is evaluated already."""

NOTHING_RECORDED: Final = "This job records nothing: [history] folder is not set."


class Past(Protocol):
    """Where a recording is read from."""

    def inputs(self, cluster: str, group: str, at_ms: int) -> GroupInputs | None:
        """What the verdict on a group was made of at an instant; None: there was no such group.

        Raises:
            RecordingError: the recording cannot be read.
        """

    def chronicle(self, cluster: str, group: str, since_ms: int, until_ms: int) -> Chronicle | None:
        """What happened to a group in a span of time; None: there was no such group.

        Raises:
            RecordingError: as above.
        """

    def days(self, cluster: str, group: str, since_ms: int, until_ms: int) -> Chronicle | None:
        """The same, as far as it is evaluated for the tables; None: there was no such group.

        Raises:
            RecordingError: as above.
        """

    def report(self, cluster: str, group: str, since_ms: int, until_ms: int) -> IncidentReport | None:
        """A report on the same; None: there was no such group.

        Raises:
            RecordingError: as above.
        """


class PastReader:
    """Answers addresses that ask for an instant. ``past`` None: nothing is recorded."""

    def __init__(self, past: Past | None, now_ms: Callable[[], int]) -> None:
        self._past = past
        self._now_ms = now_ms

    @property
    def has_recording(self) -> bool:
        """Whether there is a past to ask for."""
        return self._past is not None

    @property
    def longest_ms(self) -> int:
        """The longest span of a timeline."""
        return LONGEST_TIMELINE_MS

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

    def instant(self, text: str) -> int:
        """The instant that a text means, in ms since the epoch.

        Raises:
            HTTPException: 400, it means none.
        """
        with _refusing():
            return read_instant(text, self._now_ms())

    def span(self, since: str, until: str, longest_ms: int = LONGEST_MS) -> tuple[int, int]:
        """The two instants, in ms since the epoch.

        Raises:
            HTTPException: 400, one is none, the second is not later, or the span is longer than ``longest_ms``.
        """
        with _refusing():
            since_ms, until_ms = read_span(since, until, self._now_ms())
            if until_ms - since_ms > longest_ms:
                days = counted(longest_ms // DAY_MS, "day")
                raise InstantError(
                    f"The job answers for at most {days}; with --history FOLDER, the commands read more."
                )
        return since_ms, until_ms

    def report(self, address: GroupAddress, since: str, until: str) -> IncidentReport:
        """A report on what happened to the group between two instants.

        Raises:
            HTTPException: as above.
        """
        since_ms, until_ms = self.span(since, until)
        return self._within(self._recording.report, address, since_ms, until_ms)

    def chronicle(self, address: GroupAddress, since_ms: int, until_ms: int) -> Chronicle:
        """What happened to the group between two instants (see :meth:`span`); of more than a day, as it was evaluated.

        Raises:
            HTTPException: as above.
        """
        is_read = until_ms - since_ms <= LONGEST_MS
        return self._within(self._recording.chronicle if is_read else self._recording.days, address, since_ms, until_ms)

    def _within(
        self, ask: Callable[[str, str, int, int], Answer | None], address: GroupAddress, since_ms: int, until_ms: int
    ) -> Answer:
        with _refusing():
            found = ask(address.cluster, address.group, since_ms, until_ms)
        if found is None:
            raise HTTPException(404, f"{_unknown(address)} from {utc(since_ms)} to {utc(until_ms)}.")
        return found

    @property
    def _recording(self) -> Past:
        if self._past is None:
            raise HTTPException(404, NOTHING_RECORDED)
        return self._past


def has_instant(request: Request) -> bool:
    """Whether a request is about an instant of the past, where its address may be about now."""
    return bool(request.query_params.get("at"))


def verdict_then(inputs: GroupInputs) -> GroupVerdict:
    """The verdict on a group at an instant of the past.

    Raises:
        HTTPException: 500, a rule fails on this group.
    """
    try:
        return evaluate(inputs.group, inputs.catalog, inputs.now_ms, inputs.settings)
    except Exception as error:
        group, cluster = visible(inputs.group.group), visible(inputs.group.cluster)
        sentence = f"Group {group} of cluster {cluster} cannot be evaluated"
        raise HTTPException(500, f"{sentence} ({type(error).__name__}: {visible(str(error))}).") from error


@contextmanager
def _refusing() -> Iterator[None]:
    """What cannot be answered, as the status and the sentence of an answer."""
    try:
        yield
    except (InstantError, TooMuchWorkError) as error:
        raise HTTPException(400, str(error)) from error
    except NotRecordedError as error:
        raise HTTPException(404, visible(str(error))) from error
    except RecordingError as error:
        raise HTTPException(503, visible(str(error))) from error


def _unknown(address: GroupAddress) -> str:
    return f"No group named {visible(address.group)} was known in cluster {visible(address.cluster)}"

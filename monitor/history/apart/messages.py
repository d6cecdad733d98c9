"""What a job and the process that answers for it write to each other: frames of MessagePack, each after its length."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import IO, Any, Final

import msgspec

from monitor.detection.evaluation_input import GroupInputs
from monitor.history.chronicle.values import Chronicle
from monitor.history.report.facts import IncidentReport
from monitor.model import Value

_LENGTH_BYTES: Final = 4


class QuestionKind(StrEnum):
    """The kinds of queries: a method of monitor.history.past.RecordedPast."""

    INPUTS = "inputs"
    CHRONICLE = "chronicle"
    DAYS = "days"
    REPORT = "report"


class Question(Value):
    """A question about a group: at ``until_ms``, or from ``since_ms`` until then (ms since the epoch)."""

    kind: QuestionKind
    cluster: str
    group: str
    until_ms: int
    since_ms: int = 0


class Response(Value, tag_field="response"):
    """Base of the responses to a query."""


class Found(Response, tag="found"):
    """``value`` is what was found, encoded; nil: nothing."""

    value: msgspec.Raw


class TooMuchWork(Response, tag="too_much_work"):
    """It took more CPU time or memory than it may; the sentences say which, and what to ask instead."""

    sentences: str


class TooSlow(Response, tag="too_slow"):
    """It took too long, although it was little work by then; the sentences have the details."""

    sentences: str


class NotRecorded(Response, tag="not_recorded"):
    """The recording does not have what was requested; the sentence has the details."""

    sentence: str


class Unreadable(Response, tag="unreadable"):
    """The recording cannot be read; the sentence says why."""

    sentence: str


class Failed(Response, tag="failed"):
    """The program failed; the text names the error."""

    text: str


AnyResponse = Found | TooMuchWork | TooSlow | NotRecorded | Unreadable | Failed

_QUESTIONS: Final = msgspec.msgpack.Decoder(Question)
_RESPONSES: Final = msgspec.msgpack.Decoder(AnyResponse)
_VALUES: Final[Mapping[QuestionKind, msgspec.msgpack.Decoder[Any]]] = {
    QuestionKind.INPUTS: msgspec.msgpack.Decoder(GroupInputs | None),
    QuestionKind.CHRONICLE: msgspec.msgpack.Decoder(Chronicle | None),
    QuestionKind.DAYS: msgspec.msgpack.Decoder(Chronicle | None),
    QuestionKind.REPORT: msgspec.msgpack.Decoder(IncidentReport | None),
}


def found_value(kind: QuestionKind, found: Found) -> Any:  # noqa: ANN401 -- it depends on the query
    """What was found, as a value of the method that the question is for."""
    return _VALUES[kind].decode(found.value)


def write_message(stream: IO[bytes], message: Question | AnyResponse) -> None:
    """Write a message and flush it.

    Raises:
        OSError: the reader has closed the stream.
    """
    body = msgspec.msgpack.encode(message)
    stream.write(len(body).to_bytes(_LENGTH_BYTES, "big"))
    stream.write(body)
    stream.flush()


def read_question(stream: IO[bytes]) -> Question | None:
    """The next question; None: there will be none."""
    body = _read_frame(stream)
    return None if body is None else _QUESTIONS.decode(body)


def read_response(stream: IO[bytes]) -> AnyResponse | None:
    """The next response; None: the other process has ended."""
    body = _read_frame(stream)
    return None if body is None else _RESPONSES.decode(body)


def _read_frame(stream: IO[bytes]) -> bytes | None:
    head = stream.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    length = int.from_bytes(head, "big")
    body = stream.read(length)
    return body if len(body) == length else None

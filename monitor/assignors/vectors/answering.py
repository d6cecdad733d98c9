"""What the command makes of one line: bytes in, bytes out, and nothing but that."""

from __future__ import annotations

import json

from msgspec import ValidationError

from monitor.assignors.errors import AssignorError
from monitor.assignors.vectors import dialect_cases as dialects
from monitor.assignors.vectors.case_line import CaseLine, InvalidLineError, read_line
from monitor.assignors.vectors.families import answer
from monitor.assignors.vectors.limits import check_size
from monitor.assignors.vectors.remarks import is_order_sensitive, quirks_of_answer
from monitor.model import Value

Reply = dict[str, object]
"""An output line before it is text."""


class Remarks(Value):
    """What an output line says beside the answer."""

    quirks: bool = False
    order_sensitive: bool = False


def answer_line(line: bytes, remarks: Remarks | None = None) -> bytes:
    r"""The output line for this input line. Never raises, whatever the line is.

    It has the line's ``id`` and one of ``answer`` (in the form of the golden vectors), ``error`` (the original throws:
    "Class: message") and ``invalid`` (why there is no answer), and what ``remarks`` ask for. An assignor of another
    library adds what ``dialect_cases.acceptance`` says, or says only that. The text is ASCII.

    >>> answer_line(b'{"id": 7, "assignor": "kafka.roundrobin", "input": {"topics": {}, "members": []}}\n')
    b'{"id": 7, "error": "IllegalArgumentException: CircularIterator can only be used on non-empty lists"}\n'
    """
    try:
        case = read_line(line)
    except InvalidLineError as error:
        return _written({"id": error.id, "invalid": str(error)})
    try:
        return _written({"id": case.id, **_reply(case, remarks or Remarks())})
    except (ValidationError, UnicodeEncodeError) as error:
        return _written({"id": case.id, "invalid": str(error)})
    except (MemoryError, RecursionError):
        return _written({"id": case.id, "invalid": "Too large for this machine"})
    except Exception as error:  # a mistake in one strategy must not take the other answers away
        return _written({"id": case.id, "invalid": f"A mistake in groupwatch: {type(error).__name__}: {error}"})


def _reply(case: CaseLine, remarks: Remarks) -> Reply:
    check_size(case.input)
    acceptance = dialects.acceptance(case.assignor, case.input, case.given)
    if acceptance and case.assignor in dialects.CHECKED_FAMILIES:
        return acceptance
    reply: Reply = {}
    try:
        given = answer(case.assignor, case.input)
        reply["answer"] = given
        if remarks.quirks:
            reply["quirks"] = quirks_of_answer(case, given)
    except AssignorError as error:
        reply["error"] = str(error)
    reply |= acceptance
    if remarks.order_sensitive:
        reply["order_sensitive"] = is_order_sensitive(case)
    return reply


def _written(reply: Reply) -> bytes:
    return json.dumps(reply).encode("ascii") + b"\n"

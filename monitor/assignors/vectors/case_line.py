"""One line of a file of cases: JSON that may be anything, and is a case if all goes well."""

from __future__ import annotations

import json
from collections import Counter
from typing import Final, Never

from monitor.assignors.vectors.limits import LINE_BYTES
from monitor.model import Value

CaseId = str | int | None
"""The id of a line; None where it has none that can be read."""

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class CaseLine(Value):
    """A line that asks something: the family of the assignor, and the input as JSON gave it.

    ``given`` is what the line has as its "given", or else as its "expected": an assignment, perhaps.
    """

    id: CaseId
    assignor: str
    input: object
    given: object = None


class InvalidLineError(Exception):
    """The line is no case. ``str()`` says why; ``id`` is that of the line, if it could be read."""

    def __init__(self, why: str, line_id: CaseId = None) -> None:
        super().__init__(why, line_id)
        self.id = line_id

    def __str__(self) -> str:
        """Why, in a few words."""
        return str(self.args[0])


def read_line(line: bytes) -> CaseLine:
    r"""The case on this line. Keys other than ``id``, ``assignor``, ``input``, ``given`` and ``expected`` are ignored.

    >>> read_line(b'{"id": "1", "assignor": "kafka.range", "input": {}, "expected": null, "note": 3}\n')
    CaseLine(id='1', assignor='kafka.range', input={}, given=None)

    Raises:
        InvalidLineError: it is too long, not UTF-8, not JSON as RFC 8259 defines it, ambiguous (a key occurs twice in
            an object), holds text that UTF-8 cannot carry, or is not an object with these three keys.
    """
    faults: list[str] = []
    found = _parse(_text(line), faults)
    if not isinstance(found, dict):
        raise InvalidLineError("Expected an object")
    line_id = found.get("id")
    if not isinstance(line_id, str | int) or isinstance(line_id, bool):
        raise InvalidLineError("Expected a text or a whole number - at `$.id`")
    assignor = found.get("assignor")
    if not isinstance(assignor, str):
        raise InvalidLineError("Expected a text - at `$.assignor`", line_id)
    if "input" not in found:
        raise InvalidLineError("Object missing required field `input`", line_id)
    if faults:
        raise InvalidLineError(faults[0], line_id)
    return CaseLine(
        id=line_id, assignor=assignor, input=found["input"], given=found.get("given", found.get("expected"))
    )


def _text(line: bytes) -> str:
    if len(line) > LINE_BYTES:
        raise InvalidLineError(f"Too large: more than {LINE_BYTES} bytes in a line")
    if line.startswith(_BYTE_ORDER_MARK):
        raise InvalidLineError("The line begins with a byte order mark")
    if not line.strip():
        raise InvalidLineError("The line is empty")
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise InvalidLineError(f"Not UTF-8: {error.reason} at byte {error.start}") from error


def _parse(text: str, faults: list[str]) -> object:
    def unambiguous(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            name, _ = Counter(name for name, _ in pairs).most_common(1)[0]
            faults.append(f"The key {name[:100]!r} occurs twice in an object")
        return found

    try:
        found: object = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=unambiguous)
        if "\\u" in text:  # the only way in which text that UTF-8 cannot carry comes into JSON
            json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        faults.append("Half of a surrogate pair without its other half")
    except json.JSONDecodeError as error:
        raise InvalidLineError(f"Not JSON: {error.msg} at character {error.pos}") from error
    except ValueError as error:  # Python reads no whole number of more than 4300 digits
        raise InvalidLineError("A number is too long") from error
    except RecursionError as error:
        raise InvalidLineError("Nested too deeply") from error
    return found


def _refuse_constant(name: str) -> Never:
    raise InvalidLineError(f"Not JSON: {name} is no number")

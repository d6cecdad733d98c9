"""The query of an address, read strictly: unknown or unreadable parameters are refused, never skipped."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request

from monitor.messages.formatting import visible
from monitor.model import Value

Word = TypeVar("Word", bound=StrEnum)

MOST_VALUES: Final = 500
"""More than a person types."""

NUMBERS: Final = "a whole number from 1 to 999999999"
"""What :func:`is_number` takes, in words."""

_YES: Final = ("", "1", "true")
_NO: Final = ("0", "false")


class Parameter(Value):
    """A parameter of a query: what it means, the words that it may be (none: any text), and how often it may stand."""

    name: str
    meaning: str
    words: tuple[str, ...] = ()
    is_number: bool = False
    is_switch: bool = False
    repeats: bool = False


class Query:
    """The values of a request's query, by the parameters that an address has.

    Raises:
        HTTPException: 400, with the sentence that says what is wrong, from the constructor and every method.
    """

    def __init__(self, request: Request, known: Sequence[Parameter]) -> None:
        items = request.query_params.multi_items()
        if len(items) > MOST_VALUES:
            raise _refused(f"A request has at most {MOST_VALUES} parameters.")
        self._values: dict[str, list[str]] = {}
        by_name = {each.name: each for each in known}
        for name, value in items:
            self._values.setdefault(_checked(by_name, name, value).name, []).append(value)
        for name, values in self._values.items():
            if len(values) > 1 and not by_name[name].repeats:
                raise _refused(f"{name} may be given only once.")

    def text(self, name: str) -> str | None:
        """What was given, or None."""
        return next(iter(self._values.get(name, ())), None)

    def texts(self, name: str) -> tuple[str, ...]:
        """All that was given."""
        return tuple(self._values.get(name, ()))

    def words(self, name: str, kind: type[Word]) -> tuple[Word, ...]:
        """All that was given, as words of that kind."""
        return tuple(kind(text) for text in self.texts(name))

    def number(self, name: str) -> int | None:
        """The number that was given, from 1."""
        text = self.text(name)
        return None if text is None else int(text)

    def is_on(self, name: str) -> bool:
        """Whether the switch is there and not set to off."""
        return self.text(name) in _YES


def _checked(known: dict[str, Parameter], name: str, value: str) -> Parameter:
    parameter = known.get(name)
    if parameter is None:
        names = ", ".join(known) or "none"
        raise _refused(f"Unknown parameter {visible(name)}; known parameters: {names}.")
    if parameter.words and value not in parameter.words:
        raise _refused(f"{name} must be one of {', '.join(parameter.words)}, not {visible(value)}.")
    if parameter.is_number and not is_number(value):
        raise _refused(f"{name} must be {NUMBERS}, not {visible(value)}.")
    if parameter.is_switch and value not in _YES + _NO:
        raise _refused(f"{name} must be 1 or 0, not {visible(value)}.")
    return parameter


def is_number(text: str) -> bool:
    """Whether a text is a number that makes sense, and not more than nine digits to fill memory with."""
    return text.isascii() and text.isdigit() and len(text) < 10 and int(text) > 0


def _refused(sentence: str) -> HTTPException:
    return HTTPException(400, sentence)

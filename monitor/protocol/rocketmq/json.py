"""The JSON that RocketMQ writes, which is not JSON: a key may be any value.

fastjson writes a map whose keys are objects as ``{{"queueId":0}:{...}}``, and one whose keys are numbers as
``{0:"a"}``. So the containers are walked here; strings and numbers are read by the standard library, and so are
objects that hold no other container. No byte is looked at more often than containers may be nested.
"""

from __future__ import annotations

import json
from json import decoder
from typing import Final

from monitor.protocol.wire.errors import DecodeError

MAX_DEPTH: Final = 64
"""Containers within containers; RocketMQ's own answers have at most six."""


class Pairs(list["list[JsonValue]"]):
    """An object of which some key is an object or an array: its entries in their order, each a key and a value."""


JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"] | Pairs
"""What such a text holds. Keys that are scalars are texts, as JSON writes them: ``{0:1}`` is ``{"0": 1}``."""

_SPACE: Final = " \t\n\r"


def decode_json(data: bytes) -> JsonValue:
    """The value that a text in UTF-8 holds. Of several equal keys the last one counts.

    Halves of surrogate pairs, which Java's strings may hold and UTF-8 cannot, become question marks.

    >>> decode_json(b'{{"queueId":0}:{"maxOffset":7}}')
    [[{'queueId': 0}, {'maxOffset': 7}]]
    >>> decode_json(b'{0:"127.0.0.1:10911"}')
    {'0': '127.0.0.1:10911'}

    Raises:
        DecodeError: it is no UTF-8, no such JSON, or nested too deeply (``bad_json``); positions are of characters.
    """
    try:
        text = str(data, "utf-8")
    except UnicodeDecodeError as broken:
        raise DecodeError("bad_utf8", broken.start, "body") from broken
    value = _Parser(text).document()
    return _whole(value) if "\\u" in text else value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


_STRING: Final = decoder.scanstring  # type: ignore[attr-defined]  # typeshed lacks it
_SCALAR: Final = json.JSONDecoder(parse_constant=_refuse_constant).scan_once  # type: ignore[attr-defined]  # typeshed lacks it


class _Parser:
    """Walks the text once; ``position`` is the next character."""

    __slots__ = ("_position", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0

    def document(self) -> JsonValue:
        value = self._value(0)
        if self._next():
            raise DecodeError("trailing_bytes", self._position, "body")
        return value

    def _value(self, depth: int) -> JsonValue:
        match self._next():
            case "{":
                flat = self._flat_object()
                return self._object(depth) if flat is None else flat
            case "[":
                return self._array(depth)
            case '"':
                return self._string()
        return self._scalar()

    def _flat_object(self) -> dict[str, JsonValue] | None:
        """The object that begins here, if it has ordinary keys and holds no container: most of what there is."""
        start, text = self._position, self._text
        end = text.find("}", start) + 1
        if not end or text.find("{", start + 1, end) >= 0 or text.find("[", start, end) >= 0:
            return None
        try:
            value, length = _SCALAR(text[start:end], 0)
        except (ValueError, StopIteration):
            return None
        if length != end - start:  # cannot be: the last character is the first brace that closes
            return None
        self._position = end
        return value  # type: ignore[no-any-return]  # an object: it begins with a brace

    def _object(self, depth: int) -> JsonValue:
        self._enter(depth)
        entries = Pairs()
        if self._next() == "}":
            self._position += 1
            return {}
        while True:
            key = self._value(depth + 1)
            self._expect(":")
            entries.append([key, self._value(depth + 1)])
            if self._take_end("}"):
                return _simplify(entries)

    def _array(self, depth: int) -> JsonValue:
        self._enter(depth)
        items: list[JsonValue] = []
        if self._next() == "]":
            self._position += 1
            return items
        while True:
            items.append(self._value(depth + 1))
            if self._take_end("]"):
                return items

    def _string(self) -> str:
        try:
            value, self._position = _STRING(self._text, self._position + 1, True)
        except ValueError as broken:
            raise self._error() from broken
        return value  # type: ignore[no-any-return]  # a text

    def _scalar(self) -> JsonValue:
        try:
            value, self._position = _SCALAR(self._text, self._position)
        except (ValueError, StopIteration) as broken:
            raise self._error() from broken
        return value  # type: ignore[no-any-return]  # a scalar: it begins with neither brace nor bracket

    def _enter(self, depth: int) -> None:
        if depth >= MAX_DEPTH:
            raise self._error()
        self._position += 1

    def _take_end(self, end: str) -> bool:
        """Whether the container ends here; otherwise there is a comma, which is passed over."""
        found = self._next()
        if found not in (",", end):
            raise self._error()
        self._position += 1
        return found == end

    def _expect(self, wanted: str) -> None:
        if self._next() != wanted:
            raise self._error()
        self._position += 1

    def _next(self) -> str:
        """The next character that is no space, which is not passed over; "" at the end."""
        text, position = self._text, self._position
        while text[position : position + 1] in _SPACE and position < len(text):
            position += 1
        self._position = position
        return text[position : position + 1]

    def _error(self) -> DecodeError:
        return DecodeError("bad_json", self._position, "body")


def _simplify(entries: Pairs) -> JsonValue:
    """An object with text for keys if no key is a container."""
    if any(isinstance(key, dict | list) for key, _ in entries):
        return entries
    return {key if isinstance(key, str) else json.dumps(key): value for key, value in entries}


def _whole(value: JsonValue) -> JsonValue:
    """The value without halves of surrogate pairs."""
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case Pairs():
            return Pairs([_whole(key), _whole(item)] for key, item in value)
        case list():
            return [_whole(item) for item in value]
        case dict():
            return {_whole(key): _whole(item) for key, item in value.items()}  # type: ignore[misc]  # a text again
    return value

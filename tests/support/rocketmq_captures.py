"""The exchanges captured from real RocketMQ servers, and what their bodies hold as it was written down then."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from monitor.protocol.wire.errors import DecodeError

SETS = ("4.9.7", "4.9.7-mixed", "5.5.0", "5.5.0-modes", "5.5.0-proxy")
_FOLDER = Path(__file__).parents[1] / "fixtures" / "rocketmq"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and its answer, as frames, and what was read in the answer."""

    name: str
    request: bytes
    response: bytes
    decoded: Any

    @property
    def request_header(self) -> dict[str, Any]:
        return json.loads(self.request[8 : 8 + self._header_size(self.request)])

    @property
    def request_body(self) -> bytes:
        return self.request[8 + self._header_size(self.request) :]

    @property
    def response_header(self) -> dict[str, Any]:
        return json.loads(self.response[8 : 8 + self._header_size(self.response)])

    @property
    def response_body(self) -> bytes:
        return self.response[8 + self._header_size(self.response) :]

    @property
    def code(self) -> int:
        return self.request_header["code"]

    @property
    def fields(self) -> dict[str, str]:
        return self.request_header.get("extFields", {})

    @staticmethod
    def _header_size(frame: bytes) -> int:
        return int.from_bytes(frame[5:8], "big")


@cache
def exchanges(*sets: str) -> tuple[Exchange, ...]:
    """The exchanges of these sets, or of all."""
    return tuple(
        Exchange(
            name=line["name"],
            request=base64.b64decode(line["request"]),
            response=base64.b64decode(line["response"]),
            decoded=line["decoded"],
        )
        for each in sets or SETS
        for line in map(json.loads, (_FOLDER / f"{each}.jsonl").read_text("utf-8").splitlines())
    )


def exchange(name: str) -> Exchange:
    """The one of that name."""
    return next(each for each in exchanges() if each.name == name)


def without_pairs(decoded: Any) -> Any:
    """What was written down, with lists of pairs in place of objects whose keys are objects."""
    match decoded:
        case {"__pairs__": pairs}:
            return [[without_pairs(key), without_pairs(value)] for key, value in pairs]
        case dict():
            return {key: without_pairs(value) for key, value in decoded.items()}
        case list():
            return [without_pairs(value) for value in decoded]
    return decoded


def refusal(read: Callable[[bytes], object], data: bytes) -> DecodeError | None:
    """The error with which the bytes are refused, if they are; any other is raised."""
    try:
        read(data)
    except DecodeError as error:
        return error
    return None

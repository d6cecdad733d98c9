"""The one way in which reading bytes fails: a reason from a short list, and the place."""

from __future__ import annotations

from typing import Final, Literal, get_args

from monitor.model import Value

Reason = Literal[
    "null_key",  # a record of the offsets topic without a key
    "null_value",  # a record of the events topic without a value
    "underflow",  # a field reaches beyond the end
    "trailing_bytes",  # bytes are left after the last field
    "bad_length",  # a negative length, or null where null is not allowed
    "bad_varint",  # an unsigned varint of more than 32 bits
    "bad_utf8",
    "unknown_key_version",
    "unknown_value_version",
    "bad_json",
    "bad_event",  # JSON, but not an event: a field is missing, of another type or out of range
    "newer_version",  # an event of a collector that is newer than this reader
    "bad_number",  # a number beyond sense: an offset, an epoch or a time below 0, an offset beyond all logs
    "from_the_future",  # it names a time that is minutes later than the record was written
    "other_source",  # the end of a pass over another cluster or system than the one that is watched
    "bad_text",  # text that is not of its form: no number where one has to be, a line of other words
]
"""Every reason there is, each fit to be the value of a metric's label."""

REASONS: Final[tuple[Reason, ...]] = get_args(Reason)


class Shortfall(Value):
    """What an underflow required (array elements, bytes of a text, or one number), and how many bytes are left."""

    unit: Literal["elements", "bytes", "number"]
    wanted: int
    left: int


class DecodeError(Exception):
    """Bytes that cannot be read.

    Attributes:
        reason: One of ``REASONS``.
        position: Where the field begins that could not be read, in bytes from the start of ``where``.
        where: Which bytes: "key", "value", "subscription" or "assignment".
        shortfall: What was required, if the reason is "underflow".
    """

    def __init__(self, reason: Reason, position: int, where: str = "value", shortfall: Shortfall | None = None) -> None:
        super().__init__(reason, position, where, shortfall)  # all are args: the error survives pickling
        self.reason: Final = reason
        self.position: Final = position
        self.where: Final = where
        self.shortfall: Final = shortfall

    def __str__(self) -> str:
        """The sentence for a log line; it holds nothing that came from the bytes."""
        return f"{self.reason} at byte {self.position} of the {self.where}"

"""Kafka's Uuids: how they are written and ordered."""

from __future__ import annotations

import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode

import msgspec


class Uuid(msgspec.Struct, frozen=True, order=True):
    """128 bits as Java keeps them: two signed 64-bit numbers, by which it also sorts them."""

    most: int
    least: int

    def __str__(self) -> str:
        """Kafka's text form: base64 for URLs, without padding, 22 characters."""
        return urlsafe_b64encode(struct.pack(">qq", self.most, self.least)).decode().rstrip("=")


def parse_uuid(text: str) -> Uuid:
    """Read the text form.

    >>> parse_uuid("AAAAAAAAAAEAAAAAAAAAAg")
    Uuid(most=1, least=2)
    >>> str(Uuid(most=-1, least=0))
    '__________8AAAAAAAAAAA'

    Raises:
        ValueError: the text is not a Uuid.
    """
    try:
        data = urlsafe_b64decode(text + "==")
        most, least = struct.unpack(">qq", data)
    except (ValueError, struct.error):
        raise ValueError(f"not a Uuid: {text!r}") from None
    return Uuid(most, least)

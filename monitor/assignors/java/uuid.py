"""Kafka's Uuids: how they are written and ordered."""

from __future__ import annotations

import re
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

import msgspec

_TEXT: Final = re.compile(r"[A-Za-z0-9_-]{22}(==)?", re.ASCII)


class Uuid(msgspec.Struct, frozen=True, order=True):
    """128 bits as Java keeps them: two signed 64-bit numbers, by which it also sorts them.

    A Uuid whose text comes later may therefore be the lesser one.

    >>> parse_uuid("__________8AAAAAAAAAAA") < Uuid(most=0, least=0) < parse_uuid("f_________8AAAAAAAAAAA")
    True
    """

    most: int
    least: int

    def __str__(self) -> str:
        """Kafka's text form: base64 for URLs, without padding, 22 characters."""
        return urlsafe_b64encode(struct.pack(">qq", self.most, self.least)).decode().rstrip("=")


def parse_uuid(text: str) -> Uuid:
    """Read the text form. As in Kafka, padding is allowed, and four bits of the last character have no meaning.

    >>> parse_uuid("AAAAAAAAAAEAAAAAAAAAAg")
    Uuid(most=1, least=2)
    >>> str(Uuid(most=-1, least=0))
    '__________8AAAAAAAAAAA'

    Raises:
        ValueError: the text is not a Uuid.
    """
    if not _TEXT.fullmatch(text):
        raise ValueError(f"not a Uuid: {text[:100]!r}")
    most, least = struct.unpack(">qq", urlsafe_b64decode(text[:22] + "=="))
    return Uuid(most, least)

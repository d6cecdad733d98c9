"""What the sections of the settings are made of: their base, and the checks that several of them need."""

from __future__ import annotations

import re2
from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Base of the sections: immutable, and a key that it does not know is an error.

    The text under each field is its description in docs/configuration.md: what it does, its unit, and why its default
    is what it is.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        arbitrary_types_allowed=True,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
    )


def checked_addresses(given: str, separator: str) -> str:
    """Addresses with the spaces around them taken away.

    >>> checked_addresses("a:1; b:2", ";")
    'a:1;b:2'

    Raises:
        ValueError: one of them is not ``host:port``; the text says what it should be.
    """
    addresses = [address.strip() for address in given.split(separator)]
    if not all(_is_address(address) for address in addresses):
        sign = {",": "commas", ";": "semicolons"}[separator]
        raise ValueError(f"should be host:port, or several of them separated by {sign}")
    return separator.join(addresses)


def checked_expression(given: str) -> str:
    """The text, which is an expression of RE2.

    Raises:
        ValueError: it is none; the text says why.
    """
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(given.encode(), options)
    except re2.error as error:
        reason = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else error.args[0]
        raise ValueError(f"should be a regular expression as RE2 knows it ({reason})") from None
    return given


def _is_address(server: str) -> bool:
    host, _, port = server.rpartition(":")
    return bool(host) and not set(host) & set(",; \t@/") and port.isascii() and port.isdigit() and 0 < int(port) < 65536

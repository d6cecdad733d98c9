"""What the sections of the settings are made of: their base, and the checks that several of them need."""

from __future__ import annotations

from ipaddress import IPv6Address
from typing import Annotated, Final
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from monitor.config.client import is_secret
from monitor.model.escaping import escaped
from monitor.model.patterns import NamePattern, PatternError

LONGEST_FOLDER: Final = 200
"""A name becomes a folder of the checkpoint, percent-encoded. File systems take 255 bytes, and endings come to it."""


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

    @field_validator("*", mode="before")
    @classmethod
    def _can_be_seen(cls, given: object, field: ValidationInfo) -> object:
        """A line break or a control in a path, an address or a name is a slip; a secret may have any but NUL."""
        if isinstance(given, str) and field.field_name != "name":
            if "\0" in given:
                raise ValueError("should have no NUL character")
            if escaped(given) != given and not is_secret(field.field_name or ""):
                raise ValueError("should have no invisible character")
        return given


def _checked_name(given: str) -> str:
    """The name of a watched system: it is a label of metrics, a part of addresses, and a folder of the checkpoint."""
    wrong = _wrong_with_name(given)
    if wrong is not None:
        raise PydanticCustomError("name", "{wrong}", {"wrong": wrong})
    return given


LONGEST_S: Final = 365 * 86_400
"""A year: no group is judged by what was longer ago, and what is more is a slip of the finger."""

LARGEST_OFFSET: Final = 2**63 - 1

Interval = Annotated[float, Field(ge=0.1, le=86_400, allow_inf_nan=False)]
"""Seconds between the starts of two readings."""

Limit = Annotated[float, Field(ge=0.1, le=3_600, allow_inf_nan=False)]
"""Seconds that an answer is waited for."""

Name = Annotated[str, AfterValidator(_checked_name)]


def _as_list(given: object) -> object:
    """The environment gives a text; a pattern may hold a comma, so it is one."""
    return (given,) if isinstance(given, str) else given


def as_words(given: object) -> object:
    """The environment gives a text, with commas between the words."""
    return tuple(word.strip() for word in given.split(",") if word.strip()) if isinstance(given, str) else given


Patterns = Annotated[tuple[str, ...], BeforeValidator(_as_list)]
"""Expressions of RE2 for whole names."""


def _wrong_with_name(given: str) -> str | None:
    if given in ("", ".", ".."):
        return "it means another folder" if given else "it is empty"
    if set(given) & set("/\\"):
        return "it has a slash or a backslash"
    if escaped(given) != given:
        return "it has an invisible character"
    if given.strip() != given:
        return "it begins or ends with a space"
    if len(quote(given, safe="")) > LONGEST_FOLDER:
        return f"percent-encoded it has more than {LONGEST_FOLDER} characters"
    return None


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
    try:
        NamePattern(given)
    except PatternError as error:
        raise ValueError(f"should be an RE2 regular expression ({error})") from None
    return given


def _is_address(server: str) -> bool:
    host, _, port = server.rpartition(":")
    return _is_host(host) and port.isascii() and port.isdigit() and 0 < int(port) < 65536


def _is_host(host: str) -> bool:
    """Whether a name server could know it, or it is an address; one of IPv6 stands in brackets."""
    try:
        if host.startswith("[") and host.endswith("]"):
            return bool(IPv6Address(host[1:-1]))
        host.encode("idna")
    except ValueError:  # of which UnicodeError is one
        return False
    return bool(host) and not set(host) & set(",; \t@/[]")

"""What the settings of receivers have in common: the address, and headers that are secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator

from monitor.config.client import ClientProperties, as_client_properties
from monitor.config.errors import ConfigError

_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VISIBLE: Final = re.compile(r"[!-~]+")


def _with_header_names(given: ClientProperties) -> ClientProperties:
    if not all(map(_HEADER.fullmatch, given)):
        raise ValueError("should have names of HTTP headers")
    return given


Headers = Annotated[ClientProperties, BeforeValidator(as_client_properties), AfterValidator(_with_header_names)]
"""A table of headers, whose values may be references."""


def resolve_headers(headers: ClientProperties, place: str) -> Mapping[str, str]:
    """The headers with their references looked up now, with names in lower case, as gRPC wants them.

    Raises:
        ConfigError: a reference leads nowhere, or a value cannot be sent; without the value.
    """
    found = headers.resolve(place)
    if wrong := [name for name, value in found.items() if not (value.isascii() and value.isprintable())]:
        raise ConfigError(*(f"{place}.{name} should be printable ASCII." for name in wrong))
    return {name.lower(): value.strip() for name, value in found.items()}


def is_web_address(text: str) -> bool:
    """Whether it is an address of HTTP or HTTPS in visible ASCII, without a user, a query or a fragment.

    >>> is_web_address("https://receiver:8443/hook"), is_web_address("https://anna@receiver")
    (True, False)
    """
    if not _VISIBLE.fullmatch(text):
        return False
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    has_extras = bool(parts.query or parts.fragment or parts.username is not None or parts.password is not None)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0 and not has_extras


def address_without_path(address: str) -> str:
    """The scheme, host and port of an address, for the log: a path may be a secret.

    >>> address_without_path("https://receiver:8443/tiger")
    'https://receiver:8443'
    """
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"

"""Which of the available representations a client accepts, by its Accept and Accept-Encoding (RFC 9110, 12.5)."""

from __future__ import annotations

import re
from typing import Final

from monitor.model import Value

_WEIGHT: Final = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")
_TEXT_RANGES: Final = ("text/plain", "text/*", "*/*")
"""From the most specific: the first of them that a client names says what it thinks of plain text."""


class _Offer(Value):
    """An element of the header: in lower case, with its parameters. ``weight`` 0: the client does not want it."""

    name: str
    weight: float = 1.0
    version: str | None = None


def prefers_openmetrics(accept: str) -> bool:
    """Whether OpenMetrics 1.0.0 is to be sent. A client gets it only if it names it: "*/*" is not enough.

    >>> prefers_openmetrics("application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2")
    True
    >>> prefers_openmetrics("*/*"), prefers_openmetrics("application/openmetrics-text;q=0.1,text/plain")
    (False, False)
    """
    offers = _offers(accept)
    ours = [o.weight for o in offers if o.name == "application/openmetrics-text" and o.version in (None, "1.0.0")]
    text = [o for o in offers if o.version in (None, "0.0.4")]
    return bool(ours) and max(ours) > 0 and max(ours) >= _weight_of(text, _TEXT_RANGES)


def prefers_gzip(accept_encoding: str) -> bool:
    """Whether the client takes gzip, and not the text as it is rather than that.

    >>> prefers_gzip("gzip, deflate"), prefers_gzip("*, gzip;q=0"), prefers_gzip("identity, gzip;q=0.5")
    (True, False, False)
    """
    offers = _offers(accept_encoding)
    weight = _weight_of(offers, ("gzip", "x-gzip", "*"))
    return weight > 0 and weight >= _weight_of(offers, ("identity",))


def _weight_of(offers: list[_Offer], names: tuple[str, ...]) -> float:
    """The weight of the first of these names that was offered; offered twice, the higher. 0 if none was."""
    for name in names:
        weights = [offer.weight for offer in offers if offer.name == name]
        if weights:
            return max(weights)
    return 0.0


def _offers(header: str) -> list[_Offer]:
    return [_offer(element) for element in header.lower().split(",") if element.strip()]


def _offer(element: str) -> _Offer:
    """A weight that is none takes the offer back: the client's intention is not known."""
    name, *rest = (part.strip() for part in element.split(";"))
    parameters = {key.strip(): value.strip().strip('"') for key, _, value in (part.partition("=") for part in rest)}
    weight = parameters.get("q", "1")
    return _Offer(
        name=name,
        weight=float(weight) if _WEIGHT.fullmatch(weight) else 0.0,
        version=parameters.get("version"),
    )

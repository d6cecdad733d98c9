"""What the API answers when a request fails, as RFC 9457 has it."""

from __future__ import annotations

TITLES = {
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    405: "Method Not Allowed",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
"""By RFC 9110."""


def problem(status: int, sentence: str, **more: object) -> dict[str, object]:
    """The body. ``error`` is for clients of before."""
    return {"title": TITLES[status], "status": status, "detail": sentence, "error": sentence, **more}

"""The HTTP session of a push to a collector: a redirection is an error, and responses are read up to a limit."""

from __future__ import annotations

import io
from typing import Final

import requests
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase

MAX_RESPONSE: Final = 65_536
"""So many bytes of a response are read; a collector sends a few."""


class RedirectionError(requests.RequestException):
    """The collector redirected the push; the text is a clause with the status."""


class _Adapter(HTTPAdapter):
    def send(  # type: ignore[override] # the session passes these, and all by name
        self, request: requests.PreparedRequest, stream: bool = False, **options: object
    ) -> requests.Response:
        """The response, with the beginning of its body.

        OpenTelemetry's exporter takes a redirection as success, follows none, and reads each body to its end.

        Raises:
            RedirectionError: the status is 3xx.
        """
        response = super().send(request, stream=True, **options)  # type: ignore[arg-type] # those of the session
        if 300 <= response.status_code < 400:
            response.close()
            raise RedirectionError(
                f"it responded with status {response.status_code}, and redirections are not followed"
            )
        beginning = response.raw.read(MAX_RESPONSE, decode_content=False)
        if len(beginning) == MAX_RESPONSE:
            response.close()
        response.raw = io.BytesIO(beginning)
        return response


class _OwnHeaders(AuthBase):
    """Adds nothing to a request, so that the session does not look into ``~/.netrc``, which would win over a header."""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        return request


def collector_session() -> requests.Session:
    """A session for pushes. Of the environment it takes proxies and CA certificates, but no credentials."""
    session = requests.Session()
    session.auth = _OwnHeaders()
    for scheme in ("http://", "https://"):
        session.mount(scheme, _Adapter())
    return session

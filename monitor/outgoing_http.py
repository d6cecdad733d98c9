"""Requests that groupwatch sends by HTTP: which servers they trust, how long they take, and why one failed.

They follow no redirection: that would show credentials to another server.
"""

from __future__ import annotations

import ssl
from http.client import HTTPException
from pathlib import Path
from urllib.error import URLError
from urllib.request import HTTPRedirectHandler, HTTPSHandler, OpenerDirector, build_opener

from monitor.deadline import Deadline, DeadlineError, http_handlers
from monitor.messages.names import shown


class CaFileError(Exception):
    """A file of CA certificates cannot be used; the text is the reason, as a clause."""


def trusting(ca_file: Path | str | None) -> ssl.SSLContext:
    """TLS that trusts the CA certificates of a file in PEM; None: those that the machine trusts.

    Raises:
        CaFileError: the file cannot be read, or has no certificate.
    """
    try:
        return ssl.create_default_context(cafile=ca_file)
    except ssl.SSLError:
        raise CaFileError("it has no certificate in PEM") from None
    except OSError as error:
        raise CaFileError(error.strerror) from None


def http_opener(context: ssl.SSLContext, deadline: Deadline | None = None) -> OpenerDirector:
    """What sends requests. Its connections end at the deadline; None: only a silent server ends an exchange."""
    handlers = (HTTPSHandler(context=context),) if deadline is None else http_handlers(deadline, context)
    return build_opener(*handlers, _NoRedirection())


def failure(error: OSError | HTTPException) -> str:
    """Why a request has no complete response, as a clause about the server; it has no word of the server's own.

    >>> failure(URLError(ConnectionRefusedError(111, "Connection refused")))
    'cannot be reached (Connection refused)'
    >>> failure(HTTPException("what the server sent"))
    'sent no complete response (HTTPException)'
    """
    reason = error.reason if isinstance(error, URLError) else error
    match reason:
        case ssl.SSLCertVerificationError():
            return f"has a certificate that is not trusted ({reason.verify_message})"
        case DeadlineError():
            return f"is too slow: {reason}"
        case TimeoutError():
            kind = "timed out"
        case OSError(strerror=str(text)):
            kind = text
        case str():  # urllib's own word about the address
            kind = shown(reason)
        case _:
            kind = type(reason).__name__
    return f"cannot be reached ({kind})" if isinstance(error, URLError) else f"sent no complete response ({kind})"


class _NoRedirection(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Follow none."""

"""Requests to the HTTP API of a running job."""

from __future__ import annotations

import http.client
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Generic, NamedTuple, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit

import msgspec

from monitor.cli.errors import NotFoundError, SourceError
from monitor.cli.http_client import OPEN_WAY, WayIn, WayInError
from monitor.messages.formatting import visible
from monitor.messages.names import shown

Told = TypeVar("Told")
Row = TypeVar("Row", bound=msgspec.Struct)

CLUSTERS_API: Final = "/api/v1/clusters"
FINDINGS_API: Final = "/api/v1/findings"

TIMEOUT_S: Final = 60.0
"""So long the job may be silent: of a huge group, the first word may take seconds."""


_HOST_PORT: Final = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}(?:/.*)?")


class _Refusal(msgspec.Struct):
    error: str


class JobList(NamedTuple, Generic[Row]):
    """Rows of a list of the API, how many match in all, and the clusters that are left out or stale."""

    rows: tuple[Row, ...]
    matching: int
    not_ready: tuple[str, ...]
    stale: tuple[str, ...]


class JobApi(NamedTuple):
    """A job, and how to send requests to it. Each method raises SourceError: no job answers, or the answer is none.

    ``timeout_s`` is how long it may be silent.
    """

    url: str
    way_in: WayIn = OPEN_WAY
    timeout_s: float = TIMEOUT_S

    def check(self) -> None:
        """Check what the job would be requested with; nothing is sent."""
        _check_address(self.url)
        try:
            self.way_in.opener()
            self.way_in.request(self.url)
        except WayInError as error:
            raise SourceError(str(error)) from error

    def value(self, path: str, kind: type[Told]) -> Told:
        """What a job answers with, as a value of that type; NotFoundError: it knows no such cluster or group."""
        with self.response(path) as lines:
            body = b"".join(lines)
        return self._read(body, kind)

    def rows(self, path: str, kind: type[Row]) -> JobList[Row]:
        """A list of the API with what its headers add; NotFoundError: the job watches no such cluster."""
        with self.response(path) as response:
            body, headers = b"".join(response), response.headers
        rows = self._read(body, tuple[kind, ...])  # type: ignore[valid-type] # mypy takes no variable in a type
        total = headers.get("X-Total-Count", "")
        return JobList(
            rows=rows,
            matching=int(total) if total.isdecimal() else len(rows),
            not_ready=_names(headers.get("X-Not-Ready")),
            stale=_names(headers.get("X-Stale")),
        )

    @contextmanager
    def response(self, path: str) -> Iterator[http.client.HTTPResponse]:
        """The response to a request; also what breaks off while it is read is an error of the job."""
        _check_address(self.url)
        try:
            opener, request = self.way_in.opener(), self.way_in.request(self.url.rstrip("/") + path)
            with opener.open(request, timeout=self.timeout_s) as answer:
                yield answer
        except WayInError as error:
            raise SourceError(str(error)) from error
        except HTTPError as error:
            with error:
                kind = NotFoundError if error.code == 404 else SourceError
                raise kind(_refused(self.url, error)) from error
        except URLError as error:
            raise SourceError(_unreachable(self.url, error)) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise SourceError(
                f"The response of {shown(self.url)} is incomplete: {type(error).__name__}: {shown(str(error))}."
            ) from error

    def _read(self, body: bytes, kind: type[Told]) -> Told:
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.DecodeError as error:
            raise SourceError(f"{shown(self.url)} sent an unusable response: {shown(str(error))}.") from error


def base_address(typed: str) -> str:
    """The address of a job as a person types it: ``host:port`` is one by HTTP.

    >>> base_address("watch:9464"), base_address("[::1]:9464/"), base_address("https://watch")
    ('http://watch:9464', 'http://[::1]:9464/', 'https://watch')
    """
    return f"http://{typed}" if _HOST_PORT.fullmatch(typed) else typed


def _names(header: str | None) -> tuple[str, ...]:
    """The percent-encoded names in a header."""
    return tuple(unquote(name) for name in header.split(", ")) if header else ()


def _check_address(url: str) -> None:
    if "@" in url:  # urllib would take the password for a part of the port, and say so
        raise SourceError("The address of a job must not contain a user name or password.")
    if not _is_web_address(url):
        raise SourceError(
            f"{shown(url)} is not the address of a job: it must start with http:// or https://, or be HOST:PORT."
        )


def _is_web_address(url: str) -> bool:
    try:
        return urlsplit(url).scheme in ("http", "https")
    except ValueError:  # half an IPv6 address
        return False


def _unreachable(url: str, error: URLError) -> str:
    """Why there is no connection to a job, and what to do."""
    match error.reason:
        case ssl.SSLCertVerificationError() as reason:
            why = f"its certificate is not trusted ({shown(reason.verify_message)})"
            return f"Could not connect to {shown(url)}: {why}. Name its CA with --ca-file or GROUPWATCH_CA_FILE."
        case TimeoutError():
            why = "timed out"
        case OSError(strerror=str(text)):
            why = shown(f"{text[:1].lower()}{text[1:]}")
        case reason:
            why = shown(str(reason))
    return (
        f"Could not connect to {shown(url)}: {why}. Is groupwatch running there? "
        "Name another address with --url or GROUPWATCH_URL."
    )


def _refused(url: str, error: HTTPError) -> str:
    """The job's own sentence, or that this is no job."""
    if error.code == 401:
        return f"{shown(url)} rejected the credentials, or requires some: see --token-file and --user."
    try:
        return visible(msgspec.json.decode(error.read(65_536), type=_Refusal).error)
    except (msgspec.DecodeError, OSError, http.client.HTTPException):
        return f"{shown(url)} responded with status {error.code}: it is not groupwatch, or a different version."

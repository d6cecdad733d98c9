"""The HTTP session of a push to a collector: no redirections, and a limit of the bytes and the time of a response."""

from __future__ import annotations

import io
import socket
from typing import Any, Final

import requests
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, ProxyManager
from urllib3.connection import HTTPConnection, HTTPSConnection

from monitor.deadline import Deadline, DeadlineError, Watch

MAX_RESPONSE: Final = 65_536
"""So many bytes of a response are read; a collector sends a few."""


LIMIT_S: Final = 10.0
"""So long a request may take as a whole, unless it has a timeout of its own."""


class UnusableResponseError(requests.RequestException):
    """The response is no success; the text is a clause with the reason."""


class _Adapter(HTTPAdapter):
    def __init__(self) -> None:
        self._deadline: Deadline | None = None
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 -- those of requests
        super().init_poolmanager(*arguments, **options)
        self.poolmanager.pool_classes_by_scheme = _watched_pools(self._watch)

    def proxy_manager_for(self, proxy: str, **options: Any) -> ProxyManager:  # noqa: ANN401 -- those of requests
        manager: ProxyManager = super().proxy_manager_for(proxy, **options)
        manager.pool_classes_by_scheme = _watched_pools(self._watch)
        return manager

    def send(  # type: ignore[override] # the session passes these, and all by name
        self, request: requests.PreparedRequest, stream: bool = False, timeout: object = None, **options: object
    ) -> requests.Response:
        """The response, with the beginning of its body. ``timeout`` (s) is the limit of the whole exchange.

        OpenTelemetry's exporter takes a redirection as success, follows none, and reads each body to its end.

        Raises:
            UnusableResponseError: the status is 3xx, or the response was not complete in time.
        """
        limit_s = timeout if isinstance(timeout, int | float) else LIMIT_S
        try:
            with Deadline(limit_s) as self._deadline:
                return self._beginning(request, timeout=limit_s, **options)
        except DeadlineError as error:
            raise UnusableResponseError(str(error)) from None
        finally:
            self._deadline = None
            self.close()  # a connection that is kept would belong to no deadline

    def _watch(self, connection: socket.socket) -> None:
        if self._deadline is not None:
            self._deadline.watch(connection)

    def _beginning(self, request: requests.PreparedRequest, **options: object) -> requests.Response:
        response = super().send(request, stream=True, **options)  # type: ignore[arg-type] # those of the session
        if 300 <= response.status_code < 400:
            response.close()
            raise UnusableResponseError(
                f"it responded with status {response.status_code}, and redirections are not followed"
            )
        beginning = response.raw.read(MAX_RESPONSE, decode_content=False)
        if len(beginning) == MAX_RESPONSE:
            response.close()
        response.raw = io.BytesIO(beginning)
        return response


def _watched_pools(watch: Watch) -> dict[str, type[HTTPConnectionPool]]:
    """The pools of urllib3 by scheme, with connections that are shown to ``watch`` before TLS takes them over."""

    class Plain(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            connection = super()._new_conn()
            watch(connection)
            return connection

    class Encrypted(HTTPSConnection, Plain):
        """Connects by the next class in this order, and then agrees on TLS."""

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class EncryptedPool(HTTPSConnectionPool):
        ConnectionCls = Encrypted

    return {"http": PlainPool, "https": EncryptedPool}


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

"""JSON as it goes over the wire: compressed once, and not sent again to a client that has it. Nothing of it is kept."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Mapping
from functools import cached_property
from hashlib import blake2b
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from monitor.web.probes import accepts_gzip

_GZIP: Final = zlib.MAX_WBITS | 16
_LEVEL: Final = 1
"""Names and sentences repeat themselves so much that harder work gains little."""

WORTH_BYTES: Final = 1_000
"""What is smaller is one packet either way."""

JSON: Final = "application/json"


class JsonAnswer:
    """A body that can be sent to any number of clients."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self._lock = threading.Lock()
        self._packed: bytes | None = None

    @cached_property
    def etag(self) -> str:
        """The same for the same body; weak, as it is that of the compressed one as well (RFC 9110, 8.8.3)."""
        return f'W/"{blake2b(self.body, digest_size=12).hexdigest()}"'

    @property
    def packed(self) -> bytes:
        """The body in gzip. It is compressed once for all requests."""
        with self._lock:
            if self._packed is None:
                squeeze = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
                self._packed = squeeze.compress(self.body) + squeeze.flush()
            return self._packed

    def to(self, request: Request, extra: Mapping[str, str] | None = None) -> Response:
        """What this client is sent: the body, compressed if it takes that, or that it has it already (304)."""
        headers = {
            **(extra or {}),
            "ETag": self.etag,
            "Vary": "Accept-Encoding",
            "Cache-Control": "private, no-cache",  # it may be kept, but has to be requested again
        }
        if _has_it(request, self.etag):
            return Response(status_code=304, headers=headers)
        if len(self.body) >= WORTH_BYTES and accepts_gzip(request):
            return Response(self.packed, headers=headers | {"Content-Encoding": "gzip"}, media_type=JSON)
        return Response(self.body, headers=headers, media_type=JSON)


def _has_it(request: Request, etag: str) -> bool:
    """Whether one of the tags in If-None-Match is this one, weak or not."""
    tags = [tag.strip() for line in request.headers.getlist("if-none-match") for tag in line.split(",")]
    return "*" in tags or etag.removeprefix("W/") in [tag.removeprefix("W/") for tag in tags]

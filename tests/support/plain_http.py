"""httpx for addresses without TLS, as most servers of tests have them.

By itself, each client of httpx reads the certificates of all authorities: 57 ms of CPU, and ``httpx.get`` makes a
client for each request. These share a context that trusts nobody: over TLS they refuse every server.
"""

from __future__ import annotations

import ssl
from functools import partial
from typing import Final

import httpx

TRUSTS_NOBODY: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

get: Final = partial(httpx.get, verify=TRUSTS_NOBODY)
head: Final = partial(httpx.head, verify=TRUSTS_NOBODY)
stream: Final = partial(httpx.stream, verify=TRUSTS_NOBODY)
client: Final = partial(httpx.Client, verify=TRUSTS_NOBODY)

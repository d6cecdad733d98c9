"""Signed requests for RocketMQ clusters with access control lists.

The signature is HMAC-SHA1, in base64, over the values of the request's fields in the order of the fields' names, with
the access key among them. A body would follow, and no request here has one. Source: AclClientRPCHook, AclUtils and
AclSigner of ``org.apache.rocketmq.acl.common``; 5.x verifies the same.
"""

from __future__ import annotations

import hmac
from base64 import b64encode
from typing import Final

ACCESS_KEY: Final = "AccessKey"
SIGNATURE: Final = "Signature"


class Signer:
    """Signs requests with a user's keys, which it never shows."""

    __slots__ = ("_access_key", "_secret_key")

    def __init__(self, access_key: str, secret_key: str) -> None:
        self._access_key: Final = access_key
        self._secret_key: Final = secret_key

    def sign(self, fields: dict[str, str]) -> dict[str, str]:
        """The fields of a request with the access key and the signature."""
        named = {name: value for name, value in fields.items() if name != SIGNATURE} | {ACCESS_KEY: self._access_key}
        text = "".join(named[name] for name in sorted(named))
        return named | {SIGNATURE: signature(text.encode(), self._secret_key)}

    def __repr__(self) -> str:
        return "Signer([hidden])"


def signature(data: bytes, secret_key: str) -> str:
    """What proves that whoever sends the data has the key.

    >>> signature(b"RocketMQ", "12345678")  # from AclSignerTest
    'IUc8rrO/0gDch8CjObLQsW2rsiA='
    """
    return b64encode(hmac.digest(secret_key.encode(), data, "sha1")).decode()

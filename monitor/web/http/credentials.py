"""Who may read: users with bcrypt hashes, and bearer tokens. Checks take the same time whatever is wrong.

A bcrypt check takes some 70 ms on purpose. So what has been found, right or wrong, is remembered under a keyed hash
of what was shown; checks run one at a time in a thread of their own, few wait for it, and who has been wrong too often
waits longer. Whoever has been found right before passes meanwhile. (The original remembers results too:
prometheus/exporter-toolkit, web/cache.go and handler.go.)
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from typing import Final

import bcrypt

_REMEMBERED: Final = 1024
"""How many results of checks are remembered, and the failures of how many clients."""

_PENDING: Final = 16
"""How many checks may wait for the thread: about a second."""

FAILURES: Final = 10
"""How often a client may be wrong at once."""

FORGIVEN_S: Final = 6.0
"""After so long, a client may be wrong once more."""

_BCRYPT_BYTES: Final = 72
"""bcrypt looks at no more of a password; tools that write hashes cut it there."""


class Verdict(Enum):
    """What came of a check: it passes, it does not, or it was not looked at yet."""

    PASSES = "passes"
    FAILS = "fails"
    LATER = "later"


class Credentials:
    """The users and tokens of one reading of the files. Shows none of them when printed."""

    __slots__ = ("_decoy", "_tokens", "users")

    def __init__(self, users: Mapping[str, str] | None = None, tokens: Iterable[str] = ()) -> None:
        """Take users with their bcrypt hashes, and tokens as they are sent."""
        self.users: Final = {name: hashed.encode() for name, hashed in (users or {}).items()}
        self._tokens: Final = tuple(map(_digest, tokens))
        cost = max((int(hashed[4:6]) for hashed in self.users.values()), default=10)
        self._decoy: Final = b"$2b$%02d$" % cost + b"." * 53

    @property
    def required(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.users or self._tokens)

    @property
    def schemes(self) -> tuple[str, ...]:
        """The challenges of an answer 401, one for each way that is open (RFC 7617, RFC 6750)."""
        basic = ('Basic realm="groupwatch", charset="UTF-8"',) if self.users else ()
        return basic + (('Bearer realm="groupwatch"',) if self._tokens else ())

    def has_token(self, shown: str) -> bool:
        """Whether it is one of the tokens; all of them are compared, each in constant time."""
        digest = _digest(shown)
        return sum(hmac.compare_digest(digest, token) for token in self._tokens) > 0

    def hash_of(self, user: str) -> bytes:
        """The user's hash; of an unknown user, one that nothing fits and that takes as long to check."""
        return self.users.get(user, self._decoy)

    def __repr__(self) -> str:
        return f"Credentials(users: {len(self.users)}, tokens: {len(self._tokens)})"


class Checker:
    """Checks the header ``Authorization`` against credentials, which may be other ones at each call."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock`` gives seconds; failures are forgiven by it."""
        self._key = secrets.token_bytes(32)
        self._known: OrderedDict[bytes, bool] = OrderedDict()
        self._patience = Patience(clock)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="groupwatch-bcrypt")
        self._pending = 0

    async def check(self, header: str | None, credentials: Credentials, client: str) -> Verdict:
        """Whether what the client shows is one of the credentials."""
        if header is None:
            return Verdict.FAILS
        scheme, _, shown = header.partition(" ")
        match scheme.lower():
            case "bearer":
                return Verdict.PASSES if credentials.has_token(shown.strip()) else Verdict.FAILS
            case "basic":
                named = _user_and_password(shown.strip())
                if named is not None and credentials.users:
                    return await self._check_password(*named, credentials, client)
        return Verdict.FAILS

    def close(self) -> None:
        """Check no more; what waits is dropped."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _check_password(self, user: str, password: bytes, credentials: Credentials, client: str) -> Verdict:
        hashed = credentials.hash_of(user)
        key = hmac.digest(self._key, b"\0".join((user.encode(), hashed, password)), "sha256")
        known = self._known.get(key)
        if known is None:
            if self._pending >= _PENDING or not self._patience.take(client):
                return Verdict.LATER
            known = await self._fits(password, hashed) and user in credentials.users
            self._remember(key, known=known)
            if known:
                self._patience.give_back(client)
        return Verdict.PASSES if known else Verdict.FAILS

    async def _fits(self, password: bytes, hashed: bytes) -> bool:
        self._pending += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._thread, _fits, password, hashed)
        finally:
            self._pending -= 1

    def _remember(self, key: bytes, *, known: bool) -> None:
        self._known[key] = known
        if len(self._known) > _REMEMBERED:
            # Guesses push out guesses: a flood of them must not make those who pass be checked again.
            self._known.pop(next((old for old, passes in self._known.items() if not passes), key))


class Patience:
    """How often each client may still be wrong: FAILURES at once, and one more each FORGIVEN_S seconds.

    >>> seconds = iter((0.0,) * 11 + (6.0, 6.0))
    >>> patience = Patience(lambda: next(seconds))
    >>> [patience.take("a") for _ in range(13)].count(True)
    11
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._spent_at: OrderedDict[str, float] = OrderedDict()
        """When all that each client has spent will be forgiven, in seconds of the clock."""

    def take(self, client: str) -> bool:
        """Whether there is one left, which is then gone."""
        now = self._clock()
        spent_at = max(now, self._spent_at.pop(client, now)) + FORGIVEN_S
        patient = spent_at - now <= FAILURES * FORGIVEN_S
        self._spent_at[client] = spent_at if patient else spent_at - FORGIVEN_S
        while len(self._spent_at) > _REMEMBERED:
            self._spent_at.popitem(last=False)
        return patient

    def give_back(self, client: str) -> None:
        """The client was right."""
        if client in self._spent_at:
            self._spent_at[client] -= FORGIVEN_S


def _fits(password: bytes, hashed: bytes) -> bool:
    if b"\0" in password:  # bcrypt ends there, or does not, depending on who wrote it
        return False
    try:
        return bcrypt.checkpw(password[:_BCRYPT_BYTES], hashed)
    except ValueError:
        return False


def _user_and_password(shown: str) -> tuple[str, bytes] | None:
    """What basic authentication shows (RFC 7617); None: it is none."""
    try:
        user, colon, password = base64.b64decode(shown, validate=True).partition(b":")
        return (user.decode(), password) if colon else None
    except (binascii.Error, ValueError):
        return None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()

"""The files that guard the HTTP server: read at the start, and again when they change.

What was read last counts until something new can be read as a whole. What is guarded stays so until a restart: a file
that is just being written, or was emptied, opens nothing.
"""

from __future__ import annotations

import ipaddress
import logging
import re
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from monitor.model import Value
from monitor.web.http.access_errors import AccessError
from monitor.web.http.credentials import Credentials
from monitor.web.http.tls import server_context
from monitor.web.http.web_config import TlsFiles, WebConfig, read_web_config

log = logging.getLogger(__name__)

SHORTEST_TOKEN: Final = 16
"""Characters of the shortest token that is taken: shorter ones can be guessed, and mostly are a mistake."""

_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")
_FOR_OTHERS: Final = 0o007


class AccessFiles(Value):
    """Where it is written who may read. ``token_file`` has one bearer token a line."""

    web_config_file: Path | None = None
    token_file: Path | None = None


class Access:
    """The content of the files when they were read. Immutable; shows no secret when printed."""

    __slots__ = ("credentials", "hsts", "open_secrets", "tls")

    def __init__(
        self,
        tls: ssl.SSLContext | None = None,
        credentials: Credentials | None = None,
        hsts: str | None = None,
        open_secrets: tuple[Path, ...] = (),
    ) -> None:
        """``open_secrets`` are files of secrets that every user of the machine may open."""
        self.tls: Final = tls
        self.credentials: Final = credentials or Credentials()
        self.hsts: Final = hsts if tls is not None else None
        self.open_secrets: Final = open_secrets

    def of_files(self) -> Iterator[str]:
        """Warnings of what every user of this machine may open, a sentence each."""
        for path in self.open_secrets:
            yield f"Every user of this machine may open {path}, which has secrets; run chmod o= on it."

    def of_strangers(self, host: str) -> Iterator[str]:
        """Warnings of who else may read what is served on this address, a sentence each.

        TLS alone keeps no client out: credentials do, and certificates that clients have to show.
        """
        if _is_loopback(host):
            return
        shows_certificate = self.tls is not None and self.tls.verify_mode is ssl.CERT_REQUIRED
        if not self.credentials.required and not shows_certificate:
            yield f"Any client that can reach {host} has access without a password; see docs/access.md to restrict it."
        elif self.tls is None:
            yield f"Credentials cross the network to {host} as plain text; http.web_config_file can turn on TLS."


class WatchedAccess:
    """The newest access. ``refresh`` looks whether a file has changed; it reads files, so it is no call for a loop."""

    def __init__(self, files: AccessFiles) -> None:
        """Read the files.

        Raises:
            AccessError: one of them cannot be used.
        """
        self._files = files
        self._paths: tuple[Path, ...] = ()
        self._seen: tuple[object, ...] = ()
        self.current = self._read()

    def refresh(self) -> None:
        """Read again what has changed; an error is logged once, and the older access stays in effect."""
        if self._signatures() == self._seen:
            return
        try:
            newer = self._read()
            _require_as_guarded(self.current, newer)
        except AccessError as error:
            log.error("%s The previous version stays in effect.", error)  # noqa: TRY400 -- the sentence is the whole story
            return
        self.current = newer
        log.info("The access files of the HTTP server were read again.")

    def _read(self) -> Access:
        config_file, token_file = self._files.web_config_file, self._files.token_file
        self._paths = tuple(path for path in (config_file, token_file) if path is not None)
        self._seen = self._signatures()  # before reading: what changes meanwhile is then seen as a change
        config = _web_config(self._files)
        named = tuple(_files_of(config.tls))
        self._paths, self._seen = self._paths + named, self._seen + tuple(map(_signature, named))
        access = _access(self._files, config)
        for warning in access.of_files():
            log.warning(warning)
        return access

    def _signatures(self) -> tuple[object, ...]:
        return tuple(map(_signature, self._paths))


def read_access(files: AccessFiles) -> Access:
    """Read the files once, as a start does.

    Raises:
        AccessError: one of them cannot be used.
    """
    return _access(files, _web_config(files))


def _web_config(files: AccessFiles) -> WebConfig:
    return WebConfig() if files.web_config_file is None else read_web_config(files.web_config_file)


def _access(files: AccessFiles, config: WebConfig) -> Access:
    tokens = () if files.token_file is None else _read_tokens(files.token_file)
    return Access(
        tls=None if config.tls is None else server_context(config.tls),
        credentials=Credentials(config.users, tokens),
        hsts=config.hsts,
        open_secrets=tuple(_open_secrets(files, config)),
    )


def _open_secrets(files: AccessFiles, config: WebConfig) -> Iterator[Path]:
    secret = [files.token_file, files.web_config_file if config.users else None]
    secret += [config.tls.key_file] if config.tls is not None else []
    yield from (path for path in secret if path is not None and _mode(path) & _FOR_OTHERS)


def _require_as_guarded(older: Access, newer: Access) -> None:
    if (older.tls is None) != (newer.tls is None):
        raise AccessError("TLS can only be turned on or off by a restart.")
    if older.credentials.required and not newer.credentials.required:
        raise AccessError("The files have no more users and tokens; only a restart removes the access control.")


def _files_of(tls: TlsFiles | None) -> Iterator[Path]:
    if tls is not None:
        yield from (tls.cert_file, tls.key_file)
        if tls.client_ca_file is not None:
            yield tls.client_ca_file


def _signature(path: Path) -> object:
    """What changes when the file does, also when it is a link to another one now, as in a volume of Kubernetes."""
    try:
        found = path.stat()
    except OSError as error:
        return error.errno
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError:  # gone since it was read
        return 0


def _read_tokens(path: Path) -> list[str]:
    """The tokens of a file, one a line; empty lines and lines that begin with # are none.

    Raises:
        AccessError: it cannot be read, has no token, or has one that could not be sent or could be guessed.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise AccessError(f"{path} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise AccessError(f"{path} is not text.") from None
    numbered = [(number, line.strip()) for number, line in enumerate(lines, start=1)]
    tokens = [(number, token) for number, token in numbered if token and not token.startswith("#")]
    for number, token in tokens:
        if not _TOKEN.fullmatch(token):
            raise AccessError(f"{path}, line {number}: a token has letters, digits and . _ ~ + / - only (RFC 6750).")
        if len(token) < SHORTEST_TOKEN:
            raise AccessError(f"{path}, line {number}: a token has at least {SHORTEST_TOKEN} characters.")
    if not tokens:
        raise AccessError(f"{path} has no token.")
    return [token for _, token in tokens]


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

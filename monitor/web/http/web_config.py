"""The web configuration file of Prometheus and its exporters: TLS and the users of basic authentication.

The format is that of prometheus/exporter-toolkit (docs/web-configuration.md, web/tls_config.go). What it has and we do
not serve is refused, not passed over: who writes ``client_allowed_sans`` relies on it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
import yaml
from msgspec import Meta

from monitor.model import Value
from monitor.web.http.access_errors import AccessError

HARDEST_COST: Final = 16
"""The highest cost of a bcrypt hash that is taken: a check takes some five seconds, and each more doubles it."""

_HASH: Final = re.compile(r"\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}")
_WITHOUT_SUPPORT: Final = {
    "tls_server_config": {
        "cert": "use cert_file",
        "key": "use key_file",
        "client_ca": "use client_ca_file",
        "client_allowed_sans": "a proxy can check it",
        "cipher_suites": "OpenSSL's choice is served",
        "prefer_server_cipher_suites": "the server's order counts",
        "curve_preferences": "OpenSSL's choice is served",
    },
    "rate_limit": "groupwatch has limits of its own",
}
_INSECURE: Final = ("RequestClientCert", "RequireAnyClientCert", "RequireClientCert")

ClientAuth = Literal["NoClientCert", "VerifyClientCertIfGiven", "RequireAndVerifyClientCert"]
TlsVersion = Literal["TLS12", "TLS13"]


class TlsFiles(Value):
    """What a TLS server is made of. The files are PEM; ``client_auth`` is Go's name of what clients have to show."""

    cert_file: Path
    key_file: Path
    client_ca_file: Path | None = None
    client_auth: ClientAuth = "NoClientCert"
    min_version: TlsVersion = "TLS12"
    max_version: TlsVersion = "TLS13"


class WebConfig(Value):
    """What a web configuration file says. ``users`` has the bcrypt hash of each; it is never shown.

    ``hsts`` is the header Strict-Transport-Security, which is sent only where the file has it: browsers apply it to
    every port of the host, also to those that serve no TLS.
    """

    tls: TlsFiles | None = None
    users: Mapping[str, str] = {}
    hsts: str | None = None

    def __repr__(self) -> str:
        return f"WebConfig(tls={self.tls!r}, users: {len(self.users)})"


class _Tls(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    cert_file: Annotated[str, Meta(min_length=1)]
    key_file: Annotated[str, Meta(min_length=1)]
    client_ca_file: str = ""
    client_auth_type: str = "NoClientCert"
    min_version: str = "TLS12"
    max_version: str = "TLS13"


class _Headers(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    hsts: Annotated[str, Meta(pattern=r"^[\x20-\x7e]*$")] = msgspec.field(name="Strict-Transport-Security", default="")


class _Http(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    http2: bool = False
    headers: _Headers = _Headers()


class _File(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    tls_server_config: _Tls | None = None
    http_server_config: _Http = _Http()
    basic_auth_users: dict[str, str] | None = None


def read_web_config(path: Path) -> WebConfig:
    """Read the file; paths in it are relative to its folder.

    Raises:
        AccessError: it cannot be read, or says something that is not served.
    """
    try:
        given = yaml.safe_load(path.read_bytes())
    except OSError as error:
        raise AccessError(f"{path} cannot be read ({error.strerror}).") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)  # the error's own text shows the line, which may be a secret
        raise AccessError(f"{path} is not YAML{'' if mark is None else f' (line {mark.line + 1})'}.") from None
    try:
        return _checked({} if given is None else given, path)
    except _RefusedError as refused:
        raise AccessError(f"{path}: {refused}.") from None


class _RefusedError(Exception):
    """What is wrong, without the name of the file and without a value that could be a secret."""


def _checked(given: object, path: Path) -> WebConfig:
    _refuse_without_support(given)
    try:
        file = msgspec.convert(given, _File)
    except msgspec.ValidationError as error:
        raise _RefusedError(str(error).replace(" - at `$.", " - at `").replace("Object ", "it ")) from None
    if file.http_server_config.http2:
        raise _RefusedError("http_server_config.http2 is not served; leave it out or write false")
    users = file.basic_auth_users or {}
    for user, hashed in users.items():
        _require_hash(user, hashed)
    tls = None if file.tls_server_config is None else _tls(file.tls_server_config, path.parent)
    return WebConfig(tls=tls, users=users, hsts=file.http_server_config.headers.hsts or None)


def _refuse_without_support(given: object) -> None:
    if not isinstance(given, Mapping):
        raise _RefusedError("it should be a mapping")
    for section, reasons in _WITHOUT_SUPPORT.items():
        if section in given and isinstance(reasons, str):
            raise _RefusedError(f"{section} is not supported: {reasons}")
        table = given.get(section)
        if isinstance(reasons, Mapping) and isinstance(table, Mapping):
            for key in reasons.keys() & table.keys():
                raise _RefusedError(f"{section}.{key} is not supported: {reasons[key]}")


def _require_hash(user: str, hashed: str) -> None:
    found = _HASH.fullmatch(hashed)
    if not user or ":" in user:
        raise _RefusedError("basic_auth_users has a name that is empty or has a colon")  # RFC 7617, 2
    if found is None:
        raise _RefusedError(f"basic_auth_users.{user} should be a bcrypt hash ($2y$10$...), not the password")
    if not 4 <= int(found[1]) <= HARDEST_COST:
        raise _RefusedError(f"basic_auth_users.{user} has the cost {found[1]}; 4 to {HARDEST_COST} are supported")


def _tls(given: _Tls, folder: Path) -> TlsFiles:
    client_ca = folder / given.client_ca_file if given.client_ca_file else None
    client_auth = _client_auth(given.client_auth_type, has_ca=client_ca is not None)
    return TlsFiles(
        cert_file=folder / given.cert_file,
        key_file=folder / given.key_file,
        client_ca_file=client_ca,
        client_auth=client_auth,
        min_version=_version("min_version", given.min_version),
        max_version=_version("max_version", given.max_version),
    )


def _client_auth(name: str, *, has_ca: bool) -> ClientAuth:
    if name in _INSECURE:
        raise _RefusedError(f"tls_server_config.client_auth_type {name} checks nothing; use RequireAndVerifyClientCert")
    try:
        found: ClientAuth = msgspec.convert(name or "NoClientCert", ClientAuth)
    except msgspec.ValidationError:
        raise _RefusedError("tls_server_config.client_auth_type is not known; use RequireAndVerifyClientCert") from None
    if has_ca != (found != "NoClientCert"):
        raise _RefusedError("tls_server_config.client_ca_file and client_auth_type are required together")
    return found


def _version(key: str, name: str) -> TlsVersion:
    try:
        found: TlsVersion = msgspec.convert(name, TlsVersion)
    except msgspec.ValidationError:
        raise _RefusedError(f"tls_server_config.{key} should be TLS12 or TLS13") from None
    return found

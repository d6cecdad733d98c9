"""Key and certificates of a store, as PEM: PKCS12 by ``cryptography``, JKS by Java's ``keytool``.

The content of a file decides what it is, as in Java: its reader of JKS takes PKCS12 as well, and the other way round.
"""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from monitor.java_runtime.errors import JavaNotFound
from monitor.java_runtime.find_java import find_java
from monitor.model import Value
from monitor.model.installing import how_to_install

KINDS: Final = ("JKS", "PKCS12", "PEM")
"""The types of stores that both clients can read."""

CERTIFICATE: Final = re.compile(r"-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----")
"""A certificate within a text in PEM."""

_JAVAS_FORMATS: Final = {b"\xfe\xed\xfe\xed": "JKS", b"\xce\xce\xce\xce": "JCEKS"}
"""The first bytes of the formats that only Java reads."""

_NEEDED: Final = f"needs the package cryptography: {how_to_install('stores')}"
_KEYTOOL_LIMIT_S: Final = 60
_OF_STORE: Final = "GROUPWATCH_OF_STORE"
_OF_COPY: Final = "GROUPWATCH_OF_COPY"
_WRONG_PASSWORD: Final = ("password was incorrect", "UnrecoverableKey", "Cannot recover key")


class StoreError(Exception):
    """A store that cannot be read; the text continues the name of a property and has no secret."""


class Store(Value, frozen=True):
    """What a store holds, in PEM. Its text shows nothing of it."""

    key: str
    """The private key, encrypted with ``key_password``; empty: there is none."""

    key_password: str
    certificate: str
    """The certificate of the key; empty: there is none."""

    others: tuple[str, ...]
    """Further certificates: the chain of the key, or those that are trusted."""

    def __repr__(self) -> str:
        """How much there is."""
        return f"Store(key={'yes' if self.key else 'no'}, others={len(self.others)})"


class _Source(Value, frozen=True):
    """A file that only Java reads."""

    path: str
    kind: str
    password: str
    key_password: str = ""

    def __repr__(self) -> str:
        """The file only."""
        return f"_Source(path={self.path!r})"


def read_store(path: str, password: str | None, key_password: str | None = None) -> Store:
    """The content of a PKCS12 or JKS file; read again only after it has changed.

    Args:
        path: the file.
        password: of the store; None: none is checked.
        key_password: of the key, if it is another one.

    Raises:
        StoreError: it cannot be read, with what to do.
    """
    try:
        state = Path(path).stat()
    except OSError as error:
        raise StoreError(f"cannot be read ({error.strerror})") from None
    return _read(path, (state.st_mtime_ns, state.st_size, state.st_ino), password, key_password)


@lru_cache(maxsize=32)
def _read(path: str, _state: tuple[int, ...], password: str | None, key_password: str | None) -> Store:
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise StoreError(f"cannot be read ({error.strerror})") from None
    if content.lstrip().startswith(b"-----BEGIN "):
        raise StoreError("is a PEM file; set the type of the store to PEM")
    javas = _JAVAS_FORMATS.get(content[:4])
    if javas is None:
        return _from_pkcs12(content, password, key_password)
    if password is None:
        return _list_certificates(_Source(path=path, kind=javas, password=""))
    with tempfile.TemporaryDirectory(prefix="groupwatch-store-") as folder:
        converted = Path(folder) / "store.p12"
        own_password = secrets.token_hex(16)
        _convert(
            _Source(path=path, kind=javas, password=password, key_password=key_password or ""), converted, own_password
        )
        return _from_pkcs12(converted.read_bytes(), own_password)


def key_in_pkcs8(pem: str, password: str | None) -> str:
    """The private key of a PEM text in PKCS #8, without a password.

    Raises:
        StoreError: it is none, or the password does not decrypt it.
    """
    try:
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 -- of an extra
    except ImportError:
        raise StoreError(_NEEDED) from None
    try:
        key = serialization.load_pem_private_key(pem.encode(), password.encode() if password else None)
    except (ValueError, TypeError):
        raise StoreError("is not usable PEM, or ssl.key.password does not decrypt it") from None
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, plain).decode()


def _from_pkcs12(content: bytes, password: str | None, key_password: str | None = None) -> Store:
    try:
        from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 -- of an extra
            BestAvailableEncryption,
            Encoding,
            PrivateFormat,
            pkcs12,
        )
    except ImportError:
        raise StoreError(_NEEDED) from None
    try:
        loaded = pkcs12.load_pkcs12(content, None if password is None else password.encode())
    except ValueError:
        raise StoreError("is not a usable PKCS12 or JKS file, or its password is wrong") from None
    key, own_password = "", secrets.token_hex(16)
    if loaded.key is not None:
        if key_password not in (None, password):  # Java would try it for the key, and fail
            raise StoreError("is a PKCS12 file, whose key has the password of the store; remove ssl.key.password")
        encryption = BestAvailableEncryption(own_password.encode())
        key = loaded.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption).decode()
    own = "" if loaded.cert is None else loaded.cert.certificate.public_bytes(Encoding.PEM).decode()
    others = (each.certificate.public_bytes(Encoding.PEM).decode() for each in loaded.additional_certs)
    return Store(key=key, key_password=own_password, certificate=own, others=tuple(others))


def _list_certificates(source: _Source) -> Store:
    """The certificates of a store without its password, as Java reads trusted ones."""
    listed = _run_keytool(source, ["-list", "-rfc", "-keystore", source.path, "-storetype", source.kind], {}, "\n")
    return Store(
        key="", key_password="", certificate="", others=tuple(f"{each}\n" for each in CERTIFICATE.findall(listed))
    )


def _convert(source: _Source, into: Path, new_password: str) -> None:
    """Have Java write the store as PKCS12. Passwords reach it by its environment and its standard input."""
    names = ["-srckeystore", source.path, "-srcstoretype", source.kind, "-srcstorepass:env", _OF_STORE]
    target = ["-destkeystore", str(into), "-deststoretype", "PKCS12", "-deststorepass:env", _OF_COPY]
    passwords = {_OF_STORE: source.password, _OF_COPY: new_password}
    # keytool wants it where the key has another password than the store.
    _run_keytool(source, ["-importkeystore", "-noprompt", *names, *target], passwords, f"{source.key_password}\n")
    if not into.exists():
        raise StoreError(_unusable(source, "keytool cannot read it"))


def _run_keytool(source: _Source, words: list[str], passwords: Mapping[str, str], answer: str) -> str:
    """What keytool writes.

    Raises:
        StoreError: it cannot be run, or cannot read the store.
    """
    # Java's own options from outside would make it write to its output.
    clean = {name: value for name, value in os.environ.items() if not name.endswith("JAVA_OPTIONS")}
    try:
        done = subprocess.run(
            [str(_keytool(source.kind)), "-J-Duser.language=en", *words],
            env={**clean, **passwords},
            input=answer,
            capture_output=True,
            text=True,
            timeout=_KEYTOOL_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StoreError(f"is a {source.kind} file, and Java's keytool failed ({type(error).__name__})") from None
    output = done.stdout + done.stderr
    if done.returncode == 0:
        return output
    if any(each in output for each in _WRONG_PASSWORD):
        raise StoreError(_unusable(source, "a password is wrong"))
    has_key_password = source.key_password or not source.password
    hint = "" if has_key_password else "; set ssl.key.password if the key has one of its own"
    raise StoreError(_unusable(source, f"keytool cannot read it{hint}"))


def _unusable(source: _Source, reason: str) -> str:
    return f"is a {source.kind} file that cannot be used ({reason})"


def _keytool(kind: str) -> Path:
    try:
        return find_java().home / "bin" / "keytool"
    except JavaNotFound:
        raise StoreError(f"is a {kind} file, which needs Java: install it, or convert the file to PKCS12") from None

"""TLS of kafka-python by the Java client's properties: stores in PEM, PKCS12 or JKS, or PEM in the properties."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from monitor.collectors.kafka_client.stores import CERTIFICATE, KINDS, StoreError, read_store
from monitor.config import ConfigError
from monitor.config.client_words import IDENTIFICATION

TRUST: Final = "ssl.truststore"
KEY: Final = "ssl.keystore"


def tls_context(place: str, properties: Mapping[str, str]) -> ssl.SSLContext:
    """The TLS settings of a client with these properties.

    Args:
        place: where the properties stand in the configuration; errors name ``place.key``.
        properties: by their Java names, references resolved.

    Raises:
        ConfigError: a store that cannot be used, one sentence each.
    """
    if problems := [f"{place}.{told}" for told in _wrong_together(properties)]:
        raise ConfigError(*problems)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = properties.get(IDENTIFICATION, "https") != ""  # whatever else it is, it checks
    _load_truststore(context, place, properties)
    _load_keystore(context, place, properties)
    return context


def store_type(properties: Mapping[str, str], store: str) -> str:
    """The type of a store as Java takes it: any case of JKS, its default, and of PKCS12, but no other than ``PEM``."""
    given = properties.get(f"{store}.type", "JKS")
    return given if given.upper() == "PEM" else given.upper()


def _wrong_together(properties: Mapping[str, str]) -> Iterator[str]:
    """What Java's DefaultSslEngineFactory refuses, so that a job is not refused later than a command."""
    inlines = {TRUST: ("ssl.truststore.certificates",), KEY: ("ssl.keystore.key", "ssl.keystore.certificate.chain")}
    for store, inline in inlines.items():
        location, given = f"{store}.location", [key for key in inline if key in properties]
        if location not in properties and not given:
            continue
        kind = store_type(properties, store)
        if kind not in KINDS:
            yield f"{store}.type should be {' or '.join(KINDS)}."
        elif given:
            yield from _wrong_inline(properties, store, inline, given)
        elif kind == "PEM" and f"{store}.password" in properties:
            yield f"{store}.password has no meaning with PEM; remove it (ssl.key.password decrypts a key)."
        elif kind != "PEM" and store == KEY and f"{store}.password" not in properties:
            yield f"{store}.password is required for a {kind} file."


def _wrong_inline(
    properties: Mapping[str, str], store: str, inline: tuple[str, ...], given: list[str]
) -> Iterator[str]:
    if store_type(properties, store) != "PEM":
        yield f'{given[0]} needs {store}.type = "PEM".'
    if f"{store}.location" in properties:
        yield f"{given[0]} and {store}.location are duplicates; remove one of them."
    if f"{store}.password" in properties:
        yield f"{store}.password has no meaning with PEM; remove it (ssl.key.password decrypts a key)."
    for missing in inline:
        if missing not in given:
            yield f"{missing} is required beside {given[0]}."


def _load_truststore(context: ssl.SSLContext, place: str, properties: Mapping[str, str]) -> None:
    location, inline = properties.get(f"{TRUST}.location"), properties.get(f"{TRUST}.certificates")
    if location is None and inline is None:
        context.load_default_certs()
        return
    if location is not None and store_type(properties, TRUST) != "PEM":
        inline = _trusted_certificates(place, location, properties.get(f"{TRUST}.password"))
        location = None
    key = "location" if location is not None else "certificates"
    try:
        # Beside the certificates a text may have comments in any script, which OpenSSL takes from files only.
        context.load_verify_locations(cafile=location, cadata=None if inline is None else _certificates_in(inline))
    except ssl.SSLError:
        raise ConfigError(f"{place}.{TRUST}.{key} has no usable certificate in PEM.") from None
    except (OSError, ValueError) as error:
        raise ConfigError(_unreadable(f"{place}.{TRUST}.{key}", error)) from None


def _certificates_in(text: str) -> str:
    """The certificates of a text in PEM, alone.

    Raises:
        ssl.SSLError: there is none.
    """
    found = CERTIFICATE.findall(text)
    if not found:
        raise ssl.SSLError("no certificate")
    return "\n".join(found)


def _trusted_certificates(place: str, location: str, password: str | None) -> str:
    try:
        store = read_store(location, password)
    except StoreError as error:
        raise ConfigError(f"{place}.{TRUST}.location {error}.") from None
    if not store.others:
        raise ConfigError(f"{place}.{TRUST}.location has no trusted certificate.")
    return "".join(store.others)


def _load_keystore(context: ssl.SSLContext, place: str, properties: Mapping[str, str]) -> None:
    location, key = properties.get(f"{KEY}.location"), properties.get(f"{KEY}.key")
    if location is None and key is None:
        return
    # Without a password OpenSSL would ask for one on the terminal.
    password = properties.get("ssl.key.password", "")
    if key is not None:
        chain = f"{key.strip()}\n{properties[f'{KEY}.certificate.chain'].strip()}\n"
        _load_chain(context, f"{place}.{KEY}.key", chain, password)
    elif store_type(properties, KEY) == "PEM":
        _load_file(context, f"{place}.{KEY}.location", str(location), password)
    else:
        _load_store(context, place, str(location), properties)


def _load_store(context: ssl.SSLContext, place: str, location: str, properties: Mapping[str, str]) -> None:
    try:
        store = read_store(location, properties[f"{KEY}.password"], properties.get("ssl.key.password"))
    except StoreError as error:
        raise ConfigError(f"{place}.{KEY}.location {error}.") from None
    if not store.key:
        raise ConfigError(f"{place}.{KEY}.location has no private key.")
    chain = "".join((store.key, store.certificate, *store.others))
    _load_chain(context, f"{place}.{KEY}.location", chain, store.key_password)


def _load_chain(context: ssl.SSLContext, place: str, chain: str, password: str) -> None:
    """Python's ssl takes a key only from a file."""
    with _memory_file(chain) as path:
        _load_file(context, place, path, password)


def _load_file(context: ssl.SSLContext, place: str, path: str, password: str) -> None:
    try:
        context.load_cert_chain(path, password=password)
    except ssl.SSLError as error:
        raise ConfigError(f"{place} {_chain_problem(Path(path), error)}.") from None
    except (OSError, ValueError) as error:
        raise ConfigError(_unreadable(place, error)) from None


def _chain_problem(file: Path, error: ssl.SSLError) -> str:
    """Why OpenSSL takes no key and certificate from this file: it seldom gives a reason."""
    if error.reason == "KEY_VALUES_MISMATCH":
        return "has a certificate of another key"
    text = file.read_bytes()
    for name in ("PRIVATE KEY", "CERTIFICATE"):
        if f"{name}-----".encode() not in text:
            return f"has no {name.lower()} in PEM"
    return "is not usable PEM, or ssl.key.password does not decrypt it"


@contextmanager
def _memory_file(text: str) -> Iterator[str]:
    """The path of a file with this text, on Linux in memory only; elsewhere only this user can read it."""
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("groupwatch"), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
    else:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as named:
            named.write(text)
            named.flush()
            yield named.name


def _unreadable(place: str, error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{place} cannot be read ({error.strerror})."
    return f"{place} cannot be used ({error})."  # a null byte in a path, or a password of more than 1,024 bytes

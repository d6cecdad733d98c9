"""A TLS server's context, made of files."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Final

from monitor.web.http.access_errors import AccessError
from monitor.web.http.web_config import TlsFiles

_VERSIONS: Final = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}
_CLIENTS: Final = {
    "NoClientCert": ssl.CERT_NONE,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}


def server_context(files: TlsFiles) -> ssl.SSLContext:
    """The context with this certificate; where ``client_auth`` says so, clients have to show one of the client CA.

    Raises:
        AccessError: a file cannot be read or is no PEM, or the key is not that of the certificate, or has a passphrase.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.minimum_version, context.maximum_version = _VERSIONS[files.min_version], _VERSIONS[files.max_version]
    except ValueError:
        raise AccessError("OpenSSL here does not serve the TLS versions that the web configuration names.") from None
    _load_certificate(context, files.cert_file, files.key_file)
    if files.client_ca_file is not None:
        _load_client_ca(context, files.client_ca_file)
    context.verify_mode = _CLIENTS[files.client_auth]
    return context


def _load_certificate(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    for path in (certificate, key):
        _require_readable(path)
    try:
        context.load_cert_chain(certificate, key, password=_no_passphrase)  # OpenSSL would ask the terminal
    except (ssl.SSLError, ValueError, OSError) as error:
        reason = getattr(error, "reason", None) or "not a certificate and a key in PEM"
        raise AccessError(f"{certificate} and {key} cannot serve TLS ({_words(reason)}).") from None


def _load_client_ca(context: ssl.SSLContext, path: Path) -> None:
    _require_readable(path)
    try:
        context.load_verify_locations(cafile=path)
    except (ssl.SSLError, OSError) as error:
        reason = getattr(error, "reason", None) or "no certificate in PEM"
        raise AccessError(f"{path} has no certificates of client CAs ({_words(reason)}).") from None


def _no_passphrase() -> str:
    raise ValueError


def _require_readable(path: Path) -> None:
    try:
        path.open("rb").close()
    except OSError as error:
        raise AccessError(f"{path} cannot be read ({error.strerror}).") from None


def _words(reason: str) -> str:
    """OpenSSL's reason as words.

    >>> _words("KEY_VALUES_MISMATCH")
    'key values mismatch'
    """
    return reason.replace("_", " ").lower()

"""PEM keys for Java's client, which reads fewer kinds of them than OpenSSL.

Java wants PKCS #8, and Java 17 does not decrypt what OpenSSL encrypts by default (PBES2, JDK-8231581). Such a key is
given to it in the properties, decrypted; they are in memory only, as the passwords of other log-ins are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from monitor.collectors.kafka_client.stores import StoreError, key_in_pkcs8
from monitor.collectors.kafka_client.tls import KEY, store_type
from monitor.config import ConfigError

_NOT_FOR_JAVA: Final = re.compile("BEGIN (ENCRYPTED|RSA|EC) PRIVATE KEY")
_CERTIFICATE: Final = re.compile("-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


def java_key_properties(place: str, properties: Mapping[str, str]) -> dict[str, str]:
    """The properties with a key that Java can read; unchanged if it can read the one that is there.

    Args:
        place: where the properties stand in the configuration; errors name ``place.key``.
        properties: by their Java names, references resolved.

    Raises:
        ConfigError: a key that cannot be read or decrypted.
    """
    inline, location = properties.get(f"{KEY}.key"), properties.get(f"{KEY}.location")
    if store_type(properties, KEY) != "PEM" or (inline is None and location is None):
        return dict(properties)
    name = f"{place}.{KEY}.{'location' if inline is None else 'key'}"
    text = inline if inline is not None else _text(name, str(location))
    if _NOT_FOR_JAVA.search(text) is None:
        return dict(properties)
    try:
        key = key_in_pkcs8(text, properties.get("ssl.key.password"))
    except StoreError as error:
        raise ConfigError(f"{name} {error}.") from None
    chain = properties.get(f"{KEY}.certificate.chain") or "\n".join(_CERTIFICATE.findall(text))
    kept = {name: value for name, value in properties.items() if name not in (f"{KEY}.location", "ssl.key.password")}
    return kept | {f"{KEY}.key": key, f"{KEY}.certificate.chain": chain}


def _text(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{name} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{name} is not usable PEM: it is no text.") from None

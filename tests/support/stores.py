"""Key stores and trust stores for tests, made by the programs openssl and keytool."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from monitor.java_runtime.find_java import find_java
from tests.support.programs import required
from tests.web.http.certificates import Authority

STORE_PASSWORD: Final = "store-tiger"  # noqa: S105, RUF100 -- of files that live for a test
KEY_PASSWORD: Final = "key-lion"  # noqa: S105, RUF100 -- likewise
SECRETS: Final = (STORE_PASSWORD, KEY_PASSWORD)


class Stores:
    """The key of one client in every kind of store, and the certificate that it trusts."""

    def __init__(self, folder: Path, authority: Authority, name: str) -> None:
        self._folder = folder
        self._name = name
        self.authority_file = authority.file
        self.certificate, self.key = authority.sign(name)

    def pem(self) -> dict[str, str]:
        """One PEM file with an encrypted key, and one with the trusted certificate."""
        encrypted = self._folder / f"{self._name}.encrypted.key"
        options = ("pkcs8", "-topk8", "-in", self.key, "-out", encrypted, "-passout", f"pass:{KEY_PASSWORD}")
        self._openssl(*options)
        file = self._folder / f"{self._name}.store.pem"
        file.write_text(encrypted.read_text() + self.certificate.read_text())
        return {**_store("keystore", "PEM", file), "ssl.key.password": KEY_PASSWORD, **self.trusted_pem()}

    def trusted_pem(self) -> dict[str, str]:
        """The trusted certificate in a PEM file."""
        return _store("truststore", "PEM", self.authority_file)

    def inline(self) -> dict[str, str]:
        """Key and certificates in the properties themselves."""
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": self.key.read_text(),
            "ssl.keystore.certificate.chain": self.certificate.read_text(),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": self.authority_file.read_text(),
        }

    def pkcs12(self) -> dict[str, str]:
        """PKCS12 of openssl, and a trust store of keytool."""
        return {**self._store_of_openssl(), **self._trusted("PKCS12")}

    def java(self, kind: str) -> dict[str, str]:
        """Stores of keytool; in JKS, the key has a password of its own."""
        source = self._store_of_openssl()["ssl.keystore.location"]
        file = self._folder / f"{self._name}.{kind.lower()}"
        key_password = KEY_PASSWORD if kind == "JKS" else STORE_PASSWORD
        self._keytool(
            *("-importkeystore", "-srckeystore", source, "-srcstorepass", STORE_PASSWORD, "-srcstoretype", "PKCS12"),
            *("-srcalias", self._name, "-destkeystore", file, "-deststoretype", kind),
            *("-deststorepass", STORE_PASSWORD, "-destkeypass", key_password),
        )
        named = {**_store("keystore", kind, file), "ssl.keystore.password": STORE_PASSWORD}
        return {**named, "ssl.key.password": key_password, **self._trusted(kind)}

    def _store_of_openssl(self) -> dict[str, str]:
        file = self._folder / f"{self._name}.openssl.p12"
        pair = ("-in", self.certificate, "-inkey", self.key, "-name", self._name)
        self._openssl("pkcs12", "-export", *pair, "-out", file, "-passout", f"pass:{STORE_PASSWORD}")
        return {**_store("keystore", "PKCS12", file), "ssl.keystore.password": STORE_PASSWORD}

    def _trusted(self, kind: str) -> dict[str, str]:
        file = self._folder / f"{self._name}.trusted.{kind.lower()}"
        if not file.exists():
            about = ("-alias", "ca", "-file", self.authority_file, "-keystore", file)
            self._keytool("-importcert", *about, "-storetype", kind, "-storepass", STORE_PASSWORD)
        return {**_store("truststore", kind, file), "ssl.truststore.password": STORE_PASSWORD}

    def _openssl(self, *arguments: object) -> None:
        subprocess.run([required("openssl", "openssl"), *map(str, arguments)], check=True, capture_output=True)

    def _keytool(self, *arguments: object) -> None:
        tool = find_java().home / "bin" / "keytool"
        subprocess.run([tool, "-noprompt", *map(str, arguments)], check=True, capture_output=True)


def _store(store: str, kind: str, file: Path) -> dict[str, str]:
    return {f"ssl.{store}.type": kind, f"ssl.{store}.location": str(file)}

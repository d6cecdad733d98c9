"""Certificates for tests, made by the program openssl."""

import subprocess
from pathlib import Path

from tests.support.programs import required


class Authority:
    """A CA of its own in a folder, and the certificates that it signs."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        self._openssl = required("openssl", "openssl")
        self._folder = folder
        self.file = folder / f"{name}.pem"
        self._key = folder / f"{name}.key"
        self._run("req", "-x509", *_new_key(self._key), "-out", self.file, "-subj", f"/CN={name}", "-days", "2")

    def sign(self, name: str, days: int = 2) -> tuple[Path, Path]:
        """A certificate for 127.0.0.1 and its key; ``days`` 0: it has ended when it is made."""
        certificate, key = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        request, extensions = self._folder / f"{name}.csr", self._folder / f"{name}.ext"
        extensions.write_text("subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n")
        self._run("req", *_new_key(key), "-out", request, "-subj", f"/CN={name}")
        signed_by = ("-CA", self.file, "-CAkey", self._key, "-CAcreateserial")
        self._run(
            "x509", "-req", "-in", request, *signed_by, "-out", certificate, "-days", days, "-extfile", extensions
        )
        key.chmod(0o600)
        return certificate, key

    def _run(self, *arguments: object) -> None:
        subprocess.run([self._openssl, *map(str, arguments)], check=True, capture_output=True)


def _new_key(file: Path) -> tuple[object, ...]:
    return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", file)

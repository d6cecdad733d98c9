"""A Kerberos KDC of Debian's packages on loopback, with a krb5.conf of its own, and a broker that takes its tickets."""

from __future__ import annotations

import importlib.util
import os
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

import pytest

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.ports import free_ports, listening
from monitor.demo.servers.settings import BrokerSettings
from tests.support.job_process import eventually

REALM: Final = "GROUPWATCH.TEST"
SERVICE: Final = "kafka/localhost"
"""What both clients make of 127.0.0.1, by a reverse look-up."""

CLOCK_SKEW_S: Final = 1

TICKETS: Final = "TICKETS"
"""The listener of :func:`kerberized_kafka` that takes tickets."""

_PROGRAMS: Final = ("kdb5_util", "kadmin.local", "krb5kdc", "kinit")
_PATH: Final = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"

needs_kerberos = pytest.mark.skipif(
    any(shutil.which(name, path=_PATH) is None for name in _PROGRAMS) or importlib.util.find_spec("gssapi") is None,
    reason="needs krb5-kdc, krb5-admin-server and krb5-user of Debian, and the extra kerberos (.ci/run installs them)",
)


class Kdc:
    """A KDC between ``start`` and ``stop``. Its tickets are valid for ``life``, such as "1 hour"."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_ports(1)[0]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def configuration(self) -> Path:
        """The krb5.conf of clients and servers."""
        return self.folder / "krb5.conf"

    @property
    def environment(self) -> dict[str, str]:
        """That of programs which use this KDC."""
        own = {"KRB5_CONFIG": str(self.configuration), "KRB5_KDC_PROFILE": str(self.folder / "kdc.conf")}
        return {**os.environ, **own, "PATH": _PATH}

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._configure()
        self._run("kdb5_util", "create", "-s", "-P", secrets.token_hex(8))
        self.add(SERVICE)
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Serve, from now on."""
        program = shutil.which("krb5kdc", path=_PATH)
        assert program is not None
        with (self.folder / "output").open("ab") as output:
            self._process = subprocess.Popen([program, "-n"], env=self.environment, stdout=output, stderr=output)
        eventually(lambda: listening(self.port), "a KDC that listens", 20)

    def stop(self) -> None:
        """Serve no more."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None

    @contextmanager
    def silent(self) -> Iterator[None]:
        """In its place something takes connections and packets, and responds to none."""
        self.stop()
        with socket.create_server(("127.0.0.1", self.port)), socket.socket(type=socket.SOCK_DGRAM) as packets:
            packets.bind(("127.0.0.1", self.port))
            yield
        self.start()

    def add(self, name: str, life: str = "1 hour") -> Path:
        """A principal with a new key, and the keytab with it."""
        keytab = self.folder / f"{name.replace('/', '.')}.keytab"
        self.admin("addprinc", "-randkey", "-maxlife", life, name)
        self.admin("ktadd", "-k", str(keytab), name)
        return keytab

    def admin(self, *words: str) -> None:
        """A command of kadmin."""
        self._run("kadmin.local", *words)

    def cache(self, name: str, keytab: Path, cache: Path) -> Path:
        """A new ticket in a cache, as kinit gets it. It takes the place of the old one at once."""
        new = cache.with_suffix(".new")
        self._run("kinit", "-k", "-t", str(keytab), "-c", f"FILE:{new}", name)
        new.replace(cache)
        return cache

    def issued(self, name: str) -> int:
        """How many tickets it has given at a log-in of this principal."""
        log = (self.folder / "kdc.log").read_text(encoding="utf-8")
        return sum("AS_REQ" in line and "ISSUE" in line and f"{name}@" in line for line in log.splitlines())

    def _configure(self) -> None:
        self.configuration.write_text(
            f"[libdefaults]\n default_realm = {REALM}\n dns_lookup_kdc = false\n dns_lookup_realm = false\n"
            f" dns_canonicalize_hostname = true\n rdns = true\n udp_preference_limit = 1\n"
            f" clockskew = {CLOCK_SKEW_S}\n[realms]\n {REALM} = {{\n  kdc = 127.0.0.1:{self.port}\n }}\n",
            encoding="utf-8",
        )
        (self.folder / "kdc.conf").write_text(
            f"[realms]\n {REALM} = {{\n  database_name = {self.folder}/principal\n"
            f"  key_stash_file = {self.folder}/stash\n  kdc_listen = 127.0.0.1:{self.port}\n"
            f"  kdc_tcp_listen = 127.0.0.1:{self.port}\n  max_life = 1d\n }}\n"
            f"[logging]\n kdc = FILE:{self.folder}/kdc.log\n",
            encoding="utf-8",
        )

    def _run(self, program: str, *words: str) -> None:
        path = shutil.which(program, path=_PATH)
        assert path is not None
        done = subprocess.run([path, *words], env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@contextmanager
def kerberized_kafka(kdc: Kdc, session_ms: int) -> Iterator[EmbeddedKafka]:
    """A broker whose listener ``TICKETS`` takes tickets, and wants a new log-in after so many ms."""
    prefix = f"listener.name.{TICKETS.lower()}"
    keytab = kdc.folder / f"{SERVICE.replace('/', '.')}.keytab"
    module = "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true"
    properties = {
        f"{prefix}.sasl.enabled.mechanisms": "GSSAPI",
        f"{prefix}.sasl.kerberos.service.name": "kafka",
        f"{prefix}.gssapi.sasl.jaas.config": f'{module} keyTab="{keytab}" principal="{SERVICE}@{REALM}";',
        f"{prefix}.gssapi.connections.max.reauth.ms": str(session_ms),
    }
    options = (f"-Djava.security.krb5.conf={kdc.configuration}",)
    settings = BrokerSettings(listeners={TICKETS: "SASL_PLAINTEXT"}, properties=properties, jvm_options=options)
    with EmbeddedKafka(settings) as broker:
        yield broker


def client_properties(options: str) -> dict[str, str]:
    """The properties of a client with these options of Java's login module."""
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.service.name": "kafka",
        "sasl.jaas.config": f"com.sun.security.auth.module.Krb5LoginModule required {options};",
    }


def keytab_login(keytab: Path, name: str) -> dict[str, str]:
    """The properties of a client with a keytab."""
    return client_properties(f'useKeyTab=true storeKey=true keyTab="{keytab}" principal="{name}@{REALM}"')


def cache_login(cache: Path) -> dict[str, str]:
    """The properties of a client whose ticket another program renews in a cache."""
    return client_properties(f'useTicketCache=true ticketCache="{cache}"') | {"sasl.kerberos.kinit.cmd": "/bin/true"}

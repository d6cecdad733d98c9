"""Kerberos tickets for kafka-python, by the package ``gssapi``: of a keytab, or of a ticket cache.

kafka-python's own mechanism takes the credentials of the process; several clusters may need several. Tickets of a
keytab are kept in the memory of this process. MIT Kerberos replaces them after half of their life.
"""

from __future__ import annotations

import hashlib
import importlib
import re
import threading
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any, Final

from kafka.errors import KafkaError
from kafka.net.sasl import register_sasl_mechanism
from kafka.net.sasl.abc import SaslMechanism

from monitor.collectors.kafka_client.kerberos import MECHANISM, KerberosLogin
from monitor.config import ConfigError
from monitor.model.installing import how_to_install

NEEDED: Final = (
    f"needs the package gssapi: {how_to_install('kerberos')} (on Debian, after apt-get install gcc python3-dev"
    " libkrb5-dev)."
)

_CLIENT_TICKETS: Final = "initiate"
_NO_LAYER: Final = 1
"""The bit for neither integrity nor confidentiality, the only offer of Kafka's brokers (RFC 4752, 3.1)."""

_HINTS: Final = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        ("^Server ", "Check sasl.kerberos.service.name, and the names of the brokers."),
        ("^Client |key table entry|does not match", "Check principal in sasl.jaas.config."),
        ("ecrypt|reauth", "The keytab has another key than the KDC: create it again."),
        ("expired|not yet valid", "Renew the ticket (kinit), and check the clock."),
        ("cache", "Check the ticket cache: klist shows what is in it."),
        ("[Kk]ey table|^Is a directory", "Check keyTab in sasl.jaas.config: klist -k shows what is in it."),
        ("[Cc]lock", "Check the clock of this machine."),
        ("", "Check krb5.conf."),
    )
)
"""What to do, by a word in MIT Kerberos's text; the first match counts."""


class TicketError(KafkaError):  # type: ignore[misc] # of a library without types
    """No ticket to log in with; the text is a sentence.

    ``is_of_server`` says that the KDC does not know this broker; it may know another one of the cluster.
    """

    def __init__(self, text: str, *, is_of_server: bool = False) -> None:
        super().__init__(text)
        self.is_of_server = is_of_server


class Tickets:
    """What a client of kafka-python takes its tickets from, at each connection and each renewed login."""

    def __init__(self, login: KerberosLogin) -> None:
        """Prepare; nothing is fetched yet.

        Raises:
            ConfigError: the package ``gssapi`` is missing.
        """
        self._login = login
        self._gssapi = _package(login.place)

    def context(self, host: str) -> tuple[Any, bytes]:
        """A new context for a broker, and the bytes that it sends first.

        Raises:
            TicketError: there is no ticket.
        """
        gssapi = self._gssapi
        try:
            name = gssapi.Name(f"{self._login.service}@{host}", gssapi.NameType.hostbased_service)
            mechanism = gssapi.MechType.kerberos
            context = gssapi.SecurityContext(name=name, creds=self._credentials(), mech=mechanism, usage="initiate")
            return context, context.step(None) or b""
        except gssapi.exceptions.GSSError as error:
            raise self._ticket_error(error) from None

    def require(self, hosts: Iterable[str], limit_s: float) -> None:
        """Return if there is a ticket for one of these brokers.

        MIT Kerberos waits for a KDC that does not respond for a minute, and has no setting for that. The thread that
        asks is then left to its end.

        Raises:
            TicketError: there is none, or no response within ``limit_s`` seconds.
        """
        answer: Future[None] = Future()
        threading.Thread(target=self._respond, args=(hosts, answer), name="tickets", daemon=True).start()
        try:
            answer.result(limit_s)
        except TimeoutError:
            told = f"no KDC responds, tried for {limit_s:g} s"
            raise TicketError(f"Kerberos gives no ticket ({told}). Check krb5.conf.") from None

    def _respond(self, hosts: Iterable[str], answer: Future[None]) -> None:
        try:
            self._require(hosts)
        except BaseException as error:  # whoever waits gets it
            answer.set_exception(error)
        else:
            answer.set_result(None)

    def _require(self, hosts: Iterable[str]) -> None:
        first: TicketError | None = None
        for host in hosts:
            try:
                self.context(host)
            except TicketError as error:
                first = first or error
                if not error.is_of_server:
                    break
            else:
                return
        if first is not None:
            raise first

    def _credentials(self) -> Any:  # noqa: ANN401 - of a package that may be missing
        """The credentials as they are now: a keytab, a cache and what is in memory may have been replaced."""
        gssapi, login = self._gssapi, self._login
        store = {"ccache": f"FILE:{login.file}"}
        if login.keytab is not None:
            digest = hashlib.sha256(f"{login.keytab}\0{login.principal}".encode()).hexdigest()
            store = {"client_keytab": f"FILE:{login.keytab}", "ccache": f"MEMORY:groupwatch-{digest}"}
        return gssapi.Credentials(name=self._principal(), usage=_CLIENT_TICKETS, store=store)

    def _principal(self) -> Any:  # noqa: ANN401 - likewise
        gssapi, principal = self._gssapi, self._login.principal
        return gssapi.Name(principal, gssapi.NameType.kerberos_principal) if principal else None

    def _ticket_error(self, error: Any) -> TicketError:  # noqa: ANN401 - likewise
        reason = _reason(error)
        if "cache" in reason and self._login.keytab is not None:
            # MIT Kerberos looks for a cache where it cannot use the keytab, and reports only that.
            reason = self._keytab_problem() or reason
        hint = next(hint for pattern, hint in _HINTS if pattern.search(reason))
        return TicketError(f"Kerberos gives no ticket ({reason}). {hint}", is_of_server=reason.startswith("Server "))

    def _keytab_problem(self) -> str | None:
        """Why the keytab has no key of the principal; None: it has one."""
        gssapi = self._gssapi
        try:
            gssapi.Credentials(name=self._principal(), usage="accept", store={"keytab": f"FILE:{self._login.keytab}"})
        except gssapi.exceptions.GSSError as error:
            return _reason(error)
        return None


class KerberosMechanism(SaslMechanism):  # type: ignore[misc] # of a library without types
    """SASL GSSAPI (RFC 4752) with the tickets of one login, which come as ``sasl_kerberos_name``."""

    def __init__(self, *, host: str, sasl_kerberos_name: Tickets, **_config: object) -> None:
        """Get a ticket for the broker.

        Raises:
            TicketError: there is none.
        """
        self._context, self._answer = sasl_kerberos_name.context(host)
        self._is_last = self._is_done = False

    def auth_bytes(self) -> bytes:
        """What to send next. Brokers before 1.0 do not respond to the last of it."""
        self._is_done = self._is_last
        return self._answer

    def receive(self, auth_bytes: bytes) -> None:
        """Take the broker's response.

        Raises:
            TicketError: it is not that of RFC 4752.
        """
        if self._is_done:
            return
        try:
            self._answer = self._response(auth_bytes)
        except importlib.import_module("gssapi").exceptions.GSSError as error:
            raise TicketError(
                f"the broker's response to the Kerberos log-in is not usable ({_reason(error)})."
            ) from None

    def _response(self, received: bytes) -> bytes:
        if not self._context.complete:
            return self._context.step(received) or b""
        layers = self._context.unwrap(received).message
        if not layers or not layers[0] & _NO_LAYER:
            raise TicketError("the broker wants a security layer of SASL, which Kafka does not have.")
        self._is_last = True
        # No layer, so no size of its messages, and no other user than the one of the ticket.
        answer: bytes = self._context.wrap(bytes([_NO_LAYER, 0, 0, 0]), False).message  # noqa: FBT003, RUF100
        return answer

    def is_done(self) -> bool:
        """Whether nothing is left to send."""
        return self._is_done

    def is_authenticated(self) -> bool:
        """Whether both sides have proved who they are."""
        return self._is_done


def tickets(login: KerberosLogin) -> Tickets:
    """The tickets of a login, and kafka-python made to use such.

    Raises:
        ConfigError: the package ``gssapi`` is missing.
    """
    found = Tickets(login)
    register_sasl_mechanism(MECHANISM, KerberosMechanism, overwrite=True)
    return found


def _package(place: str) -> Any:  # noqa: ANN401 - it has no types
    try:
        return importlib.import_module("gssapi")
    except (ImportError, OSError):  # without the library of the system, too
        raise ConfigError(f"{place}.sasl.mechanism is {MECHANISM}, which {NEEDED}") from None


def _reason(error: Any) -> str:  # noqa: ANN401 - of a package that may be missing
    """MIT Kerberos's own text, on one line."""
    statuses = error.get_all_statuses(error.min_code, False)  # noqa: FBT003, RUF100
    return " ".join(" ".join(map(str, statuses)).split())[:200]

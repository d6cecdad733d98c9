"""SASL GSSAPI (Kerberos) by the Java client's properties: a keytab, or a ticket cache that another program renews.

``KerberosLogin`` is read from the options of Java's ``Krb5LoginModule`` in ``sasl.jaas.config``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Final

from monitor.collectors.kafka_client.jaas import given_jaas
from monitor.config import ConfigError
from monitor.model import Value

MECHANISM: Final = "GSSAPI"
LOGIN_MODULE: Final = "com.sun.security.auth.module.Krb5LoginModule"
SERVICE_NAME: Final = "sasl.kerberos.service.name"

CONFIGURATION_VARIABLE: Final = "KRB5_CONFIG"
"""The variable with the path of krb5.conf that MIT Kerberos reads, and Java does not."""

CACHE_VARIABLE: Final = "KRB5CCNAME"
_CACHE_TYPE: Final = re.compile(r"([A-Za-z]{2,}):")


class KerberosLogin(Value, frozen=True):
    """Who gets tickets from where."""

    place: str
    """Where the properties stand in the configuration."""

    service: str
    """The first part of the brokers' principals, such as ``kafka``."""

    principal: str = ""
    """Empty: that of the ticket cache."""

    keytab: str | None = None
    """The path of the keytab; None: the ticket is in a cache."""

    cache: str | None = None
    """The path of the ticket cache; None: Kerberos's own default for this user."""

    @property
    def file(self) -> str:
        """The keytab, or the ticket cache as both clients find it."""
        return self.keytab or self.cache or default_cache()


def kerberos_login(place: str, properties: Mapping[str, str]) -> KerberosLogin:
    """Who gets the tickets of these properties.

    Args:
        place: where the properties stand in the configuration; errors name ``place.key``.
        properties: by their Java names, references resolved.

    Raises:
        ConfigError: what is missing, or what only one of the two clients can do.
    """
    options = _options(place, properties)
    login = KerberosLogin(
        place=place,
        service=properties.get(SERVICE_NAME) or options.get("serviceName", ""),
        principal=options.get("principal", ""),
        keytab=_path(options.get("keyTab", "")) if _is_on(options, "useKeyTab") else None,
        cache=_path(options["ticketCache"]) if "ticketCache" in options else None,
    )
    if problems := [f"{place}.{problem}" for problem in _problems(login, options, properties)]:
        raise ConfigError(*problems)
    return login


def default_cache() -> str:
    """The ticket cache of this user, as Java finds it: a file.

    >>> default_cache().startswith("/")
    True
    """
    return _path(os.environ.get(CACHE_VARIABLE, "")) or f"/tmp/krb5cc_{os.getuid()}"  # noqa: S108, RUF100 -- Kerberos's


def kerberos_file() -> str | None:
    """The krb5.conf that ``KRB5_CONFIG`` names; None: both clients read the machine's, or several are named."""
    path = os.environ.get(CONFIGURATION_VARIABLE, "")
    return path if path and ":" not in path else None


def _options(place: str, properties: Mapping[str, str]) -> Mapping[str, str]:
    if "sasl.jaas.config" not in properties:
        raise ConfigError(f"{place}.sasl.jaas.config is required for SASL {MECHANISM}, Java's default sasl.mechanism.")
    entry = given_jaas(place, properties)
    if entry.module != LOGIN_MODULE:
        raise ConfigError(f"{place}.sasl.jaas.config should use {LOGIN_MODULE} for SASL {MECHANISM}.")
    return entry.options


def _problems(login: KerberosLogin, options: Mapping[str, str], properties: Mapping[str, str]) -> Iterator[str]:
    if {"sasl.username", "sasl.password"} & properties.keys():
        yield f"sasl.username and sasl.password have no meaning for SASL {MECHANISM}; use sasl.jaas.config."
    if not login.service:
        yield f"{SERVICE_NAME} is required for SASL {MECHANISM}; it is usually kafka."
    if options.get("serviceName", login.service) != login.service:
        yield f"{SERVICE_NAME} and serviceName in sasl.jaas.config differ; remove one of them."
    if login.keytab is not None:
        for option, value in (("keyTab", login.keytab), ("principal", login.principal)):
            if not value:
                yield f"sasl.jaas.config has useKeyTab=true, and no {option}."
    elif not _is_on(options, "useTicketCache"):
        yield "sasl.jaas.config has neither useKeyTab=true nor useTicketCache=true: nobody could enter a password."
    else:
        yield from _cache_problems(login)


def _cache_problems(login: KerberosLogin) -> Iterator[str]:
    """Java reads caches in files only, and MIT Kerberos knows other kinds."""
    kind = _CACHE_TYPE.match(login.file)
    if kind is not None:
        named = "ticketCache" if login.cache else f"the variable {CACHE_VARIABLE}"
        yield f"sasl.jaas.config: {named} names a cache of type {kind[1]}, which Java cannot read; use FILE:/PATH."


def _is_on(options: Mapping[str, str], name: str) -> bool:
    """As Krb5LoginModule reads it: ``"true "`` is off."""
    return options.get(name, "false").lower() == "true"


def _path(text: str) -> str:
    """The path in ``/PATH`` or ``FILE:/PATH``."""
    return text[5:] if text[:5].upper() == "FILE:" else text

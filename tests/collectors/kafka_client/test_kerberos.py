"""SASL GSSAPI by the options of Java's login module: what both clients can do, and what is refused."""

from __future__ import annotations

import os
import sys

import pytest

from monitor.collectors.kafka_client.client_properties import kafka_python_arguments, spark_options
from monitor.collectors.kafka_client.kerberos import KerberosLogin, kerberos_file, kerberos_login
from monitor.config import ClusterSettings, ConfigError

MODULE = "com.sun.security.auth.module.Krb5LoginModule"
KEYTAB = 'useKeyTab=true storeKey=true keyTab="/etc/watcher.keytab" principal="watcher@EXAMPLE.COM"'


def properties(options: str, **others: str) -> dict[str, str]:
    return {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.service.name": "kafka",
        "sasl.jaas.config": f"{MODULE} required {options};",
        **{key.replace("_", "."): value for key, value in others.items()},
    }


def cluster(given: dict[str, str]) -> ClusterSettings:
    return ClusterSettings(name="prod", bootstrap_servers="b:1", client=given)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (KEYTAB, {"keytab": "/etc/watcher.keytab", "principal": "watcher@EXAMPLE.COM"}),
        (KEYTAB.replace("/etc", "FILE:/etc"), {"keytab": "/etc/watcher.keytab", "principal": "watcher@EXAMPLE.COM"}),
        ('useTicketCache=TRUE ticketCache="/run/cache"', {"cache": "/run/cache"}),
        (f'useTicketCache=true ticketCache="/run/cache" {KEYTAB}', {
            "keytab": "/etc/watcher.keytab", "principal": "watcher@EXAMPLE.COM", "cache": "/run/cache"
        }),
    ],
)  # fmt: skip
def test_the_login_is_the_one_of_javas_module(options: str, expected: dict[str, str]):
    login = kerberos_login("client", properties(options))
    assert login == KerberosLogin(place="client", service="kafka", **expected)


def test_java_gets_the_properties_as_they_are():
    given = properties(KEYTAB)
    options = spark_options(cluster(given))
    assert options == {"kafka.bootstrap.servers": "b:1"} | {f"kafka.{key}": value for key, value in given.items()}


@pytest.mark.parametrize(
    ("value", "expected"), [("/run/cache", "/run/cache"), ("FILE:/run/cache", "/run/cache"), ("", None)]
)
def test_the_default_cache_is_the_one_that_java_finds(
    monkeypatch: pytest.MonkeyPatch, value: str, expected: str | None
):
    monkeypatch.setenv("KRB5CCNAME", value)
    login = kerberos_login("client", properties("useTicketCache=true"))
    assert login.file == (expected or f"/tmp/krb5cc_{os.getuid()}")


@pytest.mark.parametrize(("value", "expected"), [("/etc/own.conf", "/etc/own.conf"), ("/a:/b", None), ("", None)])
def test_java_is_given_one_krb5_conf(monkeypatch: pytest.MonkeyPatch, value: str, expected: str | None):
    monkeypatch.setenv("KRB5_CONFIG", value)
    assert kerberos_file() == expected


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"security.protocol": "SASL_SSL"},
            "sasl.jaas.config is required for SASL GSSAPI, Java's default sasl.mechanism.",
        ),
        (
            properties(KEYTAB) | {"sasl.jaas.config": "com.ibm.security.auth.module.Krb5LoginModule required;"},
            f"sasl.jaas.config should use {MODULE} for SASL GSSAPI.",
        ),
        (
            properties(KEYTAB) | {"sasl.kerberos.service.name": ""},
            "sasl.kerberos.service.name is required for SASL GSSAPI; it is usually kafka.",
        ),
        (
            properties(f'{KEYTAB} serviceName="other"'),
            "sasl.kerberos.service.name and serviceName in sasl.jaas.config differ; remove one of them.",
        ),
        (properties('useKeyTab=true keyTab="/k"'), "sasl.jaas.config has useKeyTab=true, and no principal."),
        (properties('useKeyTab=true principal="p"'), "sasl.jaas.config has useKeyTab=true, and no keyTab."),
        (
            properties('principal="p"'),
            "sasl.jaas.config has neither useKeyTab=true nor useTicketCache=true: nobody could enter a password.",
        ),
        (
            properties(KEYTAB.replace("useKeyTab=true", 'useKeyTab="true "')),
            "sasl.jaas.config has neither useKeyTab=true nor useTicketCache=true: nobody could enter a password.",
        ),
        (
            properties('useTicketCache=true ticketCache="KEYRING:persistent:0"'),
            "sasl.jaas.config: ticketCache names a cache of type KEYRING, which Java cannot read; use FILE:/PATH.",
        ),
        (
            properties(KEYTAB, sasl_password="tiger"),
            "sasl.username and sasl.password have no meaning for SASL GSSAPI; use sasl.jaas.config.",
        ),
    ],
)
def test_what_cannot_be_a_login_is_refused(given: dict[str, str], sentence: str):
    with pytest.raises(ConfigError) as caught:
        spark_options(cluster(given))
    assert caught.value.problems == (f"clusters.prod.client.{sentence}",)


def test_a_cache_that_java_cannot_read_is_refused_by_the_variable_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KRB5CCNAME", "KCM:0")
    with pytest.raises(ConfigError) as caught:
        kerberos_login("client", properties("useTicketCache=true"))
    assert str(caught.value) == (
        "client.sasl.jaas.config: the variable KRB5CCNAME names a cache of type KCM, which Java cannot read; use"
        " FILE:/PATH."
    )


def test_a_missing_package_is_one_sentence_with_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "gssapi", None)
    with pytest.raises(ConfigError) as caught:
        kafka_python_arguments(cluster(properties(KEYTAB)))
    assert str(caught.value) == (
        "clusters.prod.client.sasl.mechanism is GSSAPI, which needs the package gssapi: install groupwatch"
        " again with the extra kerberos (in a clone: pip install '.[kerberos]'), or use its image"
        " (on Debian, after apt-get install gcc python3-dev libkrb5-dev)."
    )

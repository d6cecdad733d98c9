"""The same properties reach both clients, or are refused with what to do instead."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.collectors.kafka_client.client_properties import (
    IGNORED_BY_PYTHON,
    NOT_IN_PYTHON,
    NUMBERS,
    SECURITY,
    Hidden,
    kafka_python_arguments,
    spark_options,
)
from monitor.collectors.kafka_client.jaas import jaas_line, parse_jaas
from monitor.collectors.kafka_client.tls import tls_context
from monitor.config import ClusterSettings, ConfigError

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def cluster(**properties):
    return cluster_of({key.replace("_", "."): value for key, value in properties.items()})


def cluster_of(properties):
    return ClusterSettings(name="prod", bootstrap_servers="b1:9092,b2:9092", client=properties)


@pytest.fixture(scope="module")
def pem(tmp_path_factory):
    """A self-signed certificate for localhost, and a file with an encrypted key beside it (password: tiger)."""
    folder = tmp_path_factory.mktemp("tls")
    new = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-days", "2", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-passout", "pass:tiger"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run([*new, *names, *files], check=True, capture_output=True)
    both = (folder / "key.pem").read_text() + (folder / "cert.pem").read_text()
    (folder / "keystore.pem").write_text(both)
    return folder


def test_without_properties():
    assert spark_options(cluster()) == {"kafka.bootstrap.servers": "b1:9092,b2:9092"}
    assert kafka_python_arguments(cluster()) == {
        "bootstrap_servers": ["b1:9092", "b2:9092"],
        "client_id": "groupwatch",
        "security_protocol": "PLAINTEXT",
    }


def test_spark_gets_every_property_as_it_is():
    properties = {"security.protocol": "SSL", "ssl.truststore.type": "JKS", "max.poll.records": "10"}
    assert spark_options(cluster_of(properties)) == {
        "kafka.bootstrap.servers": "b1:9092,b2:9092",
        "kafka.security.protocol": "SSL",
        "kafka.ssl.truststore.type": "JKS",
        "kafka.max.poll.records": "10",
    }


@pytest.mark.parametrize(
    ("mechanism", "module"), [("PLAIN", PLAIN), ("SCRAM-SHA-256", SCRAM), ("SCRAM-SHA-512", SCRAM)]
)
def test_a_user_and_a_password_become_a_jaas_line_for_java(mechanism, module):
    login = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": mechanism}
    settings = cluster_of(login | {"sasl.username": "eve", "sasl.password": 'ti"ger'})
    options = spark_options(settings)
    assert options["kafka.sasl.jaas.config"] == f'{module} required username="eve" password="ti\\"ger";'
    assert "kafka.sasl.username" not in options
    assert "kafka.sasl.password" not in options
    arguments = kafka_python_arguments(settings)
    assert arguments["sasl_mechanism"] == mechanism
    assert arguments["sasl_plain_username"] == "eve"
    assert str.__str__(arguments["sasl_plain_password"]) == 'ti"ger'


@pytest.mark.parametrize(
    ("line", "username", "password"),
    [
        pytest.param(f'{SCRAM} required username="eve" password="ti ger";', "eve", "ti ger", id="quoted"),
        pytest.param(f"  {SCRAM}  REQUIRED\n password = 'a;b' username=eve ; ", "eve", "a;b", id="single quotes, bare"),
        pytest.param(f'{SCRAM} required username="e" password="a\\\\\\"b";', "e", 'a\\"b', id="escapes"),
        pytest.param(f'{SCRAM} required other="x" username="e" password="=";', "e", "=", id="another option"),
    ],
)
def test_a_jaas_line_gives_the_login(line, username, password):
    settings = cluster(security_protocol="SASL_SSL", sasl_mechanism="SCRAM-SHA-512", sasl_jaas_config=line)
    arguments = kafka_python_arguments(settings)
    assert arguments["sasl_plain_username"] == username
    assert str.__str__(arguments["sasl_plain_password"]) == password
    assert spark_options(settings)["kafka.sasl.jaas.config"] == line


@given(st.text(), st.text())
def test_a_jaas_line_is_read_as_it_was_written(username, password):
    """Whatever somebody chose as a password."""
    entry = parse_jaas(jaas_line("PLAIN", username, password))
    assert entry is not None
    assert entry.options == {"username": username, "password": password}
    assert entry.module == PLAIN


OURS = "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, GSSAPI, AWS_MSK_IAM"
SASL = {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}
INLINE = {
    "security.protocol": "SSL",
    "ssl.keystore.type": "PEM",
    "ssl.keystore.key": "tiger",
    "ssl.keystore.certificate.chain": "tiger",
}
LOGIN = SASL | {"sasl.username": "eve", "sasl.password": "tiger"}


@pytest.mark.parametrize(
    ("properties", "sentence"),
    [
        ({"security.protocol": "TLS"}, "security.protocol should be PLAINTEXT or SSL or SASL_PLAINTEXT or SASL_SSL."),
        (
            {"security.protocol": "SASL_SSL"},
            "sasl.jaas.config is required for SASL GSSAPI, Java's default sasl.mechanism.",
        ),
        (
            LOGIN | {"sasl.login.callback.handler.class": "tiger"},
            "sasl.login.callback.handler.class has a meaning for OAUTHBEARER only; remove it.",
        ),
        (SASL | {"sasl.username": "eve"}, "sasl.password is required for SASL PLAIN."),
        (
            LOGIN | {"sasl.jaas.config": f'{PLAIN} required username="eve" password="tiger";'},
            "sasl.jaas.config and sasl.username with sasl.password are duplicates; remove one of them.",
        ),
        (
            SASL | {"sasl.jaas.config": f'{PLAIN} required password="tiger"'},
            'sasl.jaas.config is not of the form: module required name="value" ... ;',
        ),
        (SASL | {"sasl.jaas.config": f'{PLAIN} required password="tiger";'}, "sasl.jaas.config has no username."),
        (
            SASL | {"sasl.jaas.config": f'{SCRAM} required username="eve" password="tiger";'},
            f"sasl.jaas.config should use {PLAIN} for SASL PLAIN.",
        ),
        (
            {"security.protocol": "SSL", "ssl.truststore.location": "/none.jks"},
            "ssl.truststore.location cannot be read (No such file or directory).",
        ),
        (
            {"security.protocol": "SSL", "ssl.keystore.location": "/none.p12", "ssl.keystore.type": "PKCS12"},
            "ssl.keystore.password is required for a PKCS12 file.",
        ),
        (
            {"security.protocol": "SSL", "ssl.truststore.location": "/none.pem", "ssl.truststore.type": "PEM"},
            "ssl.truststore.location cannot be read (No such file or directory).",
        ),
        (
            {"security.protocol": "SSL", "ssl.keystore.type": "PEM", "ssl.keystore.key": "tiger"},
            "ssl.keystore.certificate.chain is required beside ssl.keystore.key.",
        ),
        (
            INLINE | {"ssl.keystore.type": "JKS"},
            'ssl.keystore.key needs ssl.keystore.type = "PEM".',
        ),
        (
            INLINE | {"ssl.keystore.location": "/etc/key.pem"},
            "ssl.keystore.key and ssl.keystore.location are duplicates; remove one of them.",
        ),
        (
            INLINE | {"ssl.keystore.password": "tiger"},
            "ssl.keystore.password has no meaning with PEM; remove it (ssl.key.password decrypts a key).",
        ),
        (
            INLINE,
            "ssl.keystore.key has no private key in PEM.",
        ),
        (
            {"ssl.engine.factory.class": "tiger"},
            "ssl.engine.factory.class works only in Java clients; use ssl.truststore.location and"
            " ssl.keystore.location.",
        ),
        (
            {"securty.protocol": "SSL"},
            "securty.protocol is not a property of Kafka clients that groupwatch knows (did you mean"
            " security.protocol?).",
        ),
        ({"request.timeout.ms": "soon"}, "request.timeout.ms should be a whole number from 0 to 2147483647."),
        (LOGIN | {"sasl.mechanism": "tiger"}, f"sasl.mechanism should be one of {OURS}."),
        (
            {"security.protocol": "SSL", "ssl.truststore.location": "/x", "ssl.truststore.type": "tiger"},
            "ssl.truststore.type should be JKS or PKCS12 or PEM.",
        ),
        ({"group.id": "g"}, "group.id is set by groupwatch itself; remove it."),
    ],
)
def test_what_python_cannot_honour_is_refused(properties, sentence):
    with pytest.raises(ConfigError) as caught:
        kafka_python_arguments(cluster_of(properties))
    assert caught.value.problems == (f"clusters.prod.client.{sentence}",)
    assert "tiger" not in str(caught.value)


def test_each_mistyped_property_is_told_and_nothing_that_follows_from_it():
    mistyped = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanizm": "PLAIN",
        "sasl.oauthbearer.scop": "kafka",
        "sasl.login.conect.timeout.ms": "1000",
        "metricsss": "x",
    }
    with pytest.raises(ConfigError) as caught:
        kafka_python_arguments(cluster_of(mistyped))
    start, middle = "clusters.prod.client.", "is not a property of Kafka clients that groupwatch knows"
    assert caught.value.problems == (
        f"{start}sasl.mechanizm {middle} (did you mean sasl.mechanism?).",
        f"{start}sasl.oauthbearer.scop {middle} (did you mean sasl.oauthbearer.scope?).",
        f"{start}sasl.login.conect.timeout.ms {middle} (did you mean sasl.login.connect.timeout.ms?).",
        f"{start}metricsss {middle}.",
    )


def test_numbers_and_harmless_properties():
    tuned = cluster_of(
        {"request.timeout.ms": "1234", "client.id": "w", "receive.buffer.bytes": -1, "check.crcs": False}
    )
    arguments = kafka_python_arguments(tuned)
    assert arguments["request_timeout_ms"] == 1234
    assert arguments["client_id"] == "w"
    assert not {"receive_buffer_bytes", "check_crcs"} & arguments.keys()


LEAST = {
    **dict.fromkeys(("default.api.timeout.ms", "fetch.max.bytes", "fetch.max.wait.ms", "fetch.min.bytes"), 0),
    **dict.fromkeys(("max.partition.fetch.bytes", "metadata.max.age.ms", "retry.backoff.ms"), 0),
    **dict.fromkeys(("reconnect.backoff.ms", "reconnect.backoff.max.ms"), 0),
    "metadata.recovery.rebootstrap.trigger.ms": 0,
    **dict.fromkeys(("max.poll.interval.ms", "max.poll.records"), 1),
    **dict.fromkeys(("receive.buffer.bytes", "send.buffer.bytes"), -1),
}
"""The least valid values, as Kafka's documentation of the consumer's properties has them."""


@pytest.mark.parametrize(("key", "least"), LEAST.items())
def test_the_least_value_that_java_takes_is_taken_and_one_less_is_refused(key: str, least: int):
    assert spark_options(cluster_of({key: str(least)}))
    with pytest.raises(ConfigError, match=f"should be a whole number from {least} to "):
        spark_options(cluster_of({key: str(least - 1)}))


def test_every_known_property_is_known_for_one_reason():
    kinds = (SECURITY, NUMBERS.keys(), NOT_IN_PYTHON.keys(), IGNORED_BY_PYTHON)
    assert sum(map(len, kinds)) == len(set().union(*kinds))


def test_a_password_does_not_print():
    password = Hidden("tiger")
    for shown in (repr(password), str(password), f"{password}", "%s" % password, repr({"a": password})):  # noqa: UP031 - as logging does
        assert "tiger" not in shown
    assert password.encode() == b"tiger"
    assert "".join(["<", password, ">"]) == "<tiger>"


def handshake(server, client, port_name="localhost"):
    """Whether a real TLS handshake succeeds, on both sides."""
    ours, theirs = socket.socketpair()

    def serve():
        try:
            server.wrap_socket(theirs, server_side=True).close()
        except (ssl.SSLError, OSError):
            theirs.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        client.wrap_socket(ours, server_hostname=port_name).close()
    finally:
        ours.close()
        thread.join()


def test_pem_files_make_a_tls_context(pem):
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(pem / "keystore.pem", password="tiger")
    trust = {"security.protocol": "SSL", "ssl.truststore.location": str(pem / "cert.pem"), "ssl.truststore.type": "PEM"}
    inline = {"security.protocol": "SSL", "ssl.truststore.type": "PEM"}
    inline["ssl.truststore.certificates"] = (pem / "cert.pem").read_text()
    for properties in (trust, inline):
        handshake(server, kafka_python_arguments(cluster_of(properties))["ssl_context"])
    strict = kafka_python_arguments(cluster_of(trust))["ssl_context"]
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(server, strict, "another.host")
    lax = kafka_python_arguments(cluster_of(trust | {"ssl.endpoint.identification.algorithm": ""}))["ssl_context"]
    handshake(server, lax, "another.host")
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(server, kafka_python_arguments(cluster_of({"security.protocol": "SSL"}))["ssl_context"])


@pytest.mark.parametrize("word", ["https ", "HTTPS", "none", "\x00", "\u00a0"])
def test_a_context_checks_the_host_name_whatever_word_it_is_given(word: str):
    """The words are refused before; this is for one that nobody looked at."""
    assert tls_context("client", {"ssl.endpoint.identification.algorithm": word}).check_hostname


@pytest.mark.parametrize("blank", [" ", "\n", "\t", "\x01", "\u00a0"])
@pytest.mark.parametrize("key", ["ssl.endpoint.identification.algorithm", "security.protocol", "ssl.truststore.type"])
def test_a_word_with_a_blank_is_refused_as_only_one_of_the_clients_removes_it(key: str, blank: str):
    words = {"security.protocol": "SSL", "ssl.truststore.type": "PEM", "ssl.endpoint.identification.algorithm": "https"}
    for value in (words[key] + blank, blank + words[key]):
        for client in (kafka_python_arguments, spark_options):
            with pytest.raises(ConfigError, match=rf"^clusters\.prod\.client\.{key} should be "):
                client(cluster_of(words | {key: value}))


def test_the_type_pem_has_one_spelling_and_java_takes_any_of_the_others(pem):
    place = {"security.protocol": "SSL", "ssl.truststore.location": str(pem / "cert.pem")}
    with pytest.raises(ConfigError, match=r"ssl\.truststore\.type should be JKS or PKCS12 or PEM\.$"):
        kafka_python_arguments(cluster_of(place | {"ssl.truststore.type": "pem"}))
    with pytest.raises(ConfigError, match=r"ssl\.truststore\.location is a PEM file; set the type of the store to PEM"):
        kafka_python_arguments(cluster_of(place | {"ssl.truststore.type": "jks", "ssl.truststore.password": "tiger"}))


def test_a_client_certificate(pem):
    keystore = {"security.protocol": "SSL", "ssl.keystore.location": str(pem / "keystore.pem")}
    keystore |= {"ssl.keystore.type": "PEM", "ssl.key.password": "tiger"}
    assert kafka_python_arguments(cluster_of(keystore))["ssl_context"]
    for password in ("lion", ""):
        with pytest.raises(ConfigError) as caught:
            kafka_python_arguments(cluster_of(keystore | {"ssl.key.password": password}))
        assert str(caught.value) == (
            "clusters.prod.client.ssl.keystore.location is not usable PEM, or ssl.key.password does not decrypt it."
        )

"""Tokens by the Java client's properties: fetched from a real endpoint on loopback, or read from a file."""

from __future__ import annotations

import base64
import json
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError

import pytest

from monitor.collectors.kafka_client.client_properties import kafka_python_arguments, spark_options, token_endpoints
from monitor.collectors.kafka_client.jaas import parse_jaas
from monitor.collectors.kafka_client.oauth import OAuthLogin, oauth_login
from monitor.collectors.kafka_client.tokens import TokenError, TokenProvider
from monitor.config import ClusterSettings, ConfigError
from tests.support.issuer import CLIENT_ID, Issuer, client_properties, file_properties, trusting_properties
from tests.web.http.certificates import Authority

MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
HANDLER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
SECRET = "sasl.oauthbearer.client.credentials.client.secret"  # noqa: S105, RUF100 -- a name


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with Issuer() as running:
        yield running


def cluster(properties: dict[str, str]) -> ClusterSettings:
    return ClusterSettings(name="prod", bootstrap_servers="b:1", client=properties)


def provider_of(properties: dict[str, str]) -> TokenProvider:
    return TokenProvider(lambda: oauth_login("client", properties))


def test_kafka_python_gets_a_provider_and_spark_the_properties_of_kafka_3_9(issuer: Issuer):
    properties = client_properties(issuer) | {"sasl.oauthbearer.scope": "kafka read"}
    arguments = kafka_python_arguments(cluster(properties))
    assert arguments["sasl_mechanism"] == "OAUTHBEARER"
    assert arguments["sasl_oauth_token_provider"].token() == issuer.issued[-1]
    assert issuer.requests == [{"grant_type": ["client_credentials"], "scope": ["kafka read"]}]
    options = spark_options(cluster(properties))
    entry = parse_jaas(options.pop("kafka.sasl.jaas.config"))
    assert entry is not None
    assert entry.module == MODULE
    assert entry.options == {"clientId": CLIENT_ID, "clientSecret": issuer.secret, "scope": "kafka read"}
    assert options == {
        "kafka.bootstrap.servers": "b:1",
        "kafka.security.protocol": "SASL_PLAINTEXT",
        "kafka.sasl.mechanism": "OAUTHBEARER",
        f"kafka.{ENDPOINT}": issuer.token_url,
        "kafka.sasl.login.callback.handler.class": HANDLER,
    }


def test_a_jaas_line_gives_the_same_login_and_its_extensions(issuer: Issuer):
    line = f'{MODULE} required clientId="{CLIENT_ID}" clientSecret="{issuer.secret}" extension_logicalCluster="lkc-1";'
    properties = {"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER", ENDPOINT: issuer.token_url}
    provider = kafka_python_arguments(cluster(properties | {"sasl.jaas.config": line}))["sasl_oauth_token_provider"]
    assert provider.token() == issuer.issued[-1]
    assert provider.extensions() == {"logicalCluster": "lkc-1"}


def test_the_clients_of_a_cluster_share_a_token_until_four_fifths_of_its_life(issuer: Issuer):
    first, second = (
        kafka_python_arguments(cluster(client_properties(issuer)))["sasl_oauth_token_provider"] for _ in range(2)
    )
    assert first.token() == second.token() == first.token()
    assert len(issuer.issued) == 1
    issuer.lifetime_s = 0
    short = provider_of(client_properties(issuer))
    assert short.token() != short.token()


def test_a_token_that_is_still_valid_outlives_an_endpoint_that_is_away(issuer: Issuer, monkeypatch):
    issuer.lifetime_s = 1000
    provider = provider_of(client_properties(issuer))
    now_s = [1_700_000_000.0]
    monkeypatch.setattr("time.time", lambda: now_s[0])
    token = provider.token()
    issuer.is_away = True
    now_s[0] += 900
    assert provider.token() == token
    issuer.is_away = False
    renewed = provider.token()
    assert renewed == issuer.issued[-1] != token
    issuer.is_away = True
    now_s[0] += 1001
    with pytest.raises(TokenError, match=r"gives no token \(503, temporarily_unavailable\)"):
        provider.token()


def test_a_wrong_secret_is_one_sentence_without_what_the_endpoint_writes(issuer: Issuer):
    with pytest.raises(TokenError) as caught:
        provider_of(client_properties(issuer, "client-tiger")).token()
    assert caught.value.args == (
        f"the token endpoint {issuer.token_url} refuses the client (401, invalid_client)."
        " Check the client id and the client secret.",
    )


def test_an_endpoint_that_is_not_there_is_one_sentence(issuer: Issuer):
    with pytest.raises(TokenError) as caught:
        provider_of(client_properties(issuer) | {ENDPOINT: "http://127.0.0.1:1/token"}).token()
    assert caught.value.args == ("the token endpoint http://127.0.0.1:1/token cannot be reached (Connection refused).",)


def test_a_token_file_is_read_at_each_login(tmp_path: Path):
    file = tmp_path / "token"
    provider = kafka_python_arguments(cluster(file_properties(file)))["sasl_oauth_token_provider"]
    with pytest.raises(TokenError, match=r"the token file .*/token cannot be read \(No such file or directory\)\.$"):
        provider.token()
    for text in ("a.b.c", "d.e.f"):
        file.write_text(f"{text}\n")
        assert provider.token() == text
    file.write_text("two words\n")
    with pytest.raises(TokenError, match=r"has no token\.$"):
        provider.token()


def posted(url: str, credentials: str) -> dict[str, str]:
    encoded = base64.b64encode(credentials.encode()).decode()
    request = urllib.request.Request(url, b"grant_type=client_credentials", {"Authorization": f"Basic {encoded}"})
    with urllib.request.urlopen(request, timeout=10) as response:
        content: dict[str, str] = json.load(response)
    return content


def loopback(properties: dict[str, str]) -> tuple[str, str]:
    """The endpoint from which a JVM of this machine fetches the tokens of these properties, and its credentials."""
    options = spark_options(cluster(properties), serves_tokens=True)
    assert spark_options(cluster(properties), serves_tokens=True) == options, "a query that starts again is the same"
    entry = parse_jaas(options["kafka.sasl.jaas.config"])
    assert entry is not None
    url = options[f"kafka.{ENDPOINT}"]
    assert url.startswith("http://127.0.0.1:")
    assert url in token_endpoints(cluster(properties))
    return url, f"{entry.options['clientId']}:{entry.options['clientSecret']}"


def refusal_status(url: str, pair: str) -> int:
    """The status with which no token is given."""
    with pytest.raises(HTTPError) as caught:
        posted(url, pair)
    caught.value.close()
    return caught.value.code


def test_the_jvm_fetches_the_content_of_a_token_file_from_loopback_as_it_is_now(tmp_path: Path):
    """Java's own reader of token files (kafka-clients 3.9) reads them once."""
    file = tmp_path / "token"
    url, pair = loopback(file_properties(file))
    for text in ("a.b.c", "d.e.f"):
        file.write_text(text)
        assert posted(url, pair)["access_token"] == text
    assert refusal_status(url, f"{pair}0") == 401
    file.unlink()
    assert refusal_status(url, pair) == 503


def test_the_jvm_fetches_tokens_from_loopback_by_the_client_secret_as_it_is_now(
    issuer: Issuer, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    """Java's own client keeps the secret that it was started with."""
    file = tmp_path / "secret"
    file.write_text(issuer.secret)
    url, pair = loopback(client_properties(issuer, f"${{file:{file}}}"))
    assert posted(url, pair)["access_token"] == issuer.issued[-1]
    issuer.change_secret()
    assert (refusal_status(url, pair), refusal_status(url, pair)) == (401, 401)
    file.write_text(issuer.secret)
    assert posted(url, pair)["access_token"] == issuer.issued[-1]
    issuer.is_away = True
    assert refusal_status(url, pair) == 503
    assert caplog.messages == [
        f"Spark gets no new token, and asks again: the token endpoint {issuer.token_url} {told}"
        for told in (
            "refuses the client (401, invalid_client). Check the client id and the client secret.",
            "gives no token (503, temporarily_unavailable).",
        )
    ]


def test_a_client_goes_on_with_its_token_until_a_changed_secret_is_known(issuer: Issuer, tmp_path: Path):
    file = tmp_path / "secret"
    file.write_text(issuer.secret)
    provider = kafka_python_arguments(cluster(client_properties(issuer, f"${{file:{file}}}")))[
        "sasl_oauth_token_provider"
    ]
    token = provider.token()
    issuer.change_secret()
    file.unlink()
    assert provider.token() == token
    file.write_text(issuer.secret)
    assert provider.token() == issuer.issued[-1] != token


def test_each_token_file_has_its_own_client_at_the_endpoint_of_loopback(tmp_path: Path):
    """Threads that prepare several clusters at once give no file the name of another."""
    files = [tmp_path / f"token-{number}" for number in range(8)]
    for file in files:
        file.write_text(f"a.b.{file.name}")
    with ThreadPoolExecutor(len(files)) as pool:
        served = list(pool.map(lambda file: loopback(file_properties(file)), files))
    for file, (url, pair) in zip(files, served, strict=True):
        assert posted(url, pair)["access_token"] == f"a.b.{file.name}"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({ENDPOINT: ""}, f"{ENDPOINT} is required for SASL OAUTHBEARER."),
        ({ENDPOINT: "ftp://h/t"}, f"{ENDPOINT} should be an https:// or file:/// URL."),
        (
            {ENDPOINT: "https://u:lion@h/t"},
            f"{ENDPOINT} should have no user and no password; use sasl.oauthbearer.client.credentials.client.id.",
        ),
        ({ENDPOINT: "file://h"}, f"{ENDPOINT} should be file:///PATH."),
        ({SECRET: ""}, f"{SECRET} is required for SASL OAUTHBEARER."),
        (
            {"sasl.jaas.config": f"{MODULE} required clientSecret=lion;"},
            f"{SECRET} and clientSecret in sasl.jaas.config are duplicates; remove one of them.",
        ),
        ({ENDPOINT: "https://größe/t"}, f"{ENDPOINT} should be an https:// or file:/// URL."),
        ({ENDPOINT: "file:///a%00b"}, f"{ENDPOINT} should be file:///PATH."),
        (
            {"sasl.oauthbearer.jwt.retriever.class": "tiger"},
            "sasl.oauthbearer.jwt.retriever.class works only in Java clients; use client credentials or a token file.",
        ),
        (
            {"sasl.login.callback.handler.class": "tiger"},
            f"sasl.login.callback.handler.class works only in Java clients; use {HANDLER}.",
        ),
    ],
)
def test_what_is_missing_and_what_only_java_can_do_is_refused(changes: dict[str, str], sentence: str):
    properties = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "OAUTHBEARER",
        ENDPOINT: "https://login/token",
        "sasl.oauthbearer.client.credentials.client.id": "watcher",
        SECRET: "tiger",
    }
    for client in (kafka_python_arguments, spark_options):
        with pytest.raises(ConfigError) as caught:
            client(cluster(properties | changes))
        assert caught.value.problems == (f"clusters.prod.client.{sentence}",)


def test_options_of_a_jaas_line_go_with_the_names_of_kafka_4_1(issuer: Issuer):
    """For the certificates of the endpoint there are no other names."""
    line = f'{MODULE} required ssl.truststore.location="/ca.pem";'
    found = oauth_login("client", client_properties(issuer) | {"sasl.jaas.config": line})
    assert (found.client_id, found.client_secret) == (CLIENT_ID, issuer.secret)
    assert found.tls == (("ssl.truststore.location", "/ca.pem"),)


def test_an_endpoint_whose_certificate_is_not_trusted_is_one_sentence(tmp_path: Path):
    authority = Authority(tmp_path)
    with Issuer(certificate=authority.sign("issuer")) as secure:
        trusting = trusting_properties(secure, authority.file, secure.secret)
        assert provider_of(trusting).token() == secure.issued[-1]
        with pytest.raises(
            TokenError, match=r"a certificate that is not trusted \(.*\)\. Set ssl\.truststore\.location"
        ):
            provider_of(client_properties(secure) | {ENDPOINT: secure.https_token_url}).token()


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ('{"access_token": "a.b.c", "expires_in": 1' + "0" * 400 + "}", None),
        ('{"access_token": "a.b.c", "expires_in": NaN}', None),
        ("[" * 100_000, "is no JSON"),
        ('{"access_token": "two words"}', "has no access_token"),
        ("[]", "has no access_token"),
    ],
)
def test_whatever_an_endpoint_responds_is_a_token_or_one_sentence(issuer: Issuer, response: str, expected: str | None):
    issuer.fixed_response = response
    provider = provider_of(client_properties(issuer))
    if expected is None:
        assert provider.token() == "a.b.c"
        return
    with pytest.raises(TokenError, match=rf"the response of the token endpoint .* {expected}\.$"):
        provider.token()


def test_an_opaque_token_that_expires_at_once_is_fetched_each_time(issuer: Issuer):
    issuer.fixed_response = '{"access_token": "a.b.c", "expires_in": 0}'
    provider = provider_of(client_properties(issuer))
    assert (provider.token(), provider.token(), len(issuer.requests)) == ("a.b.c", "a.b.c", 2)


def test_a_token_file_without_an_end_is_one_sentence():
    with pytest.raises(TokenError, match=r"/dev/zero cannot be read \(it is larger than 4 MiB\)\.$"):
        provider_of(file_properties(Path("/dev/zero"))).token()


def test_no_text_of_a_login_has_a_secret():
    hidden = OAuthLogin(place="c", endpoint="https://u:tiger@h/t?key=tiger", client_secret="tiger")
    assert repr(hidden) == "OAuthLogin(https://h/t)"
    assert hidden.address == "https://h/t"

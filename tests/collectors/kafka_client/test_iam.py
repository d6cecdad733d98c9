"""AWS_MSK_IAM by the Java client's properties. Without AWS: another implementation of its signatures checks them."""

from __future__ import annotations

import base64
import json
import sys
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from kafka.net.sasl.msk import AwsMskIamClient

from monitor.collectors.errors import ConnectionFailed
from monitor.collectors.kafka_client.client_properties import kafka_python_arguments, spark_options
from monitor.collectors.kafka_client.connection import open_admin
from monitor.collectors.kafka_client.iam import iam_login
from monitor.collectors.kafka_client.iam_tokens import IamTokenProvider, iam_tokens
from monitor.collectors.kafka_client.tokens import TokenError
from monitor.config import ClusterSettings, ConfigError

BROKER = "b-1.prod.a1b2c3.c4.kafka.eu-west-1.amazonaws.com:9098"
KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"  # noqa: S105, RUF100 -- of AWS's documentation
PACKAGE = "software.amazon.msk.auth.iam"
PROPERTIES = {"security.protocol": "SASL_SSL", "sasl.mechanism": "AWS_MSK_IAM"}
BY_TOKENS = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.login.callback.handler.class": f"{PACKAGE}.IAMOAuthBearerLoginCallbackHandler",
}


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    iam_tokens.cache_clear()


def cluster(properties: dict[str, str], address: str = BROKER) -> ClusterSettings:
    return ClusterSettings(name="prod", bootstrap_servers=address, client=properties)


def jaas(options: str) -> dict[str, str]:
    return PROPERTIES | {"sasl.jaas.config": f"{PACKAGE}.IAMLoginModule required {options};"}


def signed(token: str) -> tuple[str, dict[str, str]]:
    """The host and the query of the request that a token has."""
    url = urlsplit(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode())
    return str(url.hostname), {name: value for name, (value,) in parse_qs(url.query).items()}


def signature(host: str, region: str, date: str, session: str | None = None) -> str:
    """By kafka-python's own implementation of AWS's signatures, of the same request at the same time."""
    client = AwsMskIamClient(host, KEY, SECRET, region, session)
    client.datestamp, client.timestamp = date[:8], date
    client.headers = [("host", host)]
    return str(json.loads(client.first_message())["x-amz-signature"])


def test_the_token_has_the_signature_of_another_implementation():
    arguments = kafka_python_arguments(cluster(PROPERTIES))
    assert arguments["sasl_mechanism"] == "OAUTHBEARER"
    host, query = signed(arguments["sasl_oauth_token_provider"].token())
    assert host == "kafka.eu-west-1.amazonaws.com"
    assert query["Action"] == "kafka-cluster:Connect"
    assert query["X-Amz-Expires"] == "900"
    assert query["X-Amz-Credential"] == f"{KEY}/{query['X-Amz-Date'][:8]}/eu-west-1/kafka-cluster/aws4_request"
    assert query["X-Amz-Signature"] == signature(host, "eu-west-1", query["X-Amz-Date"])


def test_temporary_keys_sign_with_their_session(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_SESSION_TOKEN", "session/of+a=role")
    host, query = signed(kafka_python_arguments(cluster(PROPERTIES))["sasl_oauth_token_provider"].token())
    assert query["X-Amz-Security-Token"] == "session/of+a=role"
    assert query["X-Amz-Signature"] == signature(host, "eu-west-1", query["X-Amz-Date"], "session/of+a=role")


def test_a_profile_is_the_one_of_the_login_module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    (tmp_path / "credentials").write_text(f"[watcher]\naws_access_key_id={KEY}\naws_secret_access_key={SECRET}\n")
    (tmp_path / "config").write_text("[profile watcher]\nregion=ap-south-1\n")
    watched = cluster(jaas('awsProfileName="watcher"'), "kafka.internal:9098")
    host, query = signed(kafka_python_arguments(watched)["sasl_oauth_token_provider"].token())
    assert host == "kafka.ap-south-1.amazonaws.com"
    assert query["X-Amz-Signature"] == signature(host, "ap-south-1", query["X-Amz-Date"])


def test_a_token_is_kept_and_shared_by_the_clients_of_a_login():
    first, second = (kafka_python_arguments(cluster(PROPERTIES))["sasl_oauth_token_provider"] for _ in range(2))
    assert first is second
    assert first.token() == second.token()


def test_a_token_is_replaced_after_four_fifths_of_its_life(monkeypatch: pytest.MonkeyPatch):
    provider = IamTokenProvider(iam_login("client", PROPERTIES, [BROKER]))
    first = provider.token()
    now_s = time.time()
    monkeypatch.setattr(time, "time", lambda: now_s + 0.7 * 900)
    assert provider.token() == first
    monkeypatch.setattr(time, "time", lambda: now_s + 0.81 * 900)
    monkeypatch.setenv("AWS_SESSION_TOKEN", "newer")
    assert signed(provider.token())[1]["X-Amz-Security-Token"] == "newer"


def test_java_gets_the_classes_of_amazon():
    options = spark_options(cluster(PROPERTIES))
    assert options["kafka.sasl.jaas.config"] == f"{PACKAGE}.IAMLoginModule required;"
    assert options["kafka.sasl.client.callback.handler.class"] == f"{PACKAGE}.IAMClientCallbackHandler"
    options = spark_options(cluster(BY_TOKENS))
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
    assert options["kafka.sasl.jaas.config"] == f"{module} required;"
    for name in ("login", "client"):
        assert options[f"kafka.sasl.{name}.callback.handler.class"] == f"{PACKAGE}.IAMOAuthBearerLoginCallbackHandler"
    chosen = jaas('awsProfileName="watcher"')
    assert spark_options(cluster(chosen))["kafka.sasl.jaas.config"] == chosen["sasl.jaas.config"]


@pytest.mark.parametrize(
    ("properties", "sentence"),
    [
        (
            jaas('awsRoleArn="arn:aws:iam::1:role/r" awsRoleExternalId="tiger"'),
            "sasl.jaas.config: awsRoleExternalId works only in Java clients; use a profile of AWS's configuration,"
            " and awsProfileName.",
        ),
        (
            jaas('awsRoleArn="arn:aws:iam::1:role/r" awsProfileName="p"'),
            "sasl.jaas.config has awsProfileName and awsRoleArn; name the role in the profile.",
        ),
        (
            PROPERTIES | {"sasl.jaas.config": "a.PlainLoginModule required;"},
            f"sasl.jaas.config should use {PACKAGE}.IAMLoginModule.",
        ),
        (
            PROPERTIES | {"sasl.client.callback.handler.class": "a.Handler"},
            f"sasl.client.callback.handler.class should be {PACKAGE}.IAMClientCallbackHandler.",
        ),
        (
            PROPERTIES | {"sasl.username": "u"},
            "sasl.username and sasl.password have no meaning for AWS_MSK_IAM; use AWS's own configuration.",
        ),
    ],
)
def test_what_only_java_could_do_is_refused(properties: dict[str, str], sentence: str):
    with pytest.raises(ConfigError) as caught:
        spark_options(cluster(properties))
    assert caught.value.problems == (f"clusters.prod.client.{sentence}",)


def test_a_missing_signer_is_one_sentence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "aws_msk_iam_sasl_signer.MSKAuthTokenProvider", None)
    with pytest.raises(ConfigError) as caught:
        kafka_python_arguments(cluster(PROPERTIES))
    assert str(caught.value) == (
        "clusters.prod.client.sasl.mechanism: AWS_MSK_IAM needs the signer of Amazon: install groupwatch"
        " again with the extra iam (in a clone: pip install '.[iam]'), or use its image."
    )


def test_absent_credentials_and_regions_are_one_sentence(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(TokenError) as caught:
        kafka_python_arguments(cluster(PROPERTIES, "kafka.internal:9098"))["sasl_oauth_token_provider"].token()
    assert caught.value.args == ("the AWS region of the brokers is not known. Set the variable AWS_REGION.",)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    iam_tokens.cache_clear()
    with pytest.raises(ConnectionFailed) as refused:
        open_admin(cluster(PROPERTIES), 1)
    assert str(refused.value) == (
        "Cluster prod: AWS gives no credentials. Check the profile, the variables or the role of this machine."
    )
    with pytest.raises(ConnectionFailed) as refused:
        open_admin(cluster(jaas('awsProfileName="nobody"')), 1)
    assert str(refused.value) == (
        "Cluster prod: AWS gives no credentials (ProfileNotFound)."
        " Check the profile, the variables or the role of this machine."
    )

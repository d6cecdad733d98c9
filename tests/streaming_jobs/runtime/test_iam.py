"""Amazon's login module in Spark's JVM: its jars are fetched, its classes log in. There is no AWS here."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from monitor.config import ClusterSettings, Settings
from streaming_jobs.jobs.jars import needed_jars, needs_iam
from streaming_jobs.runtime.session import create_session, stop_session
from tests.collectors.kafka_client.test_iam import BROKER, BY_TOKENS, KEY, PROPERTIES, SECRET, signature, signed
from tests.streaming_jobs.runtime.java_admin import make_admin
from tests.support.job_process import BRIEF_JVM, DRIVER_JVM


def settings(properties: dict[str, str], **conf: str) -> Settings:
    return Settings.model_validate(
        {"clusters": {"prod": {"bootstrap_servers": BROKER, "client": properties}}, "spark": {"conf": conf}}
    )


@pytest.mark.parametrize(
    ("properties", "conf", "expected"),
    [
        (PROPERTIES, {}, True),
        (BY_TOKENS, {}, True),
        ({}, {}, False),
        (PROPERTIES, {"spark.jars": "/own/aws-msk-iam-auth-2.3.5-all.jar"}, False),
        (PROPERTIES, {"spark.jars.packages": "software.amazon.msk:aws-msk-iam-auth:2.3.5"}, False),
        ({"sasl.password": "${env:NO_SUCH_SECRET}"}, {}, False),
    ],
)
def test_amazons_jars_are_fetched_only_where_they_are_needed(
    properties: dict[str, str], conf: dict[str, str], expected: bool
):
    assert needs_iam(settings(properties, **conf)) == expected


@pytest.mark.spark
def test_both_ways_log_in_within_the_jvm_of_a_job(monkeypatch: pytest.MonkeyPatch):
    """Kafka's admin client logs in as it is made, before it reaches any broker."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    spark = create_session(
        "local[1]", 1, needed_jars(settings(PROPERTIES), lambda _line: None), {DRIVER_JVM: BRIEF_JVM}
    )
    try:
        for properties in (PROPERTIES, BY_TOKENS):
            make_admin(spark, ClusterSettings(name="prod", bootstrap_servers="127.0.0.1:1", client=properties))
        host, query = signed(java_token(spark))
        assert query["X-Amz-Signature"] == signature(host, "eu-west-1", query["X-Amz-Date"])
    finally:
        stop_session(spark)


def java_token(spark: SparkSession) -> str:
    """What Amazon's handler signs in Java."""
    jvm: Any = spark._jvm
    gateway: Any = spark.sparkContext._gateway
    entries = jvm.java.util.ArrayList()
    module, required = jvm.org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule, "REQUIRED"
    flag = getattr(jvm.javax.security.auth.login, "AppConfigurationEntry$LoginModuleControlFlag")
    name = module._fqn
    entry = jvm.javax.security.auth.login.AppConfigurationEntry
    entries.add(entry(name, getattr(flag, required), jvm.java.util.HashMap()))
    handler = jvm.software.amazon.msk.auth.iam.IAMOAuthBearerLoginCallbackHandler()
    handler.configure(jvm.java.util.HashMap(), "OAUTHBEARER", entries)
    callback = jvm.org.apache.kafka.common.security.oauthbearer.OAuthBearerTokenCallback()
    callbacks = gateway.new_array(jvm.javax.security.auth.callback.Callback, 1)
    callbacks[0] = callback
    handler.handle(callbacks)
    return str(callback.token().value())

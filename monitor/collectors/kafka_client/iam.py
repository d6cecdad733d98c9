"""AWS_MSK_IAM by the properties of Amazon's login module for Java, ``aws-msk-iam-auth``.

Amazon's brokers also accept its tokens by SASL OAUTHBEARER. kafka-python uses these; Java has a class for either.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from monitor.collectors.kafka_client.jaas import given_jaas, jaas_entry
from monitor.collectors.kafka_client.oauth import HANDLER_PROPERTY
from monitor.collectors.kafka_client.oauth import LOGIN_MODULE as OAUTH_MODULE
from monitor.collectors.kafka_client.oauth import MECHANISM as OAUTH
from monitor.config import ConfigError
from monitor.model import Value

MECHANISM: Final = "AWS_MSK_IAM"
CLIENT_HANDLER_PROPERTY: Final = "sasl.client.callback.handler.class"

_PACKAGE: Final = "software.amazon.msk.auth.iam"
LOGIN_MODULE: Final = f"{_PACKAGE}.IAMLoginModule"
CLIENT_HANDLER: Final = f"{_PACKAGE}.IAMClientCallbackHandler"
OAUTH_HANDLER: Final = f"{_PACKAGE}.IAMOAuthBearerLoginCallbackHandler"

REGION_VARIABLES: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")

_REGION: Final = re.compile(r"\.kafka(?:-serverless)?\.([a-z0-9-]+)\.(?:amazonaws\.com|api\.aws)(?:\.cn)?$")
_BOTH: Final = frozenset({"awsProfileName", "awsRoleArn", "awsRoleSessionName"})
_TUNES_JAVA: Final = frozenset({"awsDebugCreds", "awsMaxRetries", "awsMaxBackOffTimeMs", "awsShouldUseFips"})


class IamLogin(Value, frozen=True):
    """Who asks AWS for tokens."""

    place: str
    """Where the properties stand in the configuration."""

    mechanism: str
    """The mechanism of the Java client."""

    region: str = ""
    """The region of the brokers; empty: that of the profile."""

    profile: str = ""
    """The profile in AWS's configuration; empty: the default."""

    role: str = ""
    """The ARN of a role to assume; empty: none."""

    session: str = ""
    """The name of the session of that role; empty: the signer's default."""


def uses_iam(properties: Mapping[str, str]) -> bool:
    """Whether these properties log in by AWS's tokens, by either of the two mechanisms."""
    mechanism = properties.get("sasl.mechanism")
    return mechanism == MECHANISM or (mechanism == OAUTH and properties.get(HANDLER_PROPERTY) == OAUTH_HANDLER)


def iam_login(place: str, properties: Mapping[str, str], addresses: Sequence[str]) -> IamLogin:
    """Who asks AWS for the tokens of these properties.

    Args:
        place: where the properties stand in the configuration; errors name ``place.key``.
        properties: by their Java names, references resolved.
        addresses: those of the brokers, whose names have the region.

    Raises:
        ConfigError: what only the Java client can do.
    """
    options = _options(place, properties)
    if problems := [f"{place}.{problem}" for problem in _problems(options, properties)]:
        raise ConfigError(*problems)
    return IamLogin(
        place=place,
        mechanism=properties["sasl.mechanism"],
        region=_region(addresses),
        profile=options.get("awsProfileName", ""),
        role=options.get("awsRoleArn", ""),
        session=options.get("awsRoleSessionName", ""),
    )


def java_iam(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties with which Java gets the tokens: those that are not given.

    >>> java_iam({"sasl.mechanism": "AWS_MSK_IAM"})["sasl.jaas.config"]
    'software.amazon.msk.auth.iam.IAMLoginModule required;'
    """
    is_oauth = properties["sasl.mechanism"] == OAUTH
    usual = {
        "sasl.jaas.config": jaas_entry(OAUTH_MODULE if is_oauth else LOGIN_MODULE, {}),
        CLIENT_HANDLER_PROPERTY: OAUTH_HANDLER if is_oauth else CLIENT_HANDLER,
    }
    return {key: value for key, value in usual.items() if key not in properties}


def _options(place: str, properties: Mapping[str, str]) -> Mapping[str, str]:
    if "sasl.jaas.config" not in properties:
        return {}
    entry = given_jaas(place, properties)
    module = OAUTH_MODULE if properties["sasl.mechanism"] == OAUTH else LOGIN_MODULE
    if entry.module != module:
        raise ConfigError(f"{place}.sasl.jaas.config should use {module}.")
    return entry.options


def _problems(options: Mapping[str, str], properties: Mapping[str, str]) -> Iterator[str]:
    if {"sasl.username", "sasl.password"} & properties.keys():
        yield f"sasl.username and sasl.password have no meaning for {MECHANISM}; use AWS's own configuration."
    expected = OAUTH_HANDLER if properties["sasl.mechanism"] == OAUTH else CLIENT_HANDLER
    if properties.get(CLIENT_HANDLER_PROPERTY, expected) != expected:
        yield f"{CLIENT_HANDLER_PROPERTY} should be {expected}."
    if properties["sasl.mechanism"] == MECHANISM and HANDLER_PROPERTY in properties:
        yield f"{HANDLER_PROPERTY} has no meaning for {MECHANISM}; remove it."
    if others := sorted(options.keys() - _BOTH - _TUNES_JAVA):
        yield (
            f"sasl.jaas.config: {', '.join(others)} works only in Java clients; use a profile of AWS's configuration,"
            " and awsProfileName."
        )
    if {"awsProfileName", "awsRoleArn"} <= options.keys():
        yield "sasl.jaas.config has awsProfileName and awsRoleArn; name the role in the profile."


def _region(addresses: Sequence[str]) -> str:
    """The region in the name of a broker, or that of the environment.

    >>> _region(["b-1.x.y1.c2.kafka.eu-west-1.amazonaws.com:9098"])
    'eu-west-1'
    """
    for address in addresses:
        if found := _REGION.search(address.rpartition(":")[0]):
            return found[1]
    return next((os.environ[name] for name in REGION_VARIABLES if os.environ.get(name)), "")

"""AWS's tokens for kafka-python, made by Amazon's own signer: ``aws-msk-iam-sasl-signer-python``."""

from __future__ import annotations

import importlib
import threading
import time
from functools import lru_cache
from typing import Any, Final

from kafka.net.sasl.oauth import AbstractTokenProvider

from monitor.collectors.kafka_client.iam import MECHANISM, IamLogin
from monitor.collectors.kafka_client.tokens import Token, TokenError, is_due
from monitor.config import ConfigError
from monitor.model.installing import how_to_install

NEEDED: Final = f"needs the signer of Amazon: {how_to_install('iam')}."

_CHECK: Final = "Check the profile, the variables or the role of this machine."


class IamTokenProvider(AbstractTokenProvider):  # type: ignore[misc] # of a library without types
    """What a client of kafka-python takes its tokens from. One is signed for 15 minutes, and replaced after 12."""

    def __init__(self, login: IamLogin) -> None:
        """Prepare; nothing is signed yet.

        Raises:
            ConfigError: the signer is missing.
        """
        super().__init__()
        self._login = login
        self._signer = _signer(login.place)
        self._token: Token | None = None
        self._lock = threading.Lock()

    def token(self) -> str:
        """A token that is valid for a while.

        Raises:
            TokenError: AWS gives no credentials.
        """
        with self._lock:
            if self._token is None or is_due(self._token, time.time()):
                self._token = self._new_token()
            return self._token.text

    def _new_token(self) -> Token:
        now_s = time.time()
        try:
            text, expires_ms = self._sign()
        except TokenError:
            raise
        except AttributeError:  # of the signer, where AWS's library has found no credentials
            raise TokenError(f"AWS gives no credentials. {_CHECK}") from None
        # AWS's library makes classes of errors as it needs them. Their texts may have secrets.
        except Exception as error:
            raise TokenError(f"AWS gives no credentials ({type(error).__name__}). {_CHECK}") from None
        return Token(text=text, fetched_s=now_s, expires_s=expires_ms / 1000)

    def _sign(self) -> tuple[str, int]:
        """A token and its end (ms since 1970)."""
        login, region = self._login, self._login.region or _profile_region(self._login)
        token: tuple[str, int]
        if login.role:
            session = {"sts_session_name": login.session} if login.session else {}
            token = self._signer.generate_auth_token_from_role_arn(region, login.role, **session)
        elif login.profile:
            token = self._signer.generate_auth_token_from_profile(region, login.profile)
        else:
            token = self._signer.generate_auth_token(region)
        return token


@lru_cache(maxsize=64)
def iam_tokens(login: IamLogin) -> IamTokenProvider:
    """One provider for all clients that log in so: they share its token.

    Raises:
        ConfigError: the signer is missing.
    """
    return IamTokenProvider(login)


def _profile_region(login: IamLogin) -> str:
    session: Any = importlib.import_module("botocore.session").Session(profile=login.profile or None)
    region = session.get_config_variable("region")
    if not region:
        raise TokenError("the AWS region of the brokers is not known. Set the variable AWS_REGION.")
    return str(region)


def _signer(place: str) -> Any:  # noqa: ANN401 - it has no types
    try:
        return importlib.import_module("aws_msk_iam_sasl_signer.MSKAuthTokenProvider")
    except ImportError:
        raise ConfigError(f"{place}.sasl.mechanism: {MECHANISM} {NEEDED}") from None

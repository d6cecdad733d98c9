"""How to send requests to a guarded job: the authority of its certificate, and the credentials for it."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Final
from urllib.request import OpenerDirector, Request

from monitor.model import Value
from monitor.outgoing_http import CaFileError, http_opener, trusting


class WayInError(Exception):
    """What is given for the way in cannot be used; one sentence, without a secret."""


class WayIn(Value):
    """Files, and a user's name. ``ca_file`` None: the machine's own CAs count."""

    token_file: Path | None = None
    user: str | None = None
    password_file: Path | None = None
    ca_file: Path | None = None

    def opener(self) -> OpenerDirector:
        """What opens addresses so.

        Raises:
            WayInError: the CA file cannot be used.
        """
        try:
            return http_opener(trusting(self.ca_file))
        except CaFileError as error:
            raise WayInError(f"{self.ca_file} cannot be used ({error}).") from None

    def request(self, url: str) -> Request:
        """A request for this address that shows what is to be shown.

        Raises:
            WayInError: a file cannot be used, or the options do not belong together.
        """
        shown = self._authorization()
        return Request(url, headers={} if shown is None else {"Authorization": shown})  # noqa: S310, RUF100 -- checked

    def _authorization(self) -> str | None:
        if (self.user is None) != (self.password_file is None):
            raise WayInError("--user and --password-file are required together.")
        if self.token_file is not None and self.user is not None:
            raise WayInError("Give either --token-file or --user, not both.")
        if self.token_file is not None:
            return f"Bearer {_token(self.token_file)}"
        if self.user is None or self.password_file is None:
            return None
        if ":" in self.user:
            raise WayInError("--user must not contain a colon.")
        both = f"{self.user}:{_secret(self.password_file)}"
        return f"Basic {base64.b64encode(both.encode()).decode()}"


OPEN_WAY: Final = WayIn()
"""Nothing is shown."""


def _token(path: Path) -> str:
    """The first token of a file as the server has it: empty lines and those that begin with # are none."""
    for line in _secret(path).splitlines():
        token = line.strip()
        if token and not token.startswith("#"):
            if not token.isascii() or not token.isprintable():
                break
            return token
    raise WayInError(f"{path} has no token.")


def _secret(path: Path) -> str:
    """The text of a file without the end of its last line."""
    try:
        return path.read_text(encoding="utf-8").rstrip("\r\n")
    except OSError as error:
        raise WayInError(f"{path} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise WayInError(f"{path} is not text.") from None

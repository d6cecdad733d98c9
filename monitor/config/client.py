"""Client properties of one cluster: Java names, values that may refer to the environment or to a file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from monitor.config.client_words import WORDS, is_word
from monitor.config.errors import ConfigError
from monitor.config.files import small_text

HIDDEN: Final = "[hidden]"
SECRET_KEY: Final = re.compile(
    r"pass?w|passphrase|pwd|secret|jaas|token|key|credential|(?<![a-z])sas(?![a-z])", re.IGNORECASE
)
_NO_SECRET: Final = re.compile(
    r"ssl\.keystore\.(type|location|certificate\.chain)"
    r"|sasl\.oauthbearer\.(token\.endpoint\.url|client\.credentials\.client\.id)"
)
"""Names that look like those of secrets."""

_HARMLESS: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(values, re.IGNORECASE)
    for name, values in (
        (r"sasl\.mechanism", r"PLAIN|SCRAM-SHA-(256|512)|GSSAPI|OAUTHBEARER|AWS_MSK_IAM"),
        (r"sasl\.kerberos\.service\.name", r"[a-z]{1,20}"),
        (r"sasl\.username|client\.(id|rack)|sasl\.oauthbearer\.client\.credentials\.client\.id", r".*"),
        (r"sasl\.oauthbearer\.token\.endpoint\.url", r"(https?|file)://[^@?#]*"),
        (r"ssl\.enabled\.protocols", r"[ ,]*((TLS|SSL)(v[0-9.]+)?[ ,]*)*"),
        (r"ssl\.cipher\.suites", r"[ ,]*((TLS|SSL)_[A-Z0-9_]+[ ,]*)*"),
        (r"ssl\.(truststore|keystore)\.type", r"JKS|PKCS12|PEM|BCFKS"),
        (r"ssl\.(truststore|keystore)\.location", r".*/.*|.*\.(pem|crt|cer|jks|p12|pfx)"),
        (r"[a-z.]+\.(ms|bytes|records|connections|attempts)", r"-?[0-9]*"),
    )
}
"""Names of properties, beside those of WORDS, whose values are shown if they are like this.

Of any other property, also of one that is written wrong, the value may be a secret. What is no value that a property
can have may have been pasted into the wrong one.
"""

REFERENCE: Final = re.compile(r"\$\{(env|file):([^}]*)\}")


class ClientProperties:
    """The Kafka client properties of one cluster, by their Java names. Immutable; shows no secret when printed.

    A value may contain ``${env:NAME}`` and ``${file:/path}`` (the whole file, stripped). They are looked up by
    ``resolve``, not before, so that a rotated secret needs no new settings and settings can be shown.

    >>> ClientProperties({"security.protocol": "SASL_SSL", "sasl.password": "tiger"})
    ClientProperties({'security.protocol': 'SASL_SSL', 'sasl.password': '[hidden]'})
    """

    __slots__ = ("_properties",)

    def __init__(self, properties: Mapping[str, object] | None = None) -> None:
        """Take properties by dotted names, or as the nested tables that TOML makes of dotted names without quotes."""
        self._properties: Final[Mapping[str, str]] = texts(properties or {})

    def resolve(self, place: str = "client") -> dict[str, str]:
        """The properties with every reference replaced by what it refers to.

        Args:
            place: where the properties stand in the configuration; errors name ``place.key``.

        Raises:
            ConfigError: a variable that is not set or a file that cannot be read, one sentence each.
        """
        problems: list[str] = []
        resolved = {key: self._resolved(key, place, problems) for key in self._properties}
        if problems:
            raise ConfigError(*problems)
        return resolved

    def _resolved(self, key: str, place: str, problems: list[str]) -> str:
        def replacement(reference: re.Match[str]) -> str:
            try:
                return _looked_up(reference[1], reference[2])
            except LookupError as error:
                problems.append(f"{place}.{key} refers to {error.args[0]}.")
                return ""

        return REFERENCE.sub(replacement, self._properties[key])

    def __iter__(self) -> Iterator[str]:
        """The names, in the order in which they were given."""
        return iter(self._properties)

    def __eq__(self, other: object) -> bool:
        """Compare by content, references not looked up."""
        return isinstance(other, ClientProperties) and other._properties == self._properties

    def __hash__(self) -> int:
        """Agree with ``__eq__``."""
        return hash(tuple(sorted(self._properties.items())))

    def __repr__(self) -> str:
        """The properties with secrets hidden."""
        return f"ClientProperties({self.shown()})"

    def shown(self) -> dict[str, str]:
        """The properties as they may be shown: hidden is what is a secret, where one is, and what could be one."""
        return {key: value if _is_harmless(key, value) else HIDDEN for key, value in self._properties.items()}

    def is_written_out(self, key: str) -> bool:
        """Whether the value stands in the configuration itself and refers to no variable and no file."""
        return key in self._properties and REFERENCE.search(self._properties[key]) is None


def as_client_properties(given: object) -> object:
    """A table of the file as properties; anything else as it is, which is then refused."""
    return ClientProperties(given) if isinstance(given, Mapping) else given


def is_secret(key: str) -> bool:
    """Whether the value of this property must never be shown.

    >>> [is_secret(key) for key in ("sasl.jaas.config", "ssl.key.passwd", "fs.azure.sas.x", "ssl.keystore.type")]
    [True, True, True, False]
    """
    return SECRET_KEY.search(key) is not None and _NO_SECRET.fullmatch(key) is None


def _is_harmless(key: str, value: str) -> bool:
    if is_secret(key):
        return False
    is_reference = REFERENCE.fullmatch(value) is not None
    if key in WORDS:
        return is_reference or is_word(key, value)
    values = next((values for names, values in _HARMLESS.items() if re.fullmatch(names, key)), None)
    return values is not None and (is_reference or values.fullmatch(value) is not None)


def flattened(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """The entries of nested tables under dotted names, in their order.

    >>> dict(flattened({"ssl": {"truststore": {"type": "PEM"}}, "check.crcs": True}))
    {'ssl.truststore.type': 'PEM', 'check.crcs': True}
    """
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def texts(table: Mapping[str, object]) -> dict[str, str]:
    """The flattened entries as text; of two entries with the same name, the later one counts.

    Raises:
        ValueError: a value that is neither a text nor a number nor a truth value, or a NUL; names the entry.
    """
    found = {key: _text(key, value) for key, value in flattened(table)}
    if nul := next((key for key, value in found.items() if "\0" in key + value), None):
        raise ValueError(f"{nul} should have no NUL character")
    return found


def as_texts(given: object) -> object:
    """A table with its entries as :func:`texts`; anything else as it is, for a check after this one to refuse."""
    return texts(given) if isinstance(given, Mapping) else given


def _text(key: str, value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str() | int() | float():
            return str(value)
    raise ValueError(f"{key} should be a text, a number, or true or false")


def _looked_up(kind: str, name: str) -> str:
    if kind == "env":
        if name not in os.environ:
            raise LookupError(f"the environment variable {name}, which is not set")
        return os.environ[name]
    try:
        return small_text(Path(name)).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise LookupError(f"the file {name}, which cannot be read ({reason})") from None

"""Reading the settings: a TOML file, then the environment, which wins."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource

from monitor.config.alerts import AlertOverride, AlertsSettings
from monitor.config.client import flattened, is_secret
from monitor.config.dashboards import DashboardsSettings
from monitor.config.errors import ConfigError
from monitor.config.files import small_text
from monitor.config.history import HistorySettings
from monitor.config.http import HttpSettings
from monitor.config.metrics import MetricsOverride, MetricsSettings
from monitor.config.otlp import OtlpSettings
from monitor.config.settings import (
    ENVIRONMENT_DELIMITER,
    ENVIRONMENT_PREFIX,
    ClusterSettings,
    DetectionOptions,
    DetectionOverride,
    Settings,
    SparkSettings,
    shard_of_text,
)
from monitor.config.systems import RocketMQSettings, SparkQueriesSettings, ZooKeeperSettings
from monitor.config.webhook import WebhookSettings

SECTIONS: Final[Mapping[str, type[BaseModel]]] = {
    "clusters": ClusterSettings,
    "http": HttpSettings,
    "spark": SparkSettings,
    "detection": DetectionOptions,
    "rocketmq": RocketMQSettings,
    "zookeeper": ZooKeeperSettings,
    "spark_queries": SparkQueriesSettings,
    "metrics": MetricsSettings,
    "otlp": OtlpSettings,
    "webhook": WebhookSettings,
    "history": HistorySettings,
    "alerts": AlertsSettings,
    "dashboards": DashboardsSettings,
}

OVERRIDES: Final[Mapping[str, type[BaseModel]]] = {
    "detection": DetectionOverride,
    "metrics": MetricsOverride,
    "alerts": AlertOverride,
}
"""What the entries of a section's ``overrides`` are."""

FLAT_TABLES: Final[Mapping[str, str]] = {
    "clusters": "client",
    "zookeeper": "strategies",
    "spark_queries": "checkpoints",
}
"""Tables of named entries, with the key of what is a table of texts there."""

TEXTS: Final[Mapping[str, str]] = {
    "spark": "conf",
    "otlp": "headers",
    "webhook": "headers",
    "alerts": "labels",
    "dashboards": "instance_labels",
}
"""Other sections, with the key of what is a table of texts there."""

_SUBJECT: Final = re.compile(r"^(Value error, |Input |String |Dictionary |Tuple )")
"""How pydantic's messages begin, where our sentences have the key."""

LONGEST_SHOWN: Final = 80
"""So much is told of a name that cannot be one."""


def load(path: Path | None) -> Settings:
    """Read the settings from a file, if one is given, and from the environment.

    A variable is ``GROUPWATCH_`` and the path of the key, its parts joined by two underscores, in any case:
    ``GROUPWATCH_HTTP__PORT``, ``GROUPWATCH_CLUSTERS__PROD__CLIENT__SASL__PASSWORD``. Its names are read in lower case,
    and its value is taken as it is written.

    Raises:
        ConfigError: one sentence for each mistake.
    """
    problems = [*_unreadable_variables(), *_unknown_variables()]
    given: dict[str, Any] = {}
    try:
        given = {} if path is None else _with_flat_names(_read(path))
        settings = _FileAndEnvironment(**given)
    except RecursionError:
        raise ConfigError(*problems, "The configuration is nested too deeply.") from None
    except ValidationError as error:
        # The chain is cut: pydantic's own text shows the configured values.
        found = error.errors(include_url=False, include_input=False)
        known = _without_unknown_keys(given, found)
        raise ConfigError(*problems, *map(_sentence, found), known=known) from None
    if problems:
        raise ConfigError(*problems, known=settings)
    return settings


def _without_unknown_keys(given: dict[str, Any], found: Sequence[ErrorDetails]) -> Settings | None:
    """The settings without the keys that are not known, which are removed; None: these are not all that is wrong."""
    for error in found:
        if error["type"] != "extra_forbidden":
            return None
        _remove(given, error["loc"])
    try:
        return _FileAndEnvironment(**given)
    except (ValidationError, RecursionError):  # a variable has one, too
        return None


def _remove(given: dict[str, Any], place: Sequence[int | str]) -> None:
    """Remove what the file has at a place. It has nothing there if a variable of the environment gave it."""
    table: Any = given
    for part in place[:-1]:
        try:
            table = table[part]
        except (LookupError, TypeError):
            return
    if isinstance(table, dict):
        table.pop(place[-1], None)


def with_shard(settings: Settings, text: str | None) -> Settings:
    """The settings with the shard that the command line names; None: as they are.

    Raises:
        ConfigError: the text names no shard.
    """
    if text is None:
        return settings
    try:
        return settings.model_copy(update={"shard": shard_of_text(text)})
    except ValueError as error:
        raise ConfigError(f"--shard {error}.") from None


def with_compat(settings: Settings, text: str | None) -> Settings:
    """The settings with the other names of metrics that the command line asks for; None: as they are.

    Raises:
        ConfigError: there is none of that name.
    """
    if text is None:
        return settings
    try:
        named = MetricsSettings.model_validate({"compat": text}).compat
    except ValidationError:
        raise ConfigError("--compat should be kafka_exporter.") from None
    return settings.model_copy(update={"metrics": settings.metrics.model_copy(update={"compat": named})})


class _VerbatimEnvironment(EnvSettingsSource):
    """The environment, with every value kept as text: a password like 1e5 must not become a number."""

    def decode_complex_value(self, field_name: str, field: Any, value: Any) -> Any:  # noqa: ANN401, ARG002, RUF100 - inherited signature
        return value


class _FileAndEnvironment(Settings):
    """Settings whose arguments come from a file, so that the environment goes before them."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        del env_settings, dotenv_settings, file_secret_settings
        return _VerbatimEnvironment(settings_cls), init_settings


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(small_text(path))
    except OSError as error:
        raise ConfigError(f"The configuration file {path} cannot be read ({error.strerror}).") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"The configuration file {path} is not TOML: {error}.") from None
    except ValueError:  # what Python says of it is for programmers
        raise ConfigError(f"The configuration file {path} has a number with too many digits.") from None


def _with_flat_names(given: dict[str, Any]) -> dict[str, Any]:
    """The file's contents with the names of properties flat, so that the environment's come after them, and count."""

    def flat(table: object, key: str) -> object:
        if not isinstance(table, dict) or not isinstance(table.get(key), dict):
            return table
        return {**table, key: dict(flattened(table[key]))}

    for name, key in FLAT_TABLES.items():
        table = given.get(name)
        if isinstance(table, dict):
            given = {**given, name: {entry: flat(value, key) for entry, value in table.items()}}
    return {**given, **{name: flat(given[name], key) for name, key in TEXTS.items() if name in given}}


def _unreadable_variables() -> Iterator[str]:
    for variable, value in sorted(os.environ.items()):
        if variable.startswith(ENVIRONMENT_PREFIX) and not _is_utf8(variable + value):
            yield f"The environment variable {variable} is not UTF-8."


def _is_utf8(text: str) -> bool:
    """Whether it was; else Python has put halves of surrogates in place of bytes."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _unknown_variables() -> Iterator[str]:
    """Variables for a section that does not exist. pydantic-settings would pass over them."""
    for variable in sorted(os.environ):
        section, delimiter, _ = variable.removeprefix(ENVIRONMENT_PREFIX).lower().partition(ENVIRONMENT_DELIMITER)
        if variable.startswith(ENVIRONMENT_PREFIX) and delimiter and section not in SECTIONS:
            yield f"The environment variable {variable} belongs to no section{_suggestion(section, SECTIONS)}."


def _sentence(error: ErrorDetails) -> str:
    """One mistake, without the value: it might be a secret in the wrong place.

    >>> _sentence({"type": "missing", "loc": ("clusters", "a", "bootstrap_servers"), "msg": "", "input": None})
    'clusters.a.bootstrap_servers is required.'
    """
    key = _key(error["loc"])
    match error["type"]:
        case "name":
            table, name = _key(error["loc"][:-2]), str(error["loc"][-2])
            return f'{table}: "{name[:LONGEST_SHOWN]}" cannot be a name: {error["msg"]}.'
        case "missing" | "int_parsing_size" as kind:
            return f"{key} {'is required' if kind == 'missing' else 'should be a smaller number'}."
        case "extra_forbidden":
            return f"{key} is not a known key{_suggestion(str(error['loc'][-1]), _siblings(error['loc']))}."
        case "cluster_name" | "override_cluster" | "place_in_the_whole":
            return f"{error['msg']}."
        case "model_type" | "dict_type" | "model_attributes_type" | "string_type" as kind:
            return f"{key} should be a {'text' if kind == 'string_type' else 'table'}."
    message = _SUBJECT.sub("", error["msg"])
    return f"{key} {message if not is_secret(key) else 'cannot be used'}."


def _key(loc: tuple[int | str, ...]) -> str:
    """The place in the file; entries of a list are counted from 1.

    >>> _key(("detection", "overrides", 0, "groups"))
    'detection.overrides#1.groups'
    """
    parts = (f"#{part + 1}" if isinstance(part, int) else f".{part}" for part in loc)
    return "".join(parts).removeprefix(".")


def _siblings(loc: tuple[int | str, ...]) -> Mapping[str, object]:
    if len(loc) == 1:
        return Settings.model_fields
    section = OVERRIDES.get(str(loc[0])) if "overrides" in loc[:-1] else SECTIONS.get(str(loc[0]))
    return {} if section is None else {key: None for key in section.model_fields if key != "name"}


def _suggestion(word: str, known: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {near[0]}?)" if near else ""

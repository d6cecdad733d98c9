"""Reading the settings: a TOML file, then the environment, which wins."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource

from monitor.config.alerts import AlertOverride, AlertsSettings
from monitor.config.client import flattened
from monitor.config.dashboards import DashboardsSettings
from monitor.config.errors import ConfigError
from monitor.config.expectations import ExpectationsSettings
from monitor.config.files import read_toml
from monitor.config.history import HistorySettings
from monitor.config.http import HttpSettings
from monitor.config.metrics import MetricsOverride, MetricsSettings
from monitor.config.mistakes import mistake_sentence, suggestion
from monitor.config.otlp import OtlpSettings
from monitor.config.scale import ScaleSettings
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
    "expectations": ExpectationsSettings,
    "scale": ScaleSettings,
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
        given = {} if path is None else _with_flat_names(read_toml(path, f"The configuration file {path}"))
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
            yield f"The environment variable {variable} belongs to no section{suggestion(section, SECTIONS)}."


def _sentence(error: ErrorDetails) -> str:
    return mistake_sentence(error, _siblings(error["loc"]) if error["type"] == "extra_forbidden" else ())


def _siblings(loc: tuple[int | str, ...]) -> Iterable[str]:
    if len(loc) == 1:
        return Settings.model_fields
    section = OVERRIDES.get(str(loc[0])) if "overrides" in loc[:-1] else SECTIONS.get(str(loc[0]))
    return {} if section is None else {key: None for key in section.model_fields if key != "name"}

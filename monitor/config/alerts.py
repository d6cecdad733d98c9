"""The section ``[alerts]``: what the rules of ``groupwatch rules`` have in place of the shipped values."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, field_validator, model_validator

from monitor.config.client import as_texts
from monitor.config.receiver import is_web_address
from monitor.config.section import LONGEST_S, Section, as_words
from monitor.model.cluster_label import TAKEN_LABELS

SeverityName = Literal["critical", "warning", "info"]

_LABEL: Final = re.compile(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]*")
_FREE: Final = frozenset({"team"})
"""Labels of alerts that a setting may give in place of groupwatch."""

Labels = Annotated[dict[str, str], BeforeValidator(as_texts)]


def _checked_labels(given: dict[str, str]) -> dict[str, str]:
    for name, value in given.items():
        if not _LABEL.fullmatch(name) or name in TAKEN_LABELS - _FREE:
            raise ValueError("should have names of labels (letters, digits and _) that no alert of groupwatch has")
        if "{{" in value:
            raise ValueError("should have values without {{, where Prometheus would begin a template")
    return given


class AlertOverride(Section):
    """Other values for one alert; unset keys keep the shipped value."""

    alert: str = Field(min_length=1)
    """The name of the alert, as in [alerts.md](alerts.md#all-alerts)."""
    severity: SeverityName | None = None
    """Another severity. Inhibitions go by it."""
    age_s: int | None = Field(default=None, ge=1, le=LONGEST_S)
    """The age of the finding, or of the lag, from which the alert is about it. Only alerts that have an age take it."""
    for_s: int | None = Field(default=None, ge=0, le=LONGEST_S)
    """How long the condition must hold (Prometheus' `for`)."""
    labels: Labels = Field(default={})
    """A table of more labels of this alert. They override `labels` of `[alerts]`."""

    @field_validator("labels")
    @classmethod
    def _are_labels(cls, given: dict[str, str]) -> dict[str, str]:
        return _checked_labels(given)


class AlertsSettings(Section):
    """The alert rules that `groupwatch rules` writes ([alerts.md](alerts.md#rules-of-your-own-settings))."""

    disabled: Annotated[tuple[str, ...], BeforeValidator(as_words)] = ()
    """Names of alerts that have no rule, as in [alerts.md](alerts.md#all-alerts)."""
    labels: Labels = Field(default={})
    """A table of more labels of each alert, for example `team`."""
    runbook_url: str | None = Field(default=None, min_length=1)
    """Where `docs/runbooks.md` can be read. Each alert then has `runbook_url`, this address with the alert's name after
    a `#`. Not set: the runbooks that the page itself serves, if `external_url` of `[http]` is set; else alerts name the
    section of the file."""
    grafana_url: str | None = Field(default=None, min_length=1)
    """The address of your Grafana. Each alert then has `dashboard_url`, a dashboard of groupwatch there. Not set: no
    link."""
    overrides: tuple[AlertOverride, ...] = ()
    """Other values for some alerts, each a table `[[alerts.overrides]]`."""

    @field_validator("labels")
    @classmethod
    def _are_labels(cls, given: dict[str, str]) -> dict[str, str]:
        return _checked_labels(given)

    @field_validator("runbook_url", "grafana_url")
    @classmethod
    def _is_address(cls, given: str | None) -> str | None:
        if given is None:
            return None
        if not is_web_address(given) or "{{" in given or '"' in urlsplit(given).path:
            raise ValueError("should be http://HOST/PATH or https://HOST/PATH, without a user, a query and a fragment")
        return given.rstrip("/")

    @model_validator(mode="after")
    def _has_one_override_for_each(self) -> Self:
        names = [override.alert for override in self.overrides]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"should have one entry of overrides for {twice[0]}")
        return self

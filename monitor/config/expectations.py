"""A file of expectations, in which teams write down what their groups should look like: docs/expectations.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from monitor.config.errors import ConfigError
from monitor.config.files import read_toml
from monitor.config.http import FilePath
from monitor.config.mistakes import mistake_sentence
from monitor.config.section import LONGEST_S, Section, checked_expression
from monitor.expectations.expectation import Expectation, Expectations, MemberRange, Objective
from monitor.findings.table import FINDINGS
from monitor.model.findings import Severity


class ExpectationsSettings(Section):
    """What groups should look like ([expectations.md](expectations.md))."""

    file: FilePath | None = None
    """A file of expectations. A group that does not meet them has a finding, and the API says which groups do, for
    gates of rollouts. A change of the file needs no restart. Not set: nothing is expected."""


MOST_MEMBERS: Final = 1_000_000
"""More than any group has."""


class MembersTable(Section):
    """A number of members as a range."""

    min: int = Field(default=0, ge=0, le=MOST_MEMBERS)
    """At least so many members."""
    max: int | None = Field(default=None, ge=0, le=MOST_MEMBERS)
    """At most so many members; not set: any number."""

    @model_validator(mode="after")
    def _is_a_range(self) -> MembersTable:
        if self.max is not None and self.max < self.min:
            raise ValueError("should have a max that is at least its min")
        return self


_WINDOW: Final = re.compile(r"([1-9]\d{0,2})([dw])")
_DAYS: Final = {"d": 1, "w": 7}
SHORTEST_DAYS: Final = 7
"""The alerts of an objective look back three days; they say nothing of a shorter window."""
LONGEST_DAYS: Final = 366


MOST_DECIMALS: Final = 6
"""Of a percentage. More are no objective that can be measured, and tools would round them to 100."""


class SloTable(Section):
    """For how much of the time an expectation should be met."""

    percent: float = Field(gt=0, lt=100, allow_inf_nan=False)
    """So much of the time, in percent. Less than 100: without an error budget, there is nothing to alert on."""
    window: str = Field(json_schema_extra={"pattern": f"^{_WINDOW.pattern}$"})
    """Of so many days or weeks in a row, for example `30d` or `4w`."""

    @field_validator("percent")
    @classmethod
    def _has_few_decimals(cls, given: float) -> float:
        if round(given, MOST_DECIMALS) != given:
            raise ValueError(f"should have at most {MOST_DECIMALS} decimals")
        return given

    @field_validator("window")
    @classmethod
    def _is_a_window(cls, given: str) -> str:
        if not SHORTEST_DAYS <= _days(given) <= LONGEST_DAYS:
            raise ValueError(f"should be days or weeks, as 30d or 4w, from {SHORTEST_DAYS}d to {LONGEST_DAYS}d")
        return given

    def objective(self) -> Objective:
        """As a value."""
        return Objective(self.percent, _days(self.window))


def _days(window: str) -> int:
    """A window in days; 0: it is none."""
    found = _WINDOW.fullmatch(window)
    return 0 if found is None else int(found[1]) * _DAYS[found[2]]


def _as_range(given: object) -> object:
    """A number is a range of one number."""
    return {"min": given, "max": given} if isinstance(given, int) and not isinstance(given, bool) else given


Members = Annotated[MembersTable, BeforeValidator(_as_range, json_schema_input_type=int | MembersTable)]


class ExpectTable(Section):
    """An entry `[[expect]]`. Of each key, the first entry that matches a group and has the key counts."""

    groups: str = Field(min_length=1)
    """The groups: a regular expression of RE2 for the whole name."""
    cluster: str | None = Field(default=None, min_length=1)
    """Only groups of the cluster with this name; not set: every cluster."""
    team: str | None = Field(default=None, min_length=1)
    """Whose groups these are."""
    exists: bool | None = None
    """Whether there should be such a group (`true`), or none (`false`)."""
    members: Members | None = None
    """The number of members: `3`, or a range such as `{ min = 3, max = 6 }`."""
    protocol: Literal["classic", "consumer", "share", "streams"] | None = None
    """The group's protocol, as in Kafka's `group.protocol`; `consumer` is KIP-848."""
    assignor: str | None = Field(default=None, min_length=1)
    """The assignor that the group should use, for example `cooperative-sticky`."""
    static: bool | None = None
    """Whether all members should have a `group.instance.id` (`true`), or none (`false`)."""
    max_lag_s: float | None = Field(default=None, ge=0, le=LONGEST_S, allow_inf_nan=False)
    """The oldest record of the lag should not be older (seconds)."""
    max_share: float | None = Field(default=None, ge=1, allow_inf_nan=False)
    """The largest member should own at most this multiple of its partitions in an optimal assignment; `1.0` is even."""
    allow: tuple[str, ...] | None = None
    """Findings that are allowed, as `KIND` or `KIND/REASON`. Others of severity warning or critical are not."""
    slo: SloTable | None = None
    """For how much of the time all of this should be so: `{ percent = 99.5, window = "30d" }`."""

    @field_validator("groups")
    @classmethod
    def _is_an_expression(cls, given: str) -> str:
        return checked_expression(given)

    @field_validator("allow")
    @classmethod
    def _are_findings(cls, given: tuple[str, ...] | None) -> tuple[str, ...] | None:
        known = {name for row in FINDINGS for name in (str(row.kind), f"{row.kind}/{row.reason}")}
        unknown = next((each for each in given or () if each not in known), None)
        if unknown is not None:
            raise ValueError(f"has {unknown!r}, which is no finding: see docs/findings.md")
        return given

    def expectation(self) -> Expectation:
        """As a value."""
        return Expectation(
            groups=self.groups,
            cluster=self.cluster,
            team=self.team,
            exists=self.exists,
            members=None if self.members is None else MemberRange(self.members.min, self.members.max),
            protocol=self.protocol,
            assignor=self.assignor,
            static=self.static,
            max_lag_s=self.max_lag_s,
            max_share=self.max_share,
            allow=self.allow,
            slo=None if self.slo is None else self.slo.objective(),
        )


class ExpectationsFile(Section):
    """A file of expectations."""

    severity: Literal["critical", "warning", "info"] = "warning"
    """How bad it is if a group is not as expected: the severity of the job's findings and alerts."""
    expect: tuple[ExpectTable, ...]
    """The entries, each a table `[[expect]]`."""

    @field_validator("expect")
    @classmethod
    def _has_entries(cls, given: tuple[ExpectTable, ...]) -> tuple[ExpectTable, ...]:
        if not given:
            raise ValueError("should have an entry [[expect]]")
        return given


def load_expectations(path: Path) -> Expectations:
    """Read a file of expectations.

    Raises:
        ConfigError: one sentence for each mistake.
    """
    try:
        found = ExpectationsFile(**read_toml(path, str(path)))
    except RecursionError:
        raise ConfigError(f"{path} is nested too deeply.") from None
    except ValidationError as error:
        raise ConfigError(*[_sentence(each) for each in error.errors(include_url=False, include_input=False)]) from None
    entries = tuple([each.expectation() for each in found.expect])
    return Expectations(entries=entries, severity=Severity(found.severity))


def _sentence(error: ErrorDetails) -> str:
    tables: tuple[type[BaseModel], ...] = (ExpectationsFile, ExpectTable, MembersTable, SloTable)
    return mistake_sentence(error, [name for table in tables for name in table.model_fields])

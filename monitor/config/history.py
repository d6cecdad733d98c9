"""The section ``[history]``: whether, and where, what is read is recorded."""

from __future__ import annotations

from pydantic import Field, field_validator

from monitor.config.section import Patterns, Section, checked_expression
from monitor.model.group_choice import GroupChoice


class HistorySettings(Section):
    """The recording ([history.md](history.md)). Without a folder, nothing is recorded."""

    folder: str | None = Field(default=None, min_length=1)
    """The folder of the recording: a directory, or a URI of a file system that Spark is set up for (`hdfs://`,
    `s3a://`). Its tables are in the format of Delta Lake. Not set: groupwatch records nothing."""
    every_s: float = Field(default=60.0, ge=1, le=3_600, allow_inf_nan=False)
    """How often the recording is written. Commits between two writings are thinned ([history.md](history.md)), so a
    longer interval takes less space."""
    keep_days: int = Field(default=30, ge=1, le=3650)
    """For how many days the recording is kept. Older days are deleted once a day; the file system has their space again
    a week later."""

    allow_groups: Patterns = ()
    """RE2, for the whole name: only matching groups are recorded. Empty: all."""
    deny_groups: Patterns = ()
    """RE2, for the whole name: matching groups are not recorded, from this start of the job on. It overrides
    ``allow_groups``."""

    @field_validator("allow_groups", "deny_groups")
    @classmethod
    def _are_expressions(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(checked_expression, given))

    @property
    def groups(self) -> GroupChoice:
        """Which groups are recorded."""
        return GroupChoice(allow=self.allow_groups, deny=self.deny_groups)

    @property
    def is_on(self) -> bool:
        """Whether anything is recorded."""
        return self.folder is not None

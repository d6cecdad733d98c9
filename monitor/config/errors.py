"""The one error of the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitor.model.escaping import escaped

if TYPE_CHECKING:
    from monitor.config.settings import Settings


class ConfigError(Exception):
    """The configuration cannot be used. ``problems`` has one sentence for each mistake, and each names its key.

    The text never contains a configured value that could be a secret. ``known`` are the settings without the keys that
    are not known, so that their other mistakes can be told, too; None: they are no settings even so.
    """

    def __init__(self, *problems: str, known: Settings | None = None) -> None:
        self.problems = tuple(map(escaped, problems))
        self.known = known
        super().__init__("\n".join(self.problems))

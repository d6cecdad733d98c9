"""The one error of the configuration."""

from __future__ import annotations

from monitor.model.escaping import escaped


class ConfigError(Exception):
    """The configuration cannot be used. ``problems`` has one sentence for each mistake, and each names its key.

    The text never contains a configured value that could be a secret.
    """

    def __init__(self, *problems: str) -> None:
        self.problems = tuple(map(escaped, problems))
        super().__init__("\n".join(self.problems))

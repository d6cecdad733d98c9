"""What is found of a configuration before anything starts. No text in it holds a secret."""

from __future__ import annotations

from monitor.model import Value


class Property(Value):
    """One client property or setting as it may be shown."""

    name: str
    value: str


class Watched(Value):
    """One entry of the configuration that would be watched.

    ``place`` is where it stands ("clusters.prod"), ``how`` says in words what is read there and by whom.
    """

    place: str
    kind: str
    addresses: tuple[str, ...]
    how: str
    properties: tuple[Property, ...] = ()


class Connection(Value):
    """What one watched system answered, as a sentence."""

    place: str
    is_fine: bool
    sentence: str


class ConfigReport(Value):
    """All that is told of a configuration.

    ``problems`` keep the command from starting, ``warnings`` do not. ``connections`` is None if nobody was asked.
    """

    file: str
    command: str
    watched: tuple[Watched, ...] = ()
    settings: tuple[Property, ...] = ()
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    connections: tuple[Connection, ...] | None = None

    @property
    def can_start(self) -> bool:
        """Whether nothing is known that would keep the command from starting."""
        return not self.problems and all(each.is_fine for each in self.connections or ())

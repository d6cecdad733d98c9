"""Whether what answers at an address is what answered there before: a rebuilt Kafka has the address of the old one."""

from __future__ import annotations

from monitor.collectors.errors import AnotherSource


class KnownSource:
    """Remembers the id of what is read. One for each collector; ``replaced`` may be read from any thread."""

    def __init__(self, cluster: str) -> None:
        """Nothing is known yet. ``cluster`` is the name that a sentence begins with."""
        self._cluster = cluster
        self.expected: str | None = None
        """The id of what is to be read; None: of whatever is read first."""
        self.replaced: str | None = None
        """The problem that something else was read, as a sentence; nothing is read from then on."""

    def require(self, found: str | None) -> None:
        """See that it is the same, before anything of it is written.

        Args:
            found: the id of what was read just now; None: it has none, or the server is too old to tell it.

        Raises:
            AnotherSource: it is another one than was expected, or than before.
        """
        if found is None or self.expected in (None, found):
            self.expected = self.expected or found
            return
        self.replaced = source_change_sentence(self._cluster, self.expected or "", found)
        raise AnotherSource(self.replaced)


def source_change_sentence(cluster: str, before: str, now: str) -> str:
    """What to say of it.

    >>> source_change_sentence("prod", "AbC", "XyZ")
    'Cluster prod: another system answers at this address: its id is XyZ, and was AbC.'
    """
    return f"Cluster {cluster}: another system answers at this address: its id is {now}, and was {before}."

"""How often the same warning is logged: what comes and goes fills no log, and its end is logged once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

REPEAT_MS: Final = 600_000
"""The same warning is logged at most once in so many ms."""


@dataclass(slots=True)
class _Logged:
    at_ms: int
    held: int = 0
    """How often it has begun since then without a line of its own."""


@dataclass(slots=True)
class RepeatedWarning:
    """The warnings about one thing, of which at most one is true at a time.

    ``logged`` is the name of the one that the log ends with, and None after its end.
    """

    logged: str | None = None
    _is: str | None = None
    _lines: dict[str, _Logged] = field(default_factory=dict)

    def line(self, warning: str, now_ms: int, name: str | None = None) -> str | None:
        """The line to log for a warning that is true now; None: the log has it. To be called now and then.

        Args:
            warning: the sentence.
            now_ms: now, by a clock that only goes forward.
            name: what makes it the same as another, if its text says since when it is true; None: its text.

        >>> pole = RepeatedWarning()
        >>> pole.line("No broker answers.", 0), pole.line("No broker answers.", 1_000), pole.end()
        ('No broker answers.', None, True)
        >>> pole.line("No broker answers.", 2_000), pole.end(), pole.line("No broker answers.", 600_000)
        (None, False, 'No broker answers. (2 times in the last 10 minutes)')
        """
        name = warning if name is None else name
        is_new, self._is = self._is != name, name
        last = self._lines.get(name)
        if last is not None and now_ms - last.at_ms < REPEAT_MS:
            last.held += is_new
            return None
        if last is not None and not is_new and not last.held and self.logged == name:
            return None
        self._lines = {each: line for each, line in self._lines.items() if now_ms - line.at_ms < REPEAT_MS}
        self._lines[name] = _Logged(now_ms)
        self.logged = name
        times = 0 if last is None else last.held + is_new
        minutes = 0 if last is None else (now_ms - last.at_ms) // 60_000
        return warning if times < 2 else f"{warning} ({times} times in the last {minutes} minutes)"

    def end(self) -> bool:
        """Take that none is true. Whether the end is to be logged: the log has the warning, and not its end."""
        self._is = None
        is_news, self.logged = self.logged is not None, None
        return is_news

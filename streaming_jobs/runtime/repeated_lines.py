"""The lines of a log without those that were there a while ago: each once, and then how often.

On a machine that has no time for Spark's workers, Spark logs the same traces at each try: 180 lines in ten seconds.
Lines of the JVM and of its Python workers mix, so this goes by lines, and not by traces.
"""

from __future__ import annotations

import re
from typing import Final

FORGOTTEN_AFTER_S: Final = 600.0
"""A line that was not there for so long is news again."""

MOST_LINES: Final = 5_000
"""So many are remembered; then all are forgotten, as more than a few hundred are no repetition."""

_CHANGING: Final = re.compile(rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\d+")
"""What differs between two lines of the same sentence: times, counts, addresses, ids of runs and names of sockets."""

_TRACE_LINE: Final = re.compile(rb"\s|Caused by: |Traceback \(|During handling of |The above exception was |$")
"""How the lines of a trace begin that say nothing without the sentence before or behind them."""


class RepeatedLines:
    """Remembers lines, and says which of the next ones to write."""

    def __init__(self) -> None:
        self._seen: dict[bytes, tuple[int, float]] = {}
        self._left_out = 0

    def take(self, line: bytes, now_s: float) -> bytes | None:
        """What to write for a line at a time in seconds of any clock: None, nothing.

        A sentence that is repeated is written again with its number when that is 2, 4, 8 and so on. Lines of a trace
        are written once; of those left out before another one, there is a line.
        """
        is_trace = _TRACE_LINE.match(line) is not None
        count = self._count(line if is_trace else _CHANGING.sub(b"#", line), now_s)
        if count == 1:
            return self._gap(is_followed_up=is_trace) + line
        if is_trace:
            self._left_out += 1
            return None
        self._left_out = 0
        is_power_of_two = count & (count - 1) == 0
        return b"%b (%d times by now)\n" % (line.rstrip(b"\r\n"), count) if is_power_of_two else None

    def _count(self, sentence: bytes, now_s: float) -> int:
        if len(self._seen) >= MOST_LINES:
            self._seen.clear()
        count, last_s = self._seen.get(sentence, (0, now_s))
        count = 1 if now_s - last_s > FORGOTTEN_AFTER_S else count + 1
        self._seen[sentence] = count, now_s
        return count

    def _gap(self, *, is_followed_up: bool) -> bytes:
        """A line for what was left out before the next line of a trace."""
        left_out, self._left_out = self._left_out, 0
        return b"\t... lines as above: %d\n" % left_out if is_followed_up and left_out else b""

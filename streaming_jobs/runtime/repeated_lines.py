"""The lines of a log without those that were there a while ago: each once, and then how often.

On a machine that has no time for Spark's workers, Spark logs the same traces at each try: 180 lines in ten seconds.
Lines of the JVM and of its Python workers mix, so this goes by lines, and by blocks: what follows the line of a log.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from hashlib import blake2b
from typing import Final

AGAIN_AFTER_S: Final = 3_600.0
"""A line that comes again is written again if it was not written for so long."""

MOST_LINES: Final = 5_000
"""So many are remembered, as digests of 16 bytes; the one that was not there for the longest time is forgotten."""

_STAMP: Final = re.compile(rb"\[?(?:\d{2,4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?|\d+[.,]\d+s\b)")
"""When a line was logged: by log4j, or by the JVM itself, in seconds since its start."""

_CHANGING: Final = re.compile(
    rb"""
      \d{2,4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?
    | [0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}
    | (?<=@)[0-9a-f]{1,8}(?![\w-]|\.\w)               # the identity of an object of Java
    | \b0x[0-9a-fA-F]{9,16}\b                         # an address in memory
    | (?<=:)(?:3[3-9]|[4-6]\d)\d{3}(?!\d)             # the port of a client: another one for each connection
    | (?<![\w:-])\d{5,} | \d{9,}
    | (?<=\bstage\ )[\d.]+ | (?<=\bTID\ )\d+          # Spark counts them on with each try
    | \d+(?=\ (?:ms|milliseconds)\b)
    """,
    re.VERBOSE,
)
"""What differs between two lines of the same sentence: instants, ids, how long something took, and long numbers.

Short numbers tell errors apart: exit codes, HTTP's codes, ids of brokers. So do those in names: prod1, ORA-00942.
Ports below 33000 are those of servers: the system numbers clients from 32768 on, Kubernetes its nodes' ports up to it.
"""


class _Kind(Enum):
    """What a line is to those around it."""

    LOG = auto()
    SENTENCE = auto()
    TRACEBACK = auto()
    CAUSE = auto()
    FRAME = auto()
    BLANK = auto()


_KINDS: Final = (
    (re.compile(rb"\s*$"), _Kind.BLANK),
    (re.compile(rb"\s*(?:Caused by|Suppressed): "), _Kind.CAUSE),
    (re.compile(rb"Traceback \("), _Kind.TRACEBACK),
    (re.compile(rb"\s|During handling of |The above exception was "), _Kind.FRAME),
    (_STAMP, _Kind.LOG),
)
"""How the lines of each kind begin; any other one is a sentence: mostly, the name of an error and its message."""

_SENTENCES: Final = (_Kind.LOG, _Kind.SENTENCE)


class RepeatedLines:
    """Remembers lines, and says which of the next ones to write."""

    def __init__(self) -> None:
        self._lines: dict[bytes, _Line] = {}
        self._before = _Kind.BLANK
        self._is_traceback_open = False
        self._is_block_written = False
        self._left_out = 0

    def take(self, line: bytes, now_s: float) -> bytes | None:
        """What to write for a line at a time in seconds of any clock: None, nothing.

        A sentence that is repeated is written again with its number when that is 2, 4, 8 and so on, and after an hour.
        Lines of a trace are written once, and once an hour in a block that is written. Such a block is also written
        with its error and its causes, and with a line for those of its lines that are left out.
        """
        kind = _kind(line)
        end = self._next_block() if self._begins_block(kind) else b""
        sentence = _sentence(line)
        seen = self._count(sentence)
        is_written = self._is_due(kind, seen, now_s)
        before = self._gap() if is_written and self._needs_gap(kind, seen) else b""
        self._remember(kind, is_written=is_written)
        if not is_written:
            return end or None
        seen.written_s = now_s
        text = _with_number(line, sentence, seen.count) if kind in _SENTENCES and seen.count > 1 else line
        return end + before + text

    def _begins_block(self, kind: _Kind) -> bool:
        match kind:
            case _Kind.LOG:
                return True
            case _Kind.TRACEBACK:  # behind a blank line, it is another one of the same error
                return self._before is not _Kind.BLANK
            case _Kind.SENTENCE:  # the last line of a traceback is its error
                return self._before in {_Kind.FRAME, _Kind.BLANK} and not self._is_traceback_open
        return False

    def _next_block(self) -> bytes:
        """Begin a block. Of the last one, what is to be written yet."""
        end = self._gap() if self._is_block_written else b""
        self._is_block_written = False
        self._left_out = 0
        return end

    def _is_due(self, kind: _Kind, seen: _Line, now_s: float) -> bool:
        is_old = now_s - seen.written_s > AGAIN_AFTER_S
        if seen.count == 1 or (kind in _SENTENCES and (is_old or seen.count & (seen.count - 1) == 0)):
            return True
        is_error = kind is _Kind.CAUSE or (kind is _Kind.SENTENCE and self._before is _Kind.LOG)
        return self._is_block_written and (is_old or is_error)

    def _needs_gap(self, kind: _Kind, seen: _Line) -> bool:
        """Whether lines were left out that a reader would miss: the number of a repeated sentence says as much."""
        return self._is_block_written or seen.count == 1 or kind not in _SENTENCES

    def _remember(self, kind: _Kind, *, is_written: bool) -> None:
        self._before = kind
        self._is_block_written |= is_written
        if kind in _SENTENCES:
            self._is_traceback_open = False
        elif kind is _Kind.TRACEBACK:
            self._is_traceback_open = True
        if is_written:
            self._left_out = 0
        elif kind not in _SENTENCES:
            self._left_out += 1

    def _count(self, sentence: bytes) -> _Line:
        """The line of this sentence, which has come once more."""
        key = blake2b(sentence, digest_size=16).digest()
        line = self._lines.pop(key, None) or _Line()
        if len(self._lines) >= MOST_LINES:
            del self._lines[next(iter(self._lines))]
        self._lines[key] = line
        line.count += 1
        return line

    def _gap(self) -> bytes:
        """A line for what was left out, if something was."""
        left_out, self._left_out = self._left_out, 0
        return b"\t... lines as above: %d\n" % left_out if left_out else b""


class _Line:
    """How often a line was there, and when it was written last."""

    __slots__ = ("count", "written_s")

    def __init__(self) -> None:
        self.count = 0
        self.written_s = 0.0


def _kind(line: bytes) -> _Kind:
    return next((kind for pattern, kind in _KINDS if pattern.match(line)), _Kind.SENTENCE)


def _sentence(line: bytes) -> bytes:
    """What lines that count together have in common."""
    return _CHANGING.sub(b"#", _STAMP.sub(b"", line, count=1) if _STAMP.match(line) else line)


def _with_number(line: bytes, sentence: bytes, count: int) -> bytes:
    """The line with its number, which says if the lines before it may have been a little different."""
    text = line.rstrip(b"\r\n")
    number = b"%d times by now" % count if line.endswith(sentence) else b"alike: %d by now" % count
    return b"%b (%b)\n" % (text, number)

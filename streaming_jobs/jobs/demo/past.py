"""What the demo says to try about its past: three commands, with the times of what it has seen and recorded."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Final

from monitor.config.http import HttpSettings
from monitor.history.instants import instant_text
from monitor.model import ClusterSnapshot, FindingKind, Value

RECORD_EVERY_S: Final = 20.0
"""How often the demo writes its recording: a newcomer does not wait a minute for it."""
SHORTEST_MS: Final = 3_000
"""A finding that lasted less is hard to meet with an instant in whole seconds."""
BEFORE_MS: Final = 60_000
"""How long before the finding the report begins."""
AFTER_MS: Final = 20_000
"""How long after it the recording must reach: so the report says that it is over, and there is more to try."""


class _Seen(Value):
    """A finding of a group, from when until when it was seen (ms since the epoch)."""

    group: str
    since_ms: int
    last_ms: int


class PastCommands:
    """Looks at each snapshot, until a finding of partitions without an owner is over and recorded."""

    def __init__(self, url: str, folder: Path) -> None:
        """Prepare them; nothing is written yet.

        Args:
            url: The address of the job.
            folder: The recording; the configuration to try is written beside it.
        """
        self._url = url
        self._folder = folder
        self._tried = folder.with_name("other-thresholds.toml")
        self._seen: _Seen | None = None
        self._is_told = False

    def look(self, cluster: ClusterSnapshot) -> tuple[str, ...]:
        """The commands, once: for the first snapshot whose recording has the finding and what came after it."""
        if self._is_told or cluster.evaluated_ms is None:
            return ()
        if self._see(cluster, cluster.evaluated_ms):
            return ()
        seen, recorded_ms = self._seen, cluster.recording.recorded_ms if cluster.recording else None
        if seen is None or recorded_ms is None or recorded_ms < seen.last_ms + AFTER_MS:
            return ()
        self._is_told = True
        self._tried.write_text(_other_thresholds(self._folder), encoding="utf-8")
        return self._commands(cluster.cluster, seen)

    def _see(self, cluster: ClusterSnapshot, now_ms: int) -> bool:
        """Remember the finding that there is now, if there is one."""
        for group in cluster.groups:
            for finding in group.findings:
                if finding.kind is FindingKind.ORPHANED and now_ms - finding.since_ms >= SHORTEST_MS:
                    self._seen = _Seen(group=group.group, since_ms=finding.since_ms, last_ms=now_ms)
                    return True
        return False

    def _commands(self, cluster: str, seen: _Seen) -> tuple[str, ...]:
        at = instant_text((seen.since_ms + seen.last_ms) // 2_000 * 1_000)
        since = instant_text((seen.since_ms - BEFORE_MS) // 1_000 * 1_000)
        asked_by_default = f"http://127.0.0.1:{HttpSettings().port}"
        url = [] if self._url == asked_by_default else ["--url", self._url]
        program = _program()
        return tuple(
            shlex.join([program, *words])
            for words in (
                ["explain", cluster, seen.group, "--at", at, *url],
                ["report", cluster, seen.group, "--since", since, *url],
                ["backtest", "--config", str(self._tried), "--since", since],
            )
        )


def _other_thresholds(recording: Path) -> str:
    """A configuration that waits for commits as long as by default, and not as long as the demo."""
    return f"[history]\nfolder = {json.dumps(str(recording))}\n\n[detection]\ncommit_silence_s = 60\n"


def _program() -> str:
    """The command as it can be typed here."""
    own, found = Path(sys.executable).with_name("groupwatch"), shutil.which("groupwatch")
    if not own.exists() or (found is not None and Path(found).samefile(own)):
        return "groupwatch"
    return str(own.relative_to(Path.cwd())) if own.is_relative_to(Path.cwd()) else str(own)

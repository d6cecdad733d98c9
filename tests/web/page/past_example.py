"""A recording in memory, asked as a job asks that in its folder."""

from __future__ import annotations

from typing import Final

from monitor.detection.evaluation_input import GroupInputs
from monitor.history.chronicle import Chronicle
from monitor.history.chronicler import chronicle_of
from monitor.history.replay import Recording, inputs_at
from monitor.history.story import GroupStory, tell_story
from tests.history.test_story import HISTORY, START

NOW_MS: Final = START + 3_600_000
"""An hour after the first events; the recording reaches five minutes."""


class MemoryPast:
    """The past of that recording: group g of cluster c, which loses the owner of partition 1 for half a minute."""

    def __init__(self, recording: Recording = HISTORY) -> None:
        self._recording = recording

    def inputs(self, cluster: str, group: str, at_ms: int) -> GroupInputs | None:
        return inputs_at(self._recording, cluster, group, at_ms)

    def story(self, cluster: str, group: str, since_ms: int, until_ms: int) -> GroupStory | None:
        return tell_story(self._recording, cluster, group, since_ms, until_ms)

    def chronicle(self, cluster: str, group: str, since_ms: int, until_ms: int) -> Chronicle | None:
        return chronicle_of(self._recording, cluster, group, since_ms, until_ms)

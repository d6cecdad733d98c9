"""What every scene of the demo has: something real that starts, and steps at which something goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SceneStep:
    """Something that happens ``at_s`` seconds after the beginning, and the sentence that tells it."""

    at_s: float
    group: str
    sentence: str
    do: Callable[[], object]


class Scene(Protocol):
    """One system: its servers and clients, started in order and kept by a stack; and what happens there."""

    def start(self, running: ExitStack) -> None:
        """Start all of it.

        Raises:
            ServerFailed, ClientsFailed, JarsNotResolved, JavaNotFound: something did not start.
        """

    def steps(self) -> Sequence[SceneStep]:
        """What goes wrong, and is put right."""

"""Judge a bucket: its groups against the catalog, as summaries and as metrics. What is told twice is told once.

What is right and wrong is decided by monitor.detection, how it reads by monitor.metrics; here rows are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from monitor.detection.evaluate import judge
from monitor.detection.settings import DetectionSettings
from monitor.detection.standing import Standings
from monitor.detection.topics import Topics
from monitor.metrics.deflate import deflated
from monitor.metrics.publish import summary_of
from monitor.metrics.render import render_groups
from monitor.metrics.specs import METRICS
from monitor.model import GroupState, GroupVerdict
from streaming_jobs.orders import Orders
from streaming_jobs.rows import BucketRow, RowKind

FAMILIES: Final = tuple(spec.name for spec in METRICS)
UNKNOWN: Final = "?"
"""Differs from every text of samples."""
NEVER: Final = -2


@dataclass(slots=True)
class BucketJudge:
    """The judge of one bucket in one Python worker. It remembers what it has told, and in which micro-batch."""

    number: int
    settings: DetectionSettings
    _standings: Standings = field(default_factory=Standings)
    _summaries: dict[str, bytes] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)
    _told: int = NEVER

    def rows(self, groups: Mapping[str, GroupState], topics: Topics, orders: Orders) -> Iterator[BucketRow]:
        """What the driver has to be told of these groups, which are all of the bucket.

        That is what differs from what this judge told in the micro-batch before; if another worker told the driver
        then, or if the driver knows nothing, it is all of it.
        """
        if self._told != orders.known:
            self._summaries, self._texts = {}, dict.fromkeys(FAMILIES, UNKNOWN)
        self._told = orders.batch
        self._forget_all_but(groups)
        verdicts: list[GroupVerdict] = []
        changed: list[msgspec.Raw] = []
        for name, state in groups.items():
            try:
                verdict = judge(state, topics, self._standings.of(state, topics), orders.now_ms, self.settings)
                summary = msgspec.msgpack.encode(summary_of(verdict))
            except Exception as error:  # one group's failure is its own; the others go on
                yield from self._failed(name, error)
                continue
            verdicts.append(verdict)
            if self._summaries.get(name) != summary:
                self._summaries[name] = summary
                changed.append(msgspec.Raw(summary))
        if changed:
            yield BucketRow(self.number, RowKind.SUMMARIES, "", msgspec.msgpack.encode(changed))
        yield from self._changed_blocks(verdicts)

    def _failed(self, name: str, error: Exception) -> Iterator[BucketRow]:
        text = f"{type(error).__name__}: {error}"
        yield BucketRow(self.number, RowKind.FAILURE, f"group/{name}", text.encode("utf-8", "replace"))
        yield BucketRow(self.number, RowKind.SUMMARIES, name, None)
        self._summaries.pop(name, None)

    def start_anew(self) -> None:
        """The driver has been told to forget the bucket: tell it all."""
        self._told = NEVER

    def _forget_all_but(self, groups: Mapping[str, GroupState]) -> None:
        """A group that is gone was forgotten by the driver too; if it comes back, it is told as new."""
        self._standings.keep_only(groups.keys())
        for gone in self._summaries.keys() - groups.keys():
            del self._summaries[gone]

    def _changed_blocks(self, verdicts: list[GroupVerdict]) -> Iterator[BucketRow]:
        texts = {block.family: block for block in render_groups(verdicts)}
        for family in FAMILIES:
            block = texts.get(family)
            text = block.samples if block else ""
            if self._texts.get(family, "") != text:
                self._texts[family] = text
                payload = msgspec.msgpack.encode(deflated(text.encode())) if block else None
                yield BucketRow(self.number, RowKind.BLOCK, family, payload)

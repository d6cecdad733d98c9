"""The schemas between the stages, which are all that Spark sees; payloads are opaque bytes."""

from __future__ import annotations

from typing import Final

ENTITY_EVENTS: Final = "bucket INT, entity STRING, name STRING, position LONG, payload BINARY"
"""What decode gives: one row for each entity and chunk, ``payload`` its events in order (MessagePack list).

``position`` orders the rows of one entity (its offset in the source log); rows of different entities have no order.
"""

ENTITY_STATES: Final = "entity STRING, name STRING, payload BINARY"
"""What track gives, every trigger: one row for each entity of every bucket; also the rows of the stored state."""

EVALUATED: Final = "row STRING, name STRING, payload BINARY"
"""What evaluate gives: ``row`` says how to read ``payload`` (see :class:`streaming_jobs.evaluation.RowKind`)."""

"""Cases for MetaQ's strategies as JSON writes them, and answers in the form of the golden vectors.

A case is an object: ``consumers`` and ``partitions`` of a topic in the order in which a strategy gets them, and ``ask``
(the consumers that allocate).
"""

from __future__ import annotations

import msgspec
from msgspec import ValidationError

from monitor.assignors.metaq.consishash import Consishash
from monitor.assignors.metaq.default import Default
from monitor.assignors.metaq.strategy import Strategy
from monitor.model import Value


class Case(Value):
    """A topic's partitions, a group's consumers, and who asks."""

    consumers: tuple[str, ...]
    partitions: tuple[str, ...]
    ask: tuple[str, ...]


def answer(assignor: str, case_input: object) -> dict[str, object]:
    """What each consumer of ``ask`` takes or why it fails.

    >>> answer("metaq.default", {"consumers": ["c"], "partitions": ["0-0"], "ask": ["c", "d"]})
    {'assignment': {'c': ['0-0'], 'd': []}}

    Raises:
        ValidationError: the object is not a case, or there is no such strategy.
    """
    case = msgspec.convert(case_input, Case)
    shares = _strategy(assignor).allocate(case.partitions, case.consumers, case.ask)
    errors = {share.client: share.error for share in shares if share.error is not None}
    said: dict[str, object] = {"assignment": {s.client: list(s.queues) for s in shares if s.queues is not None}}
    return said | {"errors": errors} if errors else said


def _strategy(assignor: str) -> Strategy:
    match assignor:
        case "metaq.default":
            return Default()
        case "metaq.consishash":
            return Consishash()
        case _:
            raise ValidationError(f"No such strategy of MetaQ: {assignor[:100]!r}")

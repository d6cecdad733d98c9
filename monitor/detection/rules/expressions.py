"""Clients of RocketMQ that subscribe to one topic of their group with different expressions: it loses records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.ownership.context import Facts
from monitor.detection.rules.rule import Rule
from monitor.findings.advice import ROCKETMQ
from monitor.findings.observation import Observation
from monitor.findings.subscriptions import MixedExpressions, TopicExpressions
from monitor.model import FindingKind
from monitor.model.expressions import differing_expressions


def find_mixed_expressions(facts: Facts) -> Iterable[Observation]:
    """Topics with different expressions, since the first poll that found them."""
    state = facts.group.rocketmq
    if state is None or not state.mixed_since_ms:
        return
    mixed = differing_expressions(facts.group.members)
    if mixed:
        names = {name for by_text in mixed.values() for own in by_text.values() for name in own}
        yield Observation(
            kind=FindingKind.SUBSCRIPTION,
            reason="mixed_expressions",
            since_ms=facts.not_later_than_now(state.mixed_since_ms),
            evidence=MixedExpressions(tuple(TopicExpressions(topic, by) for topic, by in mixed.items())),
            members=tuple(sorted(names)),
        )


RULES: Final = (Rule(find_mixed_expressions, of_owners=False, kinds=ROCKETMQ),)

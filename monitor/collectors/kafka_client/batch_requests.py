"""Questions about many things at once: what is told is used, and what is not is said in the log, once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from kafka.errors import (
    AuthorizationError,
    BrokerResponseError,
    KafkaError,
    RequestTimedOutError,
    TopicAuthorizationFailedError,
    UnsupportedVersionError,
)

from monitor.collectors.kafka_client.connection import error_name

Item = TypeVar("Item", bound=Hashable)
Answer = TypeVar("Answer")

GROUPS_PER_REQUEST: Final = 100
"""A broker answers a question as a whole: more groups would only make it and its connection wait longer at a time."""

REQUEST_WIDE_ERRORS: Final = (RequestTimedOutError, TopicAuthorizationFailedError, UnsupportedVersionError)
"""Errors of a broker that would be the same for each half of the question."""


class BatchRequests:
    """Asks, and keeps in mind what was not told, so that each kind of failure is said once until it has healed."""

    def __init__(self, say: Callable[[str], None], needed: str = "Kafka 2.8") -> None:
        """Prepare.

        Args:
            say: is given a sentence without its full stop for each new kind of failure.
            needed: the oldest brokers that answer these questions.
        """
        self._say = say
        self._needed = needed
        self._not_told: dict[tuple[str, str], set[Hashable]] = {}

    def ask(
        self, question: str, items: Sequence[Item], answer: Callable[[Sequence[Item]], Mapping[Item, Answer]]
    ) -> dict[Item, Answer | None]:
        """The answers by item: None where the user may not know, and no entry where the cluster did not tell.

        kafka-python raises the error of one item and drops the answers for the others, so these are asked again in
        halves.

        Args:
            question: what is asked for, as the beginning of a sentence.
            items: what it is asked for.
            answer: asks the cluster about some of the items.
        """
        try:
            told = answer(items)
        except (KafkaError, OSError) as error:
            if len(items) > 1 and _may_concern_one_item(error):
                middle = len(items) // 2
                return self.ask(question, items[:middle], answer) | self.ask(question, items[middle:], answer)
            self.note_failure(question, items, error)
            return dict.fromkeys(items) if isinstance(error, AuthorizationError) else {}
        self.note_success(question, [item for item in items if told.get(item) is not None])
        return dict(told)

    def note_failure(self, question: str, items: Sequence[Hashable], error: Exception) -> None:
        """Keep in mind, and say if it is new, that a question was not answered for these items."""
        kind = (question, self._reason(error))
        if items and kind not in self._not_told:
            self._not_told[kind] = set()
            self._say(f"{question}: not available ({kind[1]})")
        if items:
            self._not_told[kind].update(items)

    def _reason(self, error: Exception) -> str:
        if isinstance(error, UnsupportedVersionError):
            return f"its brokers are older than {self._needed}"
        if isinstance(error, AuthorizationError):
            return f"the user lacks permission, {error_name(error)}"
        return f"{error_name(error)}, retrying"

    def note_success(self, question: str, items: Sequence[Hashable]) -> None:
        """Keep in mind that a question was answered for these items."""
        for kind, concerned in list(self._not_told.items()):
            if kind[0] == question:
                concerned.difference_update(items)
                if not concerned:
                    del self._not_told[kind]


def _may_concern_one_item(error: Exception) -> bool:
    return isinstance(error, BrokerResponseError) and not isinstance(error, REQUEST_WIDE_ERRORS)


def split_into_batches(groups: Sequence[str]) -> Iterator[Sequence[str]]:
    """The groups in portions for one question each."""
    for start in range(0, len(groups), GROUPS_PER_REQUEST):
        yield groups[start : start + GROUPS_PER_REQUEST]

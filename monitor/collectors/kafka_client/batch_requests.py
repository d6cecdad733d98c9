"""Requests for many items at once: the answers are used, and each kind of failure is logged once."""

from __future__ import annotations

import logging
import time
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
from monitor.readiness.repeated_warning import RepeatedWarning

Item = TypeVar("Item", bound=Hashable)
Answer = TypeVar("Answer")

GROUPS_PER_REQUEST: Final = 100
"""A broker answers a question as a whole: more groups would only make it and its connection wait longer at a time."""

REQUEST_WIDE_ERRORS: Final = (RequestTimedOutError, TopicAuthorizationFailedError, UnsupportedVersionError)
"""Errors of a broker that would be the same for each half of the question."""


LASTS_S: Final = 30.0
"""How long a request must fail until that is logged: a partition that gets a new leader is no news."""

STAYS: Final = (AuthorizationError, UnsupportedVersionError)
"""Errors that only an operator can end: they are logged at once."""

log = logging.getLogger(__name__)


class BatchRequests:
    """Makes requests, and keeps what failed, so that each kind of failure is logged once until it has healed."""

    def __init__(
        self, cluster: str, meanwhile: str, needed: str = "Kafka 2.8", clock_s: Callable[[], float] = time.monotonic
    ) -> None:
        """Prepare.

        Args:
            cluster: the name of the cluster.
            meanwhile: the consequence as long as a question is not answered, as a sentence without its capital letter.
            needed: the oldest brokers that answer these questions.
            clock_s: gives seconds that only go forward.
        """
        self._cluster = cluster
        self._meanwhile = meanwhile
        self._needed = needed
        self._clock_s = clock_s
        self._not_told: dict[tuple[str, str], set[Hashable]] = {}
        self._failing_since_s: dict[str, float] = {}
        self._warnings: dict[tuple[str, str], RepeatedWarning] = {}

    def warn(self, what: str) -> None:
        """Say this in the log, and the consequence."""
        log.warning("Cluster %s: %s; %s", self._cluster, what, self._meanwhile)

    def ask(
        self, question: str, items: Sequence[Item], answer: Callable[[Sequence[Item]], Mapping[Item, Answer]]
    ) -> dict[Item, Answer | None]:
        """The responses by item: None where the user may not read it, and no entry where the cluster did not return it.

        kafka-python raises the error of one item and drops the responses for the others, so these are requested again
        in halves.

        Args:
            question: the request, as the beginning of a sentence.
            items: what it is about.
            answer: requests some of the items of the cluster.
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
        """Keep in mind, and say if it is new and lasts, that a question was not answered for these items."""
        if not items:
            return
        kind = (question, self._reason(error))
        self._not_told.setdefault(kind, set()).update(items)
        since_s = self._failing_since_s.setdefault(question, self._clock_s())
        is_lasting = isinstance(error, STAYS) or self._clock_s() - since_s >= LASTS_S
        if is_lasting:
            warnings = self._warnings.setdefault(kind, RepeatedWarning())
            line = warnings.line(f"{question}: not available ({kind[1]})", int(self._clock_s() * 1000))
            if line is not None:
                self.warn(line)

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
        if question in self._failing_since_s and not any(kind[0] == question for kind in self._not_told):
            self._note_healed(question)

    def _note_healed(self, question: str) -> None:
        del self._failing_since_s[question]
        ended = [each.end() for kind, each in self._warnings.items() if kind[0] == question]
        if any(ended):
            log.info("Cluster %s: %s: available again", self._cluster, question)


def _may_concern_one_item(error: Exception) -> bool:
    return isinstance(error, BrokerResponseError) and not isinstance(error, REQUEST_WIDE_ERRORS)


def split_into_batches(groups: Sequence[str]) -> Iterator[Sequence[str]]:
    """The groups in portions for one question each."""
    for start in range(0, len(groups), GROUPS_PER_REQUEST):
        yield groups[start : start + GROUPS_PER_REQUEST]

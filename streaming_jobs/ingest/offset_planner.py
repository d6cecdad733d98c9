"""How far a micro-batch reads each partition of a log: planned here, in place of Spark's own reader of offsets.

Spark's reader asks the brokers one after the other, and waits for each as long as its client allows; one broker that
hangs stops the reading of all partitions. Its source has no option for that. But all that the source wants of its
reader is where the logs end. So a query that starts gets another reader, which is a Java proxy for this module. A
partition whose leader does not answer then "ends" where it has been read to, and is not read until the leader answers
(docs/decisions/0061-partitions-that-answer.md).

This depends on names inside of Spark's connector (4.2.0): ``KafkaMicroBatchStream.kafkaOffsetReader``, the trait
``KafkaOffsetReader``, and ``JsonUtils.partitionOffsets``. A connector without them ends the query with an error.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from monitor.collectors.errors import ConnectionFailed
from monitor.collectors.kafka.carried_ends import QueryEnds
from monitor.collectors.kafka.leader_table import Place
from monitor.collectors.kafka.log_ends import Ends

log = logging.getLogger(__name__)

ASK_AGAIN_S: Final = 0.5
ENDS_WITHIN_S: Final = 5
"""How long a query may take to end whose sources could not be made."""

CUT: Final = (
    "Partition %d of %s went back from offset %d to %d. Its log was truncated, as by an unclean leader election, or the"
    " topic was created again. Reading continues there. Groups may show commits that the brokers no longer have."
)

_STREAM: Final = "KafkaMicroBatchStream"


class QueryEnding(Exception):  # noqa: N818 -- it is no failure
    """The query is to end while nothing can be read."""


def ends_to_plan(read: Mapping[Place, int], found: Ends) -> dict[Place, int]:
    """How far each partition is read now.

    To its end; a partition that is silent stays where it is. A new leader may know of an earlier end for a moment: that
    is no reason to go back. Where the log was cut, reading goes back to the cut.

    >>> ends_to_plan({("t", 0): 5, ("t", 1): 5, ("t", 2): 5}, Ends(ends={("t", 0): 9, ("t", 1): 4}))
    {('t', 0): 9, ('t', 1): 5, ('t', 2): 5}
    >>> ends_to_plan({("t", 0): 5}, Ends(ends={("t", 0): 9}, cut={("t", 0): 3}))
    {('t', 0): 3}
    """
    return {
        place: found.cut[place] if place in found.cut else max(offset, found.ends.get(place, offset))
        for place, offset in read.items()
    }


def start_planned(
    writer: DataStreamWriter, name: str, ends: QueryEnds, is_ending: Callable[[], bool]
) -> StreamingQuery:
    """Start a query whose micro-batches are planned here, from the first one on.

    Spark's own reader must not get even one call: where a broker hangs it may never return. So its sources are made,
    and given our reader, while Spark reports that the query has started: before its thread reads anything.

    Args:
        writer: of a query that reads Kafka.
        name: what Spark calls the query; no other that runs has it.
        ends: gives where the logs of all its topics end.
        is_ending: whether the query is to end, which is checked while no broker answers.

    Raises:
        RuntimeError: the query has no source whose reader is known here.
        StreamingQueryException: its sources could not be made.
    """
    streams = writer._spark.streams
    first = _BeforeTheFirstRead(writer._spark, name, ends, is_ending)
    streams.addListener(first)
    try:
        query = writer.queryName(name).start()
    finally:
        streams.removeListener(first)
    # What keeps the sources from being made ends the query, and ``awaitTermination`` raises it.
    if not first.is_planned and not query.awaitTermination(ENDS_WITHIN_S):
        query.stop()
        raise RuntimeError("this version of Spark's Kafka connector cannot be given a reader of offsets")
    return query


class _BeforeTheFirstRead(StreamingQueryListener):
    """Is called in the thread of a query that starts, which continues when the call returns."""

    def __init__(self, spark: SparkSession, name: str, ends: QueryEnds, is_ending: Callable[[], bool]) -> None:
        self._session: Any = spark._jsparkSession
        self._name = name
        self._ends = ends
        self._is_ending = is_ending
        self.is_planned = False

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 -- Spark's name
        """Make the sources, which Spark has not done yet, and give them our reader."""
        if event.name != self._name:
            return
        running = self._session.streams().get(str(event.id)).streamingQuery()
        running.logicalPlan()  # this makes them; what goes wrong goes wrong again in the query, which ends with it
        sources = [each for each in _items_of(running.sources()) if each.getClass().getSimpleName() == _STREAM]
        for source in sources:
            _set_reader(source, self._ends, self._is_ending)
        self.is_planned = bool(sources)

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802 -- Spark's name
        """Do nothing: it is of another query, while this one starts."""

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802 -- Spark's name
        """Do nothing: it is of another query, while this one starts."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802 -- Spark's name
        """Do nothing: it is of another query, while this one starts."""


def _set_reader(source: Any, ends: QueryEnds, is_ending: Callable[[], bool]) -> None:  # noqa: ANN401 -- Py4J has no types
    assigned = json.loads(str(_field(source, "options").get(source).get("assign")))
    places = [(topic, number) for topic, numbers in assigned.items() for number in numbers]
    planner = OffsetPlanner(source.kafkaOffsetReader(), places, ends, is_ending)
    _field(source, "kafkaOffsetReader").set(source, planner)


def _field(source: Any, name: str) -> Any:  # noqa: ANN401 -- Py4J has no types
    found = source.getClass().getDeclaredField(name)
    found.setAccessible(True)
    return found


def _items_of(sequence: Any) -> Iterator[Any]:  # noqa: ANN401 -- Py4J has no types
    """The items of a sequence of Scala's."""
    for number in range(sequence.size()):
        yield sequence.apply(number)


def _places_of(text: str) -> dict[Place, int]:
    """Offsets by place, from Spark's JSON of them."""
    told: dict[str, dict[str, int]] = json.loads(text)
    return {(topic, int(number)): offset for topic, of_topic in told.items() for number, offset in of_topic.items()}


class OffsetPlanner:
    """Plans the micro-batches of one Kafka source. Spark's thread calls it, so its methods have Spark's names."""

    def __init__(
        self,
        original: Any,  # noqa: ANN401 -- Py4J has no types
        places: list[Place],
        ends: QueryEnds,
        is_ending: Callable[[], bool],
    ) -> None:
        """Prepare.

        Args:
            original: Spark's own reader of offsets. It connects to no broker until its first call for an offset.
            places: the partitions that the source is assigned.
            ends: gives where their logs end.
            is_ending: whether the query is to end.
        """
        self._original = original
        jvm: Any = SparkContext._jvm
        self._offsets = jvm.org.apache.spark.sql.kafka010.JsonUtils.partitionOffsets
        self._places = places
        self._ends = ends
        self._is_ending = is_ending

    def fetchLatestOffsets(self, known: Any) -> Any:  # noqa: ANN401, N802 -- Spark's name
        """Where the logs end. Waits as long as no leader answers of all that the query reads, in other sources too."""
        read = dict.fromkeys(self._places, 0)
        if known.isDefined():
            told = self._from_java(known.get())
            read = {place: told.get(place, 0) for place in self._places}
        found = self._await_ends(read)
        for (topic, partition), end in found.cut.items():
            log.warning(CUT, partition, topic, read[topic, partition], end)
        return self._in_java(ends_to_plan(read, found))

    def fetchEarliestOffsets(self, *new: Any) -> Any:  # noqa: ANN401, N802 -- Spark's name
        """Where the logs start; of the partitions that are new to the source, if some are named."""
        places = [(str(each.topic()), int(each.partition())) for each in _items_of(new[0])] if new else self._places
        return self._in_java(self._starts(places))

    def getOffsetRangesFromResolvedOffsets(self, start: Any, end: Any, report: Any) -> Any:  # noqa: ANN401, N802 -- Spark's name
        """What each task reads: arithmetic of Spark's. It would ask the brokers itself for the starts of new logs."""
        if start.size() != end.size():
            begun = self._from_java(start)
            new = [place for place in self._from_java(end) if place not in begun]
            start = self._in_java({**begun, **self._starts(new)})
        return self._original.getOffsetRangesFromResolvedOffsets(start, end, report)

    def _starts(self, places: list[Place]) -> dict[Place, int]:
        """Where these logs start; 0 where no leader says it: what is gone by then is skipped, as it is of any log."""
        starts = self._ends.starts(places) if places else {}
        return {place: starts.get(place, 0) for place in places}

    def close(self) -> None:
        """The source has ended. Whoever gave ``ends`` closes them."""
        self._original.close()

    def toString(self) -> str:  # noqa: N802 -- Java's name
        """What Spark reports of the source, as before."""
        return str(self._original.toString())

    def hashCode(self) -> int:  # noqa: N802 -- Java's name
        """Java's."""
        return id(self) & 0x7FFFFFFF

    def equals(self, other: object) -> bool:
        """Java's."""
        return self is other

    class Java:
        """What Py4J makes a proxy of."""

        implements: Final = ("org.apache.spark.sql.kafka010.KafkaOffsetReader",)

    def _await_ends(self, read: Mapping[Place, int]) -> Ends:
        while not self._is_ending():
            with suppress(ConnectionFailed):  # what else goes wrong ends the query, and its next start says it
                found = self._ends.ask(read)
                if found.ends or not read or self._ends.is_read_elsewhere:
                    return found
            time.sleep(ASK_AGAIN_S)
        raise QueryEnding

    def _in_java(self, offsets: Mapping[Place, int]) -> Any:  # noqa: ANN401 -- Py4J has no types
        told: dict[str, dict[str, int]] = {}
        for (topic, partition), offset in offsets.items():
            told.setdefault(topic, {})[str(partition)] = offset
        return self._offsets(json.dumps(told))

    def _from_java(self, offsets: Any) -> dict[Place, int]:  # noqa: ANN401 -- Py4J has no types
        return _places_of(str(self._offsets(offsets)))

"""Which queries of the dashboards a Prometheus that scrapes the demo has no answer to, and why that may be."""

from __future__ import annotations

from typing import Final

from tests.dashboards.boards import ALL, Window, asked, faults

NO_METAQ: Final = "only MetaQ counts in bytes, and the plain demo has none"
NO_SKIP: Final = "no group of the demo passes a thousand records at once"
NO_RETENTION: Final = "nothing of the demo is old or large enough to be removed"
NO_SUCH_MISHAP: Final = "does not happen in the demo"
ALL_WELL: Final = "nothing is unreadable in the demo"
NO_CAP: Final = "the demo sets no cap on the number of series"
NOT_FOR_LONG: Final = "the demo shows it for seconds, which a busy machine may miss"

NO_TASKS: Final = "the demo has no Kafka Streams application"
NO_CONNECT: Final = "the demo has no Connect cluster"
NO_SHARE: Final = "the demo has no share group"

SILENT: Final = {
    "fleet: Findings by kind B": NO_SUCH_MISHAP,
    "fleet: Findings by kind C": NOT_FOR_LONG,
    "fleet: Findings by kind D": NOT_FOR_LONG,
    "fleet: Findings by kind E": NO_SUCH_MISHAP,
    "fleet: Findings by kind F": NO_RETENTION,
    "fleet: Closest to losing records A": NO_RETENTION,
    "fleet: Largest lag in bytes (MetaQ) A": NO_METAQ,
    "group: Lag D": "no transaction is open in the demo",
    "group: Lag as a share of retained records A": NO_RETENTION,
    "group: Lost records A": NO_RETENTION,
    "group: Lost records B": NO_RETENTION,
    "group: Lost records C": NO_SKIP,
    "group: Lost records D": NO_SKIP,
    "group: Partitions that stop, stall or rewind A": NOT_FOR_LONG,
    "group: The 200 partitions with the largest lag C": NO_METAQ,
    "group: Oldest orphan B": "no group of the demo loses all of its members",
    "itself: Series left out A": NO_CAP,
    "group: Drifted partitions by kind A": NOT_FOR_LONG,
    "group: Oldest drift A": NOT_FOR_LONG,
    "group: Members B": NO_SUCH_MISHAP,
    "group: Members C": NO_SUCH_MISHAP,
    "group: Members D": NO_SUCH_MISHAP,
    "group: Lag in bytes (MetaQ) A": NO_METAQ,
    "group: Lag of partitions in bytes (MetaQ) A": NO_METAQ,
    "group: Consumed and produced, partitions with lag (MetaQ) A": NO_METAQ,
    "group: Consumed and produced, partitions with lag (MetaQ) B": NO_METAQ,
    "group: Tasks A": NO_TASKS,
    "group: Tasks B": NO_TASKS,
    "group: Task imbalance A": NO_TASKS,
    "group: Connectors and tasks A": NO_CONNECT,
    "group: Connectors and tasks without a worker A": NO_CONNECT,
    "group: Remaining wait for a lost worker A": NO_CONNECT,
    "group: Waiting for redelivery A": NO_SHARE,
    "group: Waiting for redelivery B": NO_SHARE,
    "group: Largest delivery count A": NO_SHARE,
    "group: Outcomes of records A": NO_SHARE,
    "group: Outcomes of records B": NO_SHARE,
    "group: Outcomes of records C": NO_SHARE,
    "group: Time since the last acknowledgment A": NO_SHARE,
    "itself: Recording writable A": "the demo records nothing",
    "itself: Unreadable records in 5 minutes A": ALL_WELL,
    "itself: Backlog after a start A": NOT_FOR_LONG,
    "itself: Backlog after a start B": NOT_FOR_LONG,
    "itself: Time until ready A": NOT_FOR_LONG,
    "topics: Consumer groups and their lag (the 200 with the largest lag) C": NO_METAQ,
    "topics: Consumer groups and their lag (the 200 with the largest lag) D": NO_RETENTION,
}
"""Queries that may have no answer in the demo, by their place. Each of them has one where everything is fed."""


SHOWN_S: Final = 300
"""The demo is over before."""


def board_faults(url: str) -> dict[str, list[str]]:
    """What is wrong with the answers of a Prometheus to all queries, by their place, without what may be.

    It has scraped the demo every second. A query is fine if it had an answer at any moment of the demo.
    """
    window = Window(scrape_s=1, shown_s=SHOWN_S)
    found = {query.place: faults(url, query, ALL, window) for query in asked()}
    return {place: said for place, said in found.items() if said and not (said == ["no data"] and place in SILENT)}

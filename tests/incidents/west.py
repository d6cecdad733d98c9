"""The incidents of the cluster ``west``: a broker that keeps committed offsets for a minute once a group is empty."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

from monitor.demo.servers.settings import BrokerSettings
from tests.incidents.crew import Crew
from tests.incidents.incident import Incident
from tests.support.clients import create_topic
from tests.support.frail_consumer import POISON

SETTINGS: Final = BrokerSettings(
    heap_mb=384, properties={"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "2000"}
)
TOPICS: Final = {"orders": 4, "payments-settled": 2, "emails": 2, "texts": 1, "stock": 4, "shipping": 2, "reports": 2}
RESTART_S: Final = 21.0
CRASHED_S: Final = 6.0


def prepare(crew: Crew) -> None:
    """Topics, and groups that have nothing wrong."""
    for topic, partitions in TOPICS.items():
        create_topic(crew.bootstrap, topic, partitions)
    for group, topic, count in (("ledger", "payments-settled", 1), ("warehouse", "orders", 2), ("fraud", "orders", 1)):
        for number in range(count):
            crew.consume(group, f"{group}-{number}", topic)


def subscribe_to_a_misspelled_topic(crew: Crew) -> None:
    """Its configuration has a dot where the name of the topic has a dash."""
    for number in range(2):
        crew.consume("payouts", f"payouts-{number}", "payments.settled")


def give_two_pods_one_static_id(crew: Crew) -> None:
    """The third replica has the number of the second."""
    for pod, number in (("a", 0), ("b", 1), ("c", 1)):
        crew.consume("stock", f"stock-7c9d-{pod}", "stock", group_instance_id=f"stock-{number}")


def run_two_applications(crew: Crew) -> None:
    """One of them is deployed again and again."""
    for number in range(2):
        crew.consume("notifications", f"mailer-{number}", "emails")

    def deploy() -> None:
        while not crew.over.is_set():
            member = crew.consume("notifications", "texter", "texts")
            crew.over.wait(RESTART_S)
            crew.stop(member)

    crew.work(deploy)


def put_a_record_that_ends_consumers(crew: Crew) -> None:
    """Whoever reads it is gone, and is started again."""

    def live(number: int) -> None:
        words = (crew.bootstrap, "shipping", f"shipping-{number}", f"shipping-{number}")
        while not crew.over.is_set():
            process = subprocess.Popen([sys.executable, "-m", "tests.support.frail_consumer", *words])
            while process.poll() is None and not crew.over.wait(0.5):
                pass
            process.terminate()
            process.wait(60)
            crew.over.wait(CRASHED_S)

    for number in range(2):
        crew.work(lambda number=number: live(number))  # type: ignore[misc]

    def spoil() -> None:
        crew.over.wait(40)
        crew.write("shipping", 0, 1, POISON)

    crew.work(spoil)


def leave_for_longer_than_offsets_are_kept(crew: Crew) -> None:
    """Its consumer is stopped for maintenance."""

    def live() -> None:
        member = crew.consume("reports", "reports-0", "reports")
        crew.over.wait(30)
        crew.stop(member)

    crew.work(live)


INCIDENTS: Final = (
    Incident("payouts", "subscription/nothing_to_read", "west", subscribe_to_a_misspelled_topic),
    Incident("stock", "rebalance/static_replacements", "west", give_two_pods_one_static_id),
    Incident("notifications", "rebalance/different_subscriptions", "west", run_two_applications),
    Incident("shipping", "lag/stuck_record", "west", put_a_record_that_ends_consumers),
    Incident("reports", "offsets/expired", "west", leave_for_longer_than_offsets_are_kept),
)

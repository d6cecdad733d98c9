"""Groups that read by POP and fail, as public reports have them: where RocketMQ puts what they did not acknowledge."""

from __future__ import annotations

from monitor.collectors.rocketmq.redelivery import redelivery_by_group, redelivery_topics
from monitor.model.rocketmq import RedeliveryObserved
from monitor.protocol.rocketmq.responses import Queue, QueueRange

ORDERS, REFUNDS = Queue("orders", "broker-a", 0), Queue("refunds", "broker-a", 0)
OF_ORDERS, OF_REFUNDS = Queue("%RETRY%g_orders", "broker-a", 0), Queue("%RETRY%g+refunds", "broker-a", 0)


def ends(**queues: int) -> dict[str, list[QueueRange]]:
    own = {"orders": OF_ORDERS, "refunds": OF_REFUNDS}
    return {"broker-a": [QueueRange(own[name], 0, end, 1_000) for name, end in queues.items()]}


def test_a_listener_that_fails_waits_for_two_minutes_in_a_retry_topic_of_its_topic():
    """apache/rocketmq #4815 (2022): in POP mode, RECONSUME_LATER, and "at least 2 minutes" until the next try.

    The topic's own offset is at its end by then, and ``%RETRY%GROUP`` is empty: POP has a retry topic for each topic.
    """
    committed = {"g": {ORDERS: 40, OF_ORDERS: 0}}
    assert redelivery_topics(["g"], committed) == ["%DLQ%g", "%RETRY%g", "%RETRY%g_orders"]
    assert redelivery_by_group(["g"], committed, ends(orders=40), {"g": None}) == {
        "g": RedeliveryObserved(sent_back=40, waiting=40, consumed=40)
    }


def test_a_slow_listener_consumes_again_what_it_had_done():
    """apache/rocketmq #3787 (2022): 10 records a second, and acknowledgments that come later than a broker waits.

    "There are many messages that are considered to have failed to be consumed": they are in the retry topics, of both
    versions of these names, and most of them have been consumed again. 96 are still in flight.
    """
    committed = {"g": {ORDERS: 600, REFUNDS: 30, OF_ORDERS: 380, OF_REFUNDS: 20}}
    assert redelivery_by_group(["g"], committed, ends(orders=420, refunds=20), {"g": 96}) == {
        "g": RedeliveryObserved(sent_back=440, waiting=40, consumed=1_030, in_flight=96)
    }

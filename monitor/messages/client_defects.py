"""Known defects of client libraries in words: what each does, in which releases, what to do, and where it is.

Which groups they concern is in monitor.detection.client_libraries.known_defects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from monitor.model import ClientDefect, Value


class DefectText(Value):
    """A defect of a client library in words.

    Attributes:
        releases: those that have it, as far as they were tried.
        effect: what it does, in one or two sentences.
        remedy: what to do, likewise.
        source: the file and the function of the library.
    """

    releases: str
    effect: str
    remedy: str
    source: str


_SAME_TOPICS: Final = "Subscribe all members of the group to the same topics, or split the group."

DEFECTS: Final[Mapping[ClientDefect, DefectText]] = {
    ClientDefect.LEADERS_TOPICS_TO_ALL: DefectText(
        "2.2.4",
        "Its leader assigns only the topics that it subscribes to, and assigns them to all members. Other topics have "
        "no owner, and members that do not subscribe to a topic do not consume it.",
        _SAME_TOPICS,
        "consumer/assigners/roundRobinAssigner/index.js",
    ),
    ClientDefect.LEADERS_TOPICS_ONLY: DefectText(
        "1.35.0 to 2.12.1",
        "Its leader assigns only the topics that it subscribes to. Other topics have no owner. With roundrobin it "
        "assigns them to all members, and members that do not subscribe to a topic do not consume it.",
        _SAME_TOPICS,
        "clients/consumer/partitions-assigners.js",
    ),
    ClientDefect.ROUNDROBIN_KEY_ERROR: DefectText(
        "3.0.12",
        "Its roundrobin fails with a KeyError when members subscribe to different topics. The leader then assigns "
        "nothing, and the group rebalances again.",
        f"Use range, or another library for all members: any member may lead. {_SAME_TOPICS}",
        "kafka/coordinator/assignors/roundrobin.py, RoundRobinPartitionAssignor.assign",
    ),
    ClientDefect.COOPERATIVE_CRASH: DefectText(
        "2.15.0, 2.16.1",
        "Its cooperative-sticky can end the leader's process (an assertion or a segmentation fault) when members "
        "subscribe to different topics.",
        f"Use range or roundrobin. {_SAME_TOPICS}",
        "rdkafka_sticky_assignor.c, PartitionMovements_movePartition",
    ),
    ClientDefect.FOREIGN_USER_DATA: DefectText(
        "1.61.1",
        "Its sticky leader fails on the user data of kafka-python's sticky (insufficient data to decode packet), so no "
        "generation is assigned.",
        "Use the same client library for all members, or range.",
        "balance_strategy.go, deserializeTopicPartitionAssignment",
    ),
    ClientDefect.UNREADABLE_USER_DATA: DefectText(
        "3.0.12",
        "Its sticky members write their partitions in a form that other libraries cannot read. A leader of another "
        "library takes them for new members, and moves their partitions.",
        "Use the same client library for all members, or cooperative-sticky.",
        "kafka/coordinator/assignors/sticky/user_data.py",
    ),
    ClientDefect.SHARED_STICKY_STATE: DefectText(
        "0.14.0",
        "Several consumers in one process share the state of its sticky assignor, and all report the same partitions "
        "as theirs. Rebalances then move more partitions than necessary.",
        "Run one consumer of the group in each process, or use roundrobin.",
        "aiokafka/coordinator/assignors/sticky/sticky_assignor.py, StickyPartitionAssignor",
    ),
    ClientDefect.FORGOTTEN_MEMBERS: DefectText(
        "3.0.12",
        "Its leader assigns nothing to some members when static and dynamic members are mixed: of each kind it takes "
        "only the last run of neighbors in the join response.",
        "Give all members a group.instance.id, or none.",
        "kafka/coordinator/assignors/range.py and roundrobin.py, assign",
    ),
    ClientDefect.UNORDERED_MEMBERS: DefectText(
        "2.16.1",
        "Its leader does not order members consistently when static and dynamic members are mixed. The assignment can "
        "change with the order in which members join.",
        "Give all members a group.instance.id, or none.",
        "rdkafka_assignor.c, rd_kafka_group_member_cmp",
    ),
    ClientDefect.KAFKA_GO_SUBSCRIPTION: DefectText(
        "0.4.51",
        "It sends subscription version 1 without OwnedPartitions. Strict readers, such as leaders of other libraries "
        "and monitors, cannot decode it.",
        "Use only kafka-go in the group.",
        "joingroup.go, groupMetadata",
    ),
    ClientDefect.PLATFORMATIC_SUBSCRIPTION: DefectText(
        "before 2.12",
        "It sends subscription version 1 without OwnedPartitions. Strict readers, such as leaders of other libraries "
        "and monitors, cannot decode it.",
        "Upgrade to 2.12 or newer.",
        "protocol definitions of consumer metadata",
    ),
}

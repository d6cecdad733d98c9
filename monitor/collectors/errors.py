"""What can keep a collector from working. Every error's text is one sentence or two that a person can act on."""

from __future__ import annotations


class CollectorError(Exception):
    """Base: a monitored cluster cannot be watched as it is."""


class ConnectionFailed(CollectorError):  # noqa: N818 - it reads as what happened
    """No usable connection: no answer, wrong password, no TLS, or the cluster went away."""


class ClusterAway(ConnectionFailed):
    """The cluster or a part of it does not answer, or not in time: it may come back, as no wrong setting is known."""


class AnotherSource(CollectorError):  # noqa: N818 - it reads as what happened
    """What answers at the address is not what was read before: a new cluster, a new ZooKeeper. Nothing heals that."""


class PermissionMissing(CollectorError):  # noqa: N818 - it reads as what happened
    """The user may not do something that groupwatch needs; the text names the operation to grant."""


class NotYetReadable(CollectorError):  # noqa: N818 - it reads as what happened
    """Something is not there that comes by itself, or once the cluster is mended: a job waits for it."""


class OffsetsTopicMissing(NotYetReadable):
    """The cluster has no ``__consumer_offsets`` yet, because no group ever committed."""


class FindingsTopicReplaced(CollectorError):  # noqa: N818 - it reads as what happened
    """The findings topic is another one than that which was read: its published findings are lost."""


class FindingsNotRead(CollectorError):  # noqa: N818 - it reads as what happened
    """The findings topic did not come to its end in time."""

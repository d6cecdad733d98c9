"""Where an autoscaler has its metric from: KEDA's formula on real lags, or the API of groupwatch."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol
from urllib.error import HTTPError
from urllib.request import urlopen

from tests.autoscaling.keda_kafka import KafkaScaler, KafkaTrigger
from tests.autoscaling.offsets import Offsets

API_LIMIT_S: Final = 3.0
"""How long an answer of the API is awaited; ``timeout`` of KEDA's scalers is 3 s by default."""


@dataclass(frozen=True)
class Signal:
    """A metric with what is said of it. ``metric`` None: there is none, and ``reason`` says why."""

    metric: float | None
    hold: str = ""
    reason: str = ""
    drain_s: float | None = None
    status: int | None = None
    """The HTTP status, where there is one."""
    incoming_per_s: float | None = None
    """What comes in, as groupwatch knows it."""
    capacity_per_s: float | None = None
    """How fast a member reads, as groupwatch knows it."""

    @property
    def will_fall(self) -> bool:
        """Whether less would be enough now, and only has not been for long."""
        return "the number falls" in self.reason


class MetricSource(Protocol):
    """What an autoscaler asks."""

    target: float
    """The metric that one replica stands for."""

    def signal(self) -> Signal:
        """The metric now."""


class KedaLag:
    """KEDA's Kafka scaler on what the admin client read last."""

    def __init__(self, trigger: KafkaTrigger, offsets: Callable[[], Offsets | None]) -> None:
        """``offsets`` gives None while the broker does not answer."""
        self.target = float(trigger.lag_threshold)
        self._scaler, self._offsets = KafkaScaler(trigger), offsets

    def signal(self) -> Signal:
        """The lag as the scaler counts it."""
        offsets = self._offsets()
        if offsets is None:
            return Signal(None, reason="the broker does not answer")
        return Signal(float(self._scaler.reading(offsets.committed, offsets.ends).metric))


class GroupwatchApi:
    """The wanted replicas, as KEDA's metrics-api scaler reads them: each status but 200 is an error."""

    target = 1.0

    def __init__(self, url: str, cluster: str, group: str) -> None:
        self._address = f"{url}/api/v1/scale/{cluster}/{group}"

    def signal(self) -> Signal:
        """The number of the newest answer, with its hold and its reason."""
        try:
            with urlopen(self._address, timeout=API_LIMIT_S) as response:
                return signal_of(json.load(response))
        except HTTPError as error:
            with error:
                return Signal(None, reason=error.read().decode(errors="replace")[:300], status=error.code)
        except OSError as error:
            return Signal(None, reason=str(error))


def knows_capacity(source: MetricSource) -> bool:
    """Whether it is known how fast the pods read."""
    return source.signal().capacity_per_s is not None


def signal_of(answer: dict[str, Any]) -> Signal:
    """What the API answered.

    >>> found = signal_of({"wanted_replicas": 3, "wanted_members": 6, "sentence": "It is enough.", "drain_ms": 4500})
    >>> found.metric, found.hold, found.reason, found.drain_s, found.status
    (3.0, '', 'It is enough.', 4.5, 200)
    """
    drain_ms = answer.get("drain_ms")
    drain_s = None if drain_ms is None else drain_ms / 1000
    return Signal(
        float(answer["wanted_replicas"]),
        answer.get("hold") or "",
        answer["sentence"],
        drain_s,
        status=200,
        incoming_per_s=answer.get("incoming_per_s"),
        capacity_per_s=answer.get("capacity_per_s"),
    )

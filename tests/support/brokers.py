"""How brokers of tests are to be, where that saves time."""

from __future__ import annotations

from typing import Final

SOON_BACK: Final = {"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"}
"""For a broker that is killed and started again: until its session has ended, it is kept out."""

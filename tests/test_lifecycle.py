"""What runs for the time of a block is started first and ended last, whatever happens in between."""

import pytest

from monitor.lifecycle import Lifecycle


class Noted(Lifecycle):
    def __init__(self) -> None:
        self.calls: list[str] = []

    def start(self) -> None:
        self.calls.append("start")

    def stop(self) -> None:
        self.calls.append("stop")


class ForGood(Noted):
    def close(self) -> None:
        self.calls.append("close")


class Unstartable(Noted):
    def start(self) -> None:
        raise OSError("no port")


def test_a_block_starts_and_stops():
    with Noted() as noted:
        noted.calls.append("block")
    assert noted.calls == ["start", "block", "stop"]


def test_an_error_in_the_block_stops_it_and_goes_on():
    noted = Noted()
    with pytest.raises(ValueError, match="slip"), noted:
        raise ValueError("slip")
    assert noted.calls == ["start", "stop"]


def test_a_block_ends_for_good_what_could_be_started_again():
    with ForGood() as server:
        server.stop()
        server.start()
    assert server.calls == ["start", "stop", "start", "close"]


def test_what_did_not_start_is_not_stopped():
    server = Unstartable()
    with pytest.raises(OSError, match="no port"), server:
        pass
    assert server.calls == []

"""What happens to the groups: some pass records unread, the others are healthy. ``SCENARIOS`` has them all."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum
from typing import Final

from monitor.model import Value
from tests.skips.play import CAUGHT_UP, SLOW_COMMITS, Play


class Demand(StrEnum):
    """What groupwatch has to say."""

    TOLD = "told"
    """What was not read."""
    NO_ACCUSATION = "no accusation"
    """Nothing above information."""


class Scenario(Value):
    """``share`` is how often it is chosen among its like."""

    name: str
    act: Callable[[Play], None]
    demand: Demand
    share: int = 1

    @property
    def is_healthy(self) -> bool:
        """Whether nothing is to be told."""
        return self.demand is Demand.NO_ACCUSATION


REMEMBERED_S: Final = 22
"""Of a log it is remembered each 20 s where it ended; whatever retention removes is older."""


def _slowly(play: Play) -> None:
    """A consumer that reads so slowly that its commits show its pace; it commits twice a second."""
    play.start(play.chance.uniform(18, 25), few=True)
    play.await_commits(SLOW_COMMITS)


def _lagging(play: Play, records: int) -> None:
    """The same in a log that is much longer."""
    play.create()
    play.fill(records)
    _slowly(play)


def _lagging_for_long(play: Play, records: int) -> None:
    """The same in a log that is older than the ends of it that are remembered are apart."""
    play.create()
    play.fill(records)
    time.sleep(REMEMBERED_S)
    _slowly(play)


def _position(play: Play) -> int:
    return play.committed() or 0


def overtaken(play: Play) -> None:
    """Retention removes what a slow consumer was to read next."""
    _lagging_for_long(play, play.size + 800)
    _overtake(play, play.size)


def _overtake(play: Play, records: int) -> None:
    cut = _position(play) + 40 + records  # it has fetched some already
    play.delete_records(cut)
    play.await_committed(cut)


def overtaken_twice(play: Play) -> None:
    """The second time there is less to lose."""
    _lagging_for_long(play, 2 * play.size + 1_500)
    _overtake(play, play.size)
    play.await_told()
    play.await_commits(2 * SLOW_COMMITS)
    _overtake(play, max(100, play.size // 2))


def overtaken_to_the_end(play: Play) -> None:
    """As overtaken, by a consumer that goes on at the end then."""
    play.create()
    play.start(play.chance.uniform(18, 25), few=True, reset="latest")
    play.feed_until(1)
    play.fill(play.size + 900)
    time.sleep(REMEMBERED_S)
    play.await_commits(4 * SLOW_COMMITS)
    play.delete_records(_position(play) + 40 + play.size // 2)
    play.feed_until(play.size + 900)


def removed_while_down(play: Play) -> None:
    """Retention removes what came while the consumer was away; then it begins at what is left."""
    _lagging_for_long(play, play.size + 800)
    play.close()
    cut = _position(play) + play.size
    play.delete_records(cut)
    time.sleep(play.chance.uniform(0, 4))
    play.start(20, few=True)
    play.await_committed(cut)


def removed_while_down_and_fast(play: Play) -> None:
    """The same, and it reads what is left at full speed."""
    _lagging_for_long(play, 2 * play.size + 800)
    play.close()
    play.delete_records(_position(play) + play.size)
    time.sleep(play.chance.uniform(0, 4))
    play.start()
    play.await_committed(2 * play.size + 800)


def out_of_range(play: Play) -> None:
    """The same with auto.offset.reset=latest."""
    _lagging(play, CAUGHT_UP + play.size)
    play.close()
    end = CAUGHT_UP + play.size
    play.delete_records(min(end, _position(play) + 20 + play.size // 2))
    play.start(20, reset="latest")
    play.feed_until(end)


def restart_at_the_end(play: Play) -> None:
    """A consumer that had read everything misses what came while it was away."""
    _lagging(play, CAUGHT_UP)
    play.await_committed(CAUGHT_UP)
    play.close()
    play.fill(play.size)
    play.start(20, at="end")
    play.feed_until(CAUGHT_UP + play.size)


def lagging_restart_at_the_end(play: Play) -> None:
    """One that lagged begins at the end."""
    _lagging(play, CAUGHT_UP + play.size)
    play.close()
    play.start(20, at="end")
    play.feed_until(CAUGHT_UP + play.size)


def expired(play: Play) -> None:
    """Its offsets are deleted while it is away; with auto.offset.reset=latest it begins at the end."""
    _lagging(play, CAUGHT_UP)
    play.close()
    time.sleep(2)
    play.forget()
    play.fill(play.size)
    play.start(20, reset="latest")
    play.feed_until(CAUGHT_UP + play.size)


def grown(play: Play) -> None:
    """New partitions have records before a consumer with auto.offset.reset=latest finds them."""
    play.create()
    play.start(reset="latest")
    for _ in range(4):
        time.sleep(0.6)
        play.fill(1)
    play.feed_until(1)
    play.grow(3)
    for partition in (1, 2):
        play.fill(play.size, partition)
    for partition in (1, 2):
        play.feed_until(play.size, partition)


def after_a_burst(play: Play) -> None:
    """A consumer has read many records at once. Later it is restarted at the end, and misses fewer."""
    burst = play.size * 2
    _lagging(play, CAUGHT_UP + burst)
    play.pace(0)
    play.await_committed(CAUGHT_UP + burst)
    play.pace(20)
    play.fill(60)
    play.await_committed(CAUGHT_UP + burst + 60)
    play.close()
    play.fill(play.size)
    play.start(20, at="end")
    play.feed_until(CAUGHT_UP + burst + 60 + play.size)


def burst(play: Play) -> None:
    """Records come at once and are read at once; the same after a restart."""
    _lagging(play, CAUGHT_UP)
    play.await_committed(CAUGHT_UP)
    play.pace(0)
    play.fill(play.size)
    play.await_committed(CAUGHT_UP + play.size)
    play.close()
    play.fill(play.size)
    play.start()
    play.await_committed(CAUGHT_UP + 2 * play.size)


def catching_up(play: Play) -> None:
    """A consumer that was slow reads a backlog at full speed."""
    _lagging(play, CAUGHT_UP + play.size)
    play.pace(0)
    play.await_committed(CAUGHT_UP + play.size)


def just_in_time(play: Play) -> None:
    """The same, and retention removes it as soon as it was read, before that was committed."""
    play.create()
    end = 2 * CAUGHT_UP + play.size
    play.fill(end)
    play.fill(play.chance.choice([0, 5_000]))
    play.start(play.chance.uniform(18, 25), commit_ms=1_500)
    play.await_commits(SLOW_COMMITS)
    play.pace(0)
    time.sleep(0.7)
    play.delete_records(end - 5)
    play.await_committed(end)


def reset_while_empty(play: Play) -> None:
    """An administrator resets the offset: forward, back or to the end."""
    _lagging(play, CAUGHT_UP + play.size)
    play.close()
    time.sleep(1)
    end = CAUGHT_UP + play.size
    play.reset(play.chance.choice([end, 0, _position(play) + play.size // 2]))
    play.start(20)
    play.fill(40)
    play.await_commits(3)


def replay(play: Play) -> None:
    """Everything is read again from the beginning, as an administrator wants it, or by the application itself."""
    play.create()
    play.fill(play.size + 100)
    play.start()
    play.await_committed(play.size + 100)
    if play.chance.random() < 0.5:
        play.close()
        time.sleep(1)
        play.reset(0)
        play.start()
    else:
        play.seek(0)
        time.sleep(3)
    play.await_committed(play.size + 100)


def seek(play: Play) -> None:
    """An application goes elsewhere by itself: it wants to."""
    _lagging(play, play.size + 800)
    to = _position(play) + play.size + 40
    play.seek(to)
    play.await_committed(to)


def exactly_once(play: Play) -> None:
    """An application that aborts now and then; records come, now and then many."""
    play.create()
    play.fill(50)
    play.start(200, aborts=0.15)
    total = 50
    until = time.monotonic() + 60
    while time.monotonic() < until:
        records = play.size if play.chance.random() < 0.05 else play.chance.randrange(1, 20)
        total += records
        play.fill(records)
        time.sleep(play.chance.uniform(0.5, 1.5))
    play.pace(0)
    play.await_committed(total)
    play.close()
    play.fill(play.size)
    play.start(0, aborts=0.15)
    play.await_committed(total + play.size)


SCENARIOS: Final = (
    Scenario("overtaken", overtaken, Demand.TOLD, 4),
    Scenario("overtaken_twice", overtaken_twice, Demand.TOLD, 1),
    Scenario("overtaken_to_the_end", overtaken_to_the_end, Demand.TOLD, 1),
    Scenario("removed_while_down", removed_while_down, Demand.TOLD, 2),
    Scenario("removed_and_fast", removed_while_down_and_fast, Demand.TOLD, 2),
    Scenario("out_of_range", out_of_range, Demand.TOLD, 2),
    Scenario("restart_at_the_end", restart_at_the_end, Demand.TOLD, 2),
    Scenario("lagging_restart", lagging_restart_at_the_end, Demand.TOLD, 2),
    Scenario("expired", expired, Demand.TOLD),
    Scenario("grown", grown, Demand.TOLD, 2),
    Scenario("after_a_burst", after_a_burst, Demand.TOLD, 2),
    Scenario("burst", burst, Demand.NO_ACCUSATION, 10),
    Scenario("catching_up", catching_up, Demand.NO_ACCUSATION, 2),
    Scenario("just_in_time", just_in_time, Demand.NO_ACCUSATION, 1),
    Scenario("reset_while_empty", reset_while_empty, Demand.NO_ACCUSATION, 4),
    Scenario("replay", replay, Demand.NO_ACCUSATION, 4),
    Scenario("seek", seek, Demand.NO_ACCUSATION, 1),
)
EXACTLY_ONCE: Final = Scenario("exactly_once", exactly_once, Demand.NO_ACCUSATION)
BY_NAME: Final = {scenario.name: scenario for scenario in (*SCENARIOS, EXACTLY_ONCE)}

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

from monitor.collectors.rocketmq.connection import Access, RocketMQConnection
from monitor.collectors.rocketmq.members import (
    MAX_SUSPECTS,
    RETRY_SUSPECTS_S,
    MemberInfoReader,
    MemberKey,
    MemberRequest,
)
from tests.collectors.rocketmq.server import Client, Cluster, Server


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


class Asking:
    """Asks the members of one broker again and again."""

    def __init__(self, server: Server, infos: MemberInfoReader, clock: Clock, pool: ThreadPoolExecutor) -> None:
        self.server, self.clock = server, clock
        self._infos, self._pool = infos, pool

    def answering(self, *client_ids: str) -> list[str]:
        """Who of these answers, as far as is known after another reading."""
        asked = [
            MemberRequest(key=MemberKey(group="g", client_id=each), address=self.server.address) for each in client_ids
        ]
        told = self._infos.read(asked, self._pool)
        return [key.client_id for key, each in told.items() if each.answers]

    def asked(self) -> list[str]:
        return [each.fields["clientId"] for each in self.server.asked]

    def until_asked(self, count: int) -> None:
        deadline = time.monotonic() + 20
        while len(self.server.asked) < count and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(self.server.asked) == count

    def until_answering(self, *client_ids: str) -> None:
        deadline = time.monotonic() + 20
        while self.answering(*client_ids) != list(client_ids) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert self.answering(*client_ids) == list(client_ids)


@contextmanager
def asking(cluster: Cluster) -> Iterator[Asking]:
    server = Server(cluster.broker("b"))
    clock = Clock()
    infos = MemberInfoReader(lambda address: RocketMQConnection(address, Access(limit_s=0.5)), clock)
    with ThreadPoolExecutor() as pool, closing(infos):
        yield Asking(server, infos, clock, pool)
    server.close()


def test_a_silent_member_that_answers_again_is_known_to():
    cluster = Cluster({"b": {}}, {"g": [Client("c", hangs=True)]})
    with asking(cluster) as members:
        assert members.answering("c") == []
        cluster.client("c").hangs = False
        members.clock.now_s += RETRY_SUSPECTS_S - 1
        assert (members.answering("c"), members.asked()) == ([], ["c"])
        members.clock.now_s += 1
        members.until_answering("c")
        assert members.asked()[:2] == ["c", "c"]


def test_a_member_that_stays_silent_is_asked_again_every_ten_seconds():
    with asking(Cluster({"b": {}}, {"g": [Client("c", hangs=True)]})) as members:
        assert members.answering("c") == []
        for again in (2, 3):
            members.clock.now_s += RETRY_SUSPECTS_S
            deadline = time.monotonic() + 20
            while len(members.asked()) < again and time.monotonic() < deadline:
                assert members.answering("c") == []
                time.sleep(0.05)
        assert members.asked() == ["c", "c", "c"]


def test_only_some_silent_members_are_asked_again_at_a_time_and_all_have_their_turn():
    names = [f"c{number}" for number in range(2 * MAX_SUSPECTS)]
    cluster = Cluster({"b": {}}, {"g": [Client(name, hangs=True) for name in names]})
    with asking(cluster) as members:
        assert members.answering(*names) == []
        members.clock.now_s += RETRY_SUSPECTS_S
        members.answering(*names)
        members.until_asked(len(names) + MAX_SUSPECTS)
        members.clock.now_s += 1
        deadline = time.monotonic() + 20
        while len(members.asked()) < 2 * len(names) and time.monotonic() < deadline:
            members.answering(*names)
            time.sleep(0.05)
    assert sorted(members.asked()) == sorted(names * 2)


def test_a_member_that_is_gone_is_forgotten():
    """Another that comes under its name is asked anew."""
    cluster = Cluster({"b": {}}, {"g": [Client("c", hangs=True), Client("d")]})
    with asking(cluster) as members:
        assert members.answering("c", "d") == ["d"]
        assert members.answering("d") == ["d"]
        cluster.client("c").hangs = False
        assert members.answering("c", "d") == ["c", "d"]


def test_a_broker_that_is_away_changes_nothing_of_what_is_known():
    with asking(Cluster({"b": {}}, {"g": [Client("c")]})) as members:
        assert members.answering("c") == ["c"]
        members.server.close()
        assert members.answering("c") == ["c"]

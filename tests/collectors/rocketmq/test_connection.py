import json
import ssl
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from monitor.collectors.errors import ConnectionFailed
from monitor.collectors.rocketmq.connection import Access, NoResponse, RocketMQConnection, tls_context
from monitor.protocol.rocketmq.acl import Signer
from monitor.protocol.rocketmq.frame import MAX_FRAME
from monitor.protocol.rocketmq.requests import cluster_info, connections, running_info
from tests.collectors.rocketmq.server import Reply, Request, frame, serving
from tests.protocol.rocketmq.test_acl import hmac_sha1

SHORT = Access(limit_s=0.3)
PATIENT = Access(limit_s=20)


@pytest.fixture
def connect() -> Iterator[Callable[..., RocketMQConnection]]:
    """Gives connections, and closes them at the end."""
    with ExitStack() as opened:

        def connect(address: str, access: Access = PATIENT) -> RocketMQConnection:
            return opened.enter_context(closing(RocketMQConnection(address, access)))

        yield connect


def echoing(request: Request) -> Reply:
    return Reply(json.dumps(dict(request.fields)).encode())


def test_answers_come_in_the_order_of_the_requests(connect):
    asked = [connections(f"g{n}") for n in range(200)]
    with serving(echoing) as server:
        answers = connect(server.address).ask(asked)
    assert [json.loads(each.body)["consumerGroup"] for each in answers] == [f"g{n}" for n in range(200)]


def test_one_connection_serves_many_requests(connect):
    with serving(echoing) as server:
        connection = connect(server.address)
        connection.ask([cluster_info()])
        connection.ask([cluster_info()])
        assert (server.connections, server.count(106)) == (1, 2)


def test_requests_of_the_server_and_answers_to_nothing_are_passed_over(connect):
    pushed = frame({"code": 40, "flag": 0, "opaque": 1, "extFields": {"consumerGroup": "g"}})
    stray = frame({"code": 0, "flag": 1, "opaque": 999_999}, b"stray")
    with serving(echoing) as server:
        server.late += [pushed, stray]
        (answer,) = connect(server.address).ask([connections("g")])
    assert json.loads(answer.body) == {"consumerGroup": "g"}


def test_a_server_that_does_not_answer_is_not_waited_for_longer_than_the_limit(connect):
    with serving(lambda _: None) as server:
        began = time.monotonic()
        with pytest.raises(ConnectionFailed, match=r"did not answer within 0.3 s"):
            connect(server.address, SHORT).ask([cluster_info()])
        assert time.monotonic() - began < 5


def test_after_a_timeout_the_next_request_uses_a_new_connection(connect):
    with serving(lambda request: None if request.code == 106 else echoing(request)) as server:
        connection = connect(server.address, SHORT)
        with pytest.raises(ConnectionFailed):
            connection.ask([cluster_info()])
        connection.ask([connections("g")])
        assert server.connections == 2


def test_who_does_not_answer_keeps_no_other_answer_away(connect):
    def answer(request: Request) -> Reply | None:
        return None if request.fields["clientId"] == "c3" else echoing(request)

    with serving(answer) as server:
        asked = [running_info("g", f"c{n}") for n in range(10)]
        answers = connect(server.address, SHORT).ask_each(asked, window=2, silences=2)
    assert answers[3] is NoResponse.SILENCE
    assert [json.loads(each.body)["clientId"] for each in answers if not isinstance(each, NoResponse)] == [
        f"c{n}" for n in range(10) if n != 3
    ]


def test_no_more_is_asked_when_too_many_were_silent(connect):
    with serving(lambda _: None) as server:
        asked = [running_info("g", f"c{n}") for n in range(10)]
        answers = connect(server.address, SHORT).ask_each(asked, window=4, silences=4)
        assert answers == [NoResponse.SILENCE] * 4 + [NoResponse.NOT_SENT] * 6
        assert server.count(307) == 4


def test_no_more_stay_silent_than_allowed_however_far_apart_they_were_asked(connect):
    """One that answers late lets another be asked late: the first is given up while that one may still answer."""

    def answer(request: Request) -> Reply | None:
        if request.fields["clientId"] != "c1":
            return None
        time.sleep(SHORT.limit_s / 2)  # it is late
        return echoing(request)

    with serving(answer) as server:
        asked = [running_info("g", f"c{n}") for n in range(10)]
        answers = connect(server.address, SHORT).ask_each(asked, window=2, silences=2)
    assert answers.count(NoResponse.SILENCE) == 2


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", "bad_length", id="another protocol"),
        pytest.param(struct.pack(">i", MAX_FRAME + 1), "bad_length", id="a frame too long"),
        pytest.param(struct.pack(">iI", 4, 0xFFFFFF), "bad_length", id="a header too long"),
        pytest.param(struct.pack(">iI", 6, 2) + b"[]", "bad_event", id="no header"),
        pytest.param(struct.pack(">i", MAX_FRAME) + b"x", "did not answer", id="a long frame that never ends"),
    ],
)
def test_a_server_that_does_not_speak_the_protocol_is_an_error_that_says_so(connect, sent: bytes, says: str):
    with serving(lambda _: sent) as server, pytest.raises(ConnectionFailed, match=says):
        connect(server.address, SHORT).ask([cluster_info()])


def test_a_server_that_drips_is_given_up(connect):
    """Every answer makes up for the wait, but not for ever: a server could answer one in a while."""

    def slowly(request: Request) -> Reply:
        time.sleep(0.04)
        return echoing(request)

    with serving(slowly) as server, pytest.raises(ConnectionFailed, match="did not answer"):
        connect(server.address, Access(limit_s=0.1)).ask([cluster_info()] * 200)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1:1", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999", ":", "", "a..b:10911", f"{'x' * 64}:10911"],
)
def test_where_nobody_answers_is_an_error_that_names_the_place(connect, address: str):
    with pytest.raises(ConnectionFailed) as failed:
        connect(address).ask([cluster_info()])
    assert str(failed.value).startswith(f"{address}: ")


def test_an_address_that_nobody_should_print_is_not_printed(connect):
    with pytest.raises(ConnectionFailed, match=r"^a server: "):
        connect("\x1b[2J:1x").ask([cluster_info()])


def test_a_connection_that_the_server_closed_meanwhile_is_opened_again(connect):
    with serving(echoing) as server:
        connection = connect(server.address)
        connection.ask([cluster_info()])
        server.hang_up()
        connection.ask([cluster_info()])
        assert server.connections == 2


def test_a_server_that_hangs_up_on_every_request_is_an_error_that_says_so(connect):
    with serving(lambda _: server.hang_up()) as server:
        connection = connect(server.address)
        with pytest.raises(ConnectionFailed, match=r"the connection was closed|reset"):
            connection.ask([cluster_info()])
        assert server.connections == 1


def test_a_server_that_went_away_is_an_error(connect):
    with serving(echoing) as server:
        connection = connect(server.address)
        connection.ask([cluster_info()])
    with pytest.raises(ConnectionFailed, match="refused"):
        connection.ask([cluster_info()])


def test_requests_are_signed_when_there_are_keys(connect):
    with serving(echoing) as server:
        connect(server.address, Access(signer=Signer("me", "secret"))).ask([connections("g")])
        (asked,) = server.asked
    signed = hmac_sha1(b"secret", b"meg")  # AccessKey, then consumerGroup
    assert asked.fields == {"consumerGroup": "g", "AccessKey": "me", "Signature": signed}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate that names nobody, with its key, in one file."""
    folder = tmp_path_factory.mktemp("tls")
    new = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=rocketmq"]
    subprocess.run([*new, "-keyout", "key", "-out", "cert"], cwd=folder, check=True, capture_output=True)
    (folder / "both").write_bytes((folder / "key").read_bytes() + (folder / "cert").read_bytes())
    return folder / "both"


def server_side(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_a_server_with_a_trusted_certificate_is_read_by_tls_whatever_its_name(connect, certificate: Path):
    access = Access(limit_s=5, tls=tls_context(str(certificate)))
    with serving(echoing, server_side(certificate)) as server:
        (answer,) = connect(server.address, access).ask([connections("g")])
    assert json.loads(answer.body) == {"consumerGroup": "g"}


def test_a_server_whose_certificate_is_not_trusted_is_told_nothing(connect, certificate: Path):
    access = Access(limit_s=5, tls=tls_context(None))
    with serving(echoing, server_side(certificate)) as server:
        with pytest.raises(ConnectionFailed, match="its TLS certificate is not trusted"):
            connect(server.address, access).ask([connections("g")])
        assert not server.asked


def test_a_server_without_tls_is_an_error(connect, certificate: Path):
    access = Access(limit_s=0.5, tls=tls_context(str(certificate)))
    with serving(echoing) as server, pytest.raises(ConnectionFailed):
        connect(server.address, access).ask([connections("g")])

"""A program that obeys orders answers each, fails in a sentence, and never outlives its input. Java, but no server."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.demo.java.clients import PROGRAMS, Held, JavaClients
from monitor.java_runtime.errors import ClientsFailed
from tests.paused import pause

TOY = """
import java.util.ArrayList;
import java.util.List;

public class Toy extends Orders {
    public static void main(String[] args) { new Toy().obey(); }
    Consumer consumer(final String name, final String group, final String[] topics, String strategy, String how) {
        return new Consumer() {
            List holds() {
                System.out.println("a library says something");
                List held = new ArrayList();
                for (int i = 0; i < topics.length; i++) { held.add(topics[i] + " " + group + "-" + i); }
                return held;
            }
            void close() { }
        };
    }
    void createTopic(String topic, int partitions) { throw new IllegalStateException("no\\ttopics\\nhere"); }
    void send(String topic, int count) { System.exit(3); }
}
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("Orders.java", "Start.java"):
        (tmp_path / name).write_text((PROGRAMS / name).read_text())
    (tmp_path / "Toy.java").write_text(TOY)
    monkeypatch.setattr("monitor.demo.java.clients.PROGRAMS", tmp_path)
    with JavaClients("Toy", [], []) as clients:
        yield clients


def test_a_consumer_tells_what_it_holds_and_what_libraries_print_is_no_answer(toy):
    toy.consume("a", "g", "with space", "t2", strategy="", how="")
    assert toy.holds("a") == {Held(topic="with space", partition="g-0"), Held(topic="t2", partition="g-1")}
    assert "a library says something" in toy.log_file.read_text()


def test_a_failed_order_is_told_in_one_line_and_the_next_is_obeyed(toy):
    with pytest.raises(ClientsFailed, match=r"'topic t 3' failed: java\.lang\.IllegalStateException: no topics here"):
        toy.create_topic("t", 3)
    with pytest.raises(ClientsFailed, match="no consumer is called b"):
        toy.holds("b")
    toy.consume("b", "g", "t", strategy="", how="")
    toy.leave("b")
    with pytest.raises(ClientsFailed, match="no consumer is called b"):
        toy.hang("b")


def test_a_program_that_ends_is_told_with_its_log(toy):
    with pytest.raises(ClientsFailed, match="ended before they answered the order 'send t 1'"):
        toy.send("t", 1)
    with pytest.raises(ClientsFailed, match=r"have ended|ended before they answered"):  # as soon as it is known
        toy.holds("a")


def test_a_name_that_would_be_two_words_is_refused(toy):
    with pytest.raises(ValueError, match="neither tabs nor line ends"):
        toy.consume("a\tb", "g", "t", strategy="", how="")


def test_a_paused_program_is_ended_with_the_others(toy):
    pause(toy)
    assert toy.running
    toy.close()
    assert not toy.running
    assert not toy.folder.exists()

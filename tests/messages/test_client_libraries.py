"""Client libraries in words: every certainty has its meaning, and a release from a client id harms no sentence."""

from __future__ import annotations

from monitor.messages.client_libraries import CERTAINTIES, library_name
from monitor.messages.names import LONGEST_NAME
from monitor.model import Certainty, ClientLibrary, Library


def test_every_certainty_has_a_meaning_the_surest_first():
    assert list(CERTAINTIES) == list(Certainty)


def test_a_release_is_escaped_and_shortened():
    named = library_name(ClientLibrary((Library.AIOKAFKA,), Certainty.LIKELY, "1\u202e" + "9" * 500))
    assert named.startswith("aiokafka 1\\u202e9")
    assert len(named) < LONGEST_NAME + 30

"""What the leader of a Faust group writes into an assignment, as faust-streaming 0.15.3 writes it."""

import base64
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import TopicPartitions
from monitor.protocol.kafka.faust_user_data import LARGEST_BYTES, standby_copies

WRITTEN = base64.b64decode(
    "eJyVkMEKwjAQRP9lzymtij3kV0QkTWMaaJOS3YhS8u8aKq0BFb3tDjtvh5lAIBptB2UJ+ARCkrkoTON5X6CXwA8V2xxZWqmQnbBa9U6/yjIg"
    "uaFY1cgASdi2ueWgLdu9Ay1yBkpqfJCC74FDRzTyshS8ruoaGCz+U2uQvGkCGWfTt/xyfv9H8Ke9+Wz/HlddSXkr+hO50cif0q0tJ8Ds096F"
    "MWuvivEOsRiJfQ=="
)
"""Of a ``ClientMetadata``: this worker writes partitions 0 and 1 of two changelogs, another one 2 and 3.

Its standbys are 2 and 3 of both, and of f5-src as well, of which Faust assigns none
(``ClientAssignment.kafka_protocol_assignment``).
"""

ASSIGNED = (
    TopicPartitions("f5-custom-log", (0, 1, 2, 3)),
    TopicPartitions("f5-src", (0, 1)),
    TopicPartitions("f5-t-changelog", (0, 1, 2, 3)),
)


def test_the_copies_are_the_assigned_partitions_of_changelogs_that_another_worker_writes():
    assert standby_copies(WRITTEN, ASSIGNED) == (
        TopicPartitions("f5-custom-log", (2, 3)),
        TopicPartitions("f5-t-changelog", (2, 3)),
    )


def test_a_standby_partition_of_a_source_that_is_assigned_all_the_same_is_no_copy():
    assert standby_copies(WRITTEN, (TopicPartitions("f5-src", (1, 2)),)) == ()


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(None, id="no user data"),
        pytest.param(b"", id="empty"),
        pytest.param(WRITTEN[:-20], id="it ends early"),
        pytest.param(zlib.decompress(WRITTEN), id="not compressed"),
        pytest.param(zlib.compress(b"[]"), id="no object"),
        pytest.param(zlib.compress(b'{"assignment":{"standbys":{"t":["0"]}},"changelog_distribution":{}}'), id="text"),
        pytest.param(zlib.compress(b" " * (LARGEST_BYTES + 1) + zlib.decompress(WRITTEN)), id="it expands to too much"),
    ],
)
def test_what_cannot_be_read_is_not_known(data):
    assert standby_copies(data, ASSIGNED) is None


@given(st.binary(max_size=64))
def test_any_bytes_are_read_or_not_known(data):
    assert standby_copies(data, ASSIGNED) in (None, ())

"""Pieces that were compressed apart are one gzip stream, whoever reads it."""

import gzip
import zlib

from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.gzip_join import deflated, gzip_of, joined_crc, run_of, unpacked, unpacked_size
from monitor.model import EMPTY_GZIP

TEXTS = st.lists(st.binary(max_size=200) | st.integers(0, 100_000).map(lambda size: b"ab" * size), max_size=8)


@given(TEXTS)
def test_the_stream_of_all_pieces_is_the_text_in_one_member(texts):
    assert_one_member(gzip_of([run_of(deflated(text) for text in texts)]), texts)


@given(st.lists(st.lists(st.binary(max_size=200), max_size=4), max_size=4))
def test_runs_can_be_joined_as_pieces_can(runs):
    stream = gzip_of(run_of(map(deflated, run)) for run in runs)
    assert_one_member(stream, [text for run in runs for text in run])


@given(TEXTS, st.integers(1_000, 50_000))
def test_a_stream_is_unpacked_in_pieces_of_the_size_that_is_wanted(texts, most):
    stream, whole = gzip_of([run_of(deflated(text) for text in texts)]), b"".join(texts)
    pieces = list(unpacked(stream, most))
    assert b"".join(pieces) == whole
    assert all(0 < len(piece) <= most for piece in pieces)
    assert unpacked_size(stream) == len(whole)


def assert_one_member(stream: bytes, texts: list[bytes]) -> None:
    assert gzip.decompress(stream) == b"".join(texts)
    one_member = zlib.decompressobj(31)  # some clients read the first member of a stream only
    assert one_member.decompress(stream) == b"".join(texts)
    assert one_member.eof
    assert one_member.unused_data == b""


@given(st.binary(), st.binary())
def test_the_checksum_of_two_parts_is_that_of_the_whole(first, second):
    assert joined_crc(zlib.crc32(first), zlib.crc32(second), len(second)) == zlib.crc32(first + second)


def test_no_piece_is_the_empty_stream():
    assert gzip_of([]) == EMPTY_GZIP

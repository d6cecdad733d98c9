"""Pieces that were compressed apart are one gzip stream, whoever reads it."""

import gzip
import zlib

from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.deflate import deflated, gzip_of, joined_crc
from monitor.model import EMPTY_GZIP


@given(st.lists(st.binary(max_size=200) | st.integers(0, 100_000).map(lambda size: b"ab" * size), max_size=8))
def test_the_stream_of_all_pieces_is_the_text_in_one_member(texts):
    stream = gzip_of(deflated(text) for text in texts)
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

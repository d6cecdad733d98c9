"""Records that could not be read are counted by reason, with the place of the newest."""

from monitor.model import DecodeFailed, ErrorCount, SourceState
from monitor.tracking.decode_errors import fold_decode_errors


def failed(reason, partition=0, offset=0):
    return DecodeFailed(source="s", reason=reason, log_partition=partition, log_offset=offset)


def test_errors_are_counted_by_reason():
    state = fold_decode_errors(
        "c", "s", None, [failed("underflow", 1, 10), failed("bad_utf8", 1, 11), failed("underflow", 2, 5)]
    )
    assert state == SourceState(
        cluster="c",
        source="s",
        errors=(
            ErrorCount(reason="bad_utf8", count=1, log_partition=1, log_offset=11),
            ErrorCount(reason="underflow", count=2, log_partition=2, log_offset=5),
        ),
    )


def test_counts_go_on_from_the_state():
    before = fold_decode_errors("c", "s", None, [failed("underflow", 1, 10)])
    (error,) = fold_decode_errors("c", "s", before, [failed("underflow", 1, 12)]).errors
    assert (error.count, error.log_offset) == (2, 12)


def test_without_an_event_the_state_is_the_same_object():
    before = fold_decode_errors("c", "s", None, [failed("underflow")])
    assert fold_decode_errors("c", "s", before, []) is before
    assert fold_decode_errors("c", "s", None, []) == SourceState(cluster="c", source="s")

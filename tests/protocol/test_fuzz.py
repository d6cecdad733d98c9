"""A short, seeded run of the fuzzer; ``make fuzz-decoder`` makes the long one."""

from tests.protocol.fuzz import fuzz, fuzz_kinds
from tests.protocol.fuzz_kinds import MEMBER_FORMATS, captured, mutants


def test_fifty_thousand_broken_records():
    report = fuzz(50_000, seed=5)
    assert report.values > 5_000
    assert report.errors.total() > 20_000
    assert {"underflow", "trailing_bytes", "bad_length", "unknown_key_version", "unknown_value_version"} <= set(
        report.errors
    )


def test_thirty_thousand_broken_records_of_share_state_streams_and_connect():
    report = fuzz_kinds(30_000, seed=7)
    assert report.values > 3_000
    assert report.errors.total() > 10_000
    assert {"underflow", "bad_length", "bad_json", "bad_number", "unknown_value_version"} <= set(report.errors)


def test_every_format_is_mutated():
    assert {each.topic for each in captured()} == {
        *MEMBER_FORMATS,
        "__consumer_offsets",
        "__share_group_state",
        *(f"{cluster}-{log}" for cluster in CLUSTERS for log in ("configs", "status")),
    }
    some = [each.topic for each in mutants(5_000, seed=7)]
    assert all(some.count(name) > 100 for name in MEMBER_FORMATS)


CLUSTERS = ("cn1f7-compatible", "cn1f7-sessioned", "cnd063-compatible", "cnd063-eager", "cne0e9-sessioned")

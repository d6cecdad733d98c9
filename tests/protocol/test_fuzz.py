"""A short, seeded run of the fuzzer; ``make fuzz-decoder`` makes the long one."""

from tests.protocol.fuzz import fuzz


def test_fifty_thousand_broken_records():
    report = fuzz(50_000, seed=5)
    assert report.values > 5_000
    assert report.errors.total() > 20_000
    assert {"underflow", "trailing_bytes", "bad_length", "unknown_key_version", "unknown_value_version"} <= set(
        report.errors
    )

"""The records of the topic ``groupwatch.findings``: the key is a finding's id, the value a JSON object or nothing."""

from __future__ import annotations

from typing import Final

import msgspec

from monitor.model import FindingRecord
from monitor.protocol.wire.json_value import decode_json_struct

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(FindingRecord)


def encode_finding(record: FindingRecord) -> bytes:
    """The value of a record."""
    return _ENCODER.encode(record)


def decode_finding(data: bytes) -> FindingRecord:
    """What a value says. Fields that are not known are passed over: a newer groupwatch may have written them.

    Raises:
        DecodeError: it is no JSON, or no finding. The position is always 0; the cause tells more.
    """
    return decode_json_struct(_DECODER, data)

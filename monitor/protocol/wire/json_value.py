"""JSON that others may have written: read as a struct, or refused with a reason."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from monitor.protocol.wire.errors import DecodeError

Struct = TypeVar("Struct")


def decode_json_struct(decoder: msgspec.json.Decoder[Struct], data: bytes) -> Struct:
    """What the decoder makes of a record's value.

    Raises:
        DecodeError: it is no JSON, or not what the decoder wants. The position is always 0; the cause tells more.
    """
    try:
        return decoder.decode(data)
    except UnicodeDecodeError as error:
        raise DecodeError("bad_utf8", 0) from error
    except msgspec.ValidationError as error:
        raise DecodeError("bad_event", 0) from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise DecodeError("bad_json", 0) from error

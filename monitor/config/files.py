"""Small files of text, as configurations and secrets are. What is larger is none, and is not read to its end."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Final

LARGEST_BYTES: Final = 4 * 2**20
"""More than any configuration has; a device may never end."""


def small_text(path: Path) -> str:
    """What the file says.

    Raises:
        OSError: it cannot be read, or is larger than LARGEST_BYTES; UnicodeDecodeError: it is not UTF-8.
    """
    with path.open("rb") as file:
        content = file.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise OSError(errno.EFBIG, f"it is larger than {LARGEST_BYTES // 2**20} MiB")
    return content.decode("utf-8")

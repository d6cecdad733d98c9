"""Small files of text, as configurations and secrets are. What is larger is none, and is not read to its end."""

from __future__ import annotations

import errno
import tomllib
from pathlib import Path
from typing import Any, Final

from monitor.config.errors import ConfigError

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


def read_toml(path: Path, name: str) -> dict[str, Any]:
    """What a file of TOML has.

    Args:
        path: the file.
        name: what to call it in an error, at the beginning of a sentence.

    Raises:
        ConfigError: it cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(small_text(path))
    except OSError as error:
        raise ConfigError(f"{name} cannot be read ({error.strerror}).") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{name} is not TOML: {error}.") from None
    except ValueError:  # what Python says of it is for programmers
        raise ConfigError(f"{name} has a number with too many digits.") from None

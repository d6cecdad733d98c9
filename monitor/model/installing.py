"""Whether a package is installed, and how to install an extra. groupwatch is on no index: its name may be another's."""

from __future__ import annotations

import importlib.util
from typing import Final

NOT_IN_THE_IMAGE: Final = frozenset({"mcp", "demo"})


def how_to_install(extra: str) -> str:
    """What to do, as the rest of a sentence.

    >>> print(how_to_install("iam"))
    run pip install '.[iam]' in a clone of groupwatch, or use its image
    >>> print(how_to_install("mcp"))
    run pip install '.[mcp]' in a clone of groupwatch
    """
    clone = f"run pip install '.[{extra}]' in a clone of groupwatch"
    return clone if extra in NOT_IN_THE_IMAGE else f"{clone}, or use its image"


def is_installed(module: str) -> bool:
    """Whether a module can be imported. It is not; packages that it is in are.

    >>> is_installed("json.decoder"), is_installed("no_such.module")
    (True, False)
    """
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # a package that it is in
        return False

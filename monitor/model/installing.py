"""Whether a package is installed, and how to install an extra. No index is named: it may be another's there."""

from __future__ import annotations

import importlib.util
from typing import Final

NOT_IN_THE_IMAGE: Final = frozenset({"mcp", "demo"})


def how_to_install(extra: str) -> str:
    """What to do, as the rest of a sentence. It is true of a clone, of a wheel, and of an index of one's own.

    >>> print(how_to_install("iam"))
    install groupwatch again with the extra iam (in a clone: pip install '.[iam]'), or use its image
    >>> print(how_to_install("mcp"))
    install groupwatch again with the extra mcp (in a clone: pip install '.[mcp]')
    """
    again = f"install groupwatch again with the extra {extra} (in a clone: pip install '.[{extra}]')"
    return again if extra in NOT_IN_THE_IMAGE else f"{again}, or use its image"


def is_installed(module: str) -> bool:
    """Whether a module can be imported. It is not; packages that it is in are.

    >>> is_installed("json.decoder"), is_installed("no_such.module")
    (True, False)
    """
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # a package that it is in
        return False

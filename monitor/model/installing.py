"""How to install an extra of groupwatch. It is on no index of packages, where its name may be another's."""

from __future__ import annotations

from typing import Final

NOT_IN_THE_IMAGE: Final = frozenset({"mcp"})


def how_to_install(extra: str) -> str:
    """What to do, as the rest of a sentence.

    >>> print(how_to_install("iam"))
    run pip install '.[iam]' in a clone of groupwatch, or use its image
    >>> print(how_to_install("mcp"))
    run pip install '.[mcp]' in a clone of groupwatch
    """
    clone = f"run pip install '.[{extra}]' in a clone of groupwatch"
    return clone if extra in NOT_IN_THE_IMAGE else f"{clone}, or use its image"

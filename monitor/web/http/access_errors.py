"""The one error of what guards the HTTP server."""

from __future__ import annotations


class AccessError(Exception):
    """A file that guards the HTTP server cannot be used. One sentence: which file, where in it, why; never a secret."""

"""What ends a command with exit code 2 and one sentence. It is apart from the sources, which load more."""

from __future__ import annotations


class SourceError(Exception):
    """The job, the file or the cluster gives no answer; the text is one sentence that says which and why."""


class NotFoundError(SourceError):
    """The job knows no such cluster or group, or not in that time."""

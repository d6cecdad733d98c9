"""The one way in which an assignor can fail."""

from __future__ import annotations

from typing import Final

NO_ANSWER: Final = "NoAnswer"
"""In place of a Java exception: the original does not end for this input."""


class AssignorError(Exception):
    """The original assignor throws for this input, so there is no assignment.

    Attributes:
        original: the simple name of the Java exception, or ``NO_ANSWER``.
        message: its message, empty if it has none.

    >>> str(AssignorError("IllegalStateException", "No more unfilled consumers to be assigned."))
    'IllegalStateException: No more unfilled consumers to be assigned.'
    """

    def __init__(self, original: str, message: str = "") -> None:
        super().__init__(original, message)  # both, so that the error survives being sent between processes
        self.original = original
        self.message = message

    def __str__(self) -> str:
        """The exception as Java's tools print it, without the package."""
        return f"{self.original}: {self.message}" if self.message else self.original

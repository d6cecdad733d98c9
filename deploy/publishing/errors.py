"""Why nothing was published."""


class PublishingError(Exception):
    """Something is missing, or what was built is not as it should be. Its text is for people."""

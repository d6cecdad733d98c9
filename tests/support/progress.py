"""What a program of the tests that runs for minutes tells the person who waits."""

import sys
import time


def say(line: str) -> None:
    """Write a line with the time of day, at once."""
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {line}\n")
    sys.stdout.flush()

"""What a program of the tests that runs for minutes tells the person who waits, and what it leaves."""

import shutil
import sys
import time
from pathlib import Path


def say(line: str) -> None:
    """Write a line with the time of day, at once."""
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {line}\n")
    sys.stdout.flush()


def exit_code(folder: Path, has_failed: object) -> int:
    """1 if it has failed. Its folder with logs stays then, and is removed otherwise."""
    if has_failed:
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    return 0

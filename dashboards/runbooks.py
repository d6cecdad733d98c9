"""Where the runbooks are for those who read an alert: ``--runbooks`` of ``dashboards.generate`` and of its kin."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from urllib.parse import urlsplit


def runbooks_asked(program: str, arguments: Sequence[str] | None = None) -> str | None:
    """The address of the page of runbooks that the command line names, None if it names none.

    What cannot be used ends the program with a sentence and exit code 2.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {program}", allow_abbrev=False)
    parser.add_argument(
        "--runbooks",
        metavar="URL",
        type=_web_page,
        help="where docs/runbooks.md can be read; alerts then have the annotation runbook_url, URL#NAME",
    )
    asked: str | None = parser.parse_args(arguments).runbooks
    return asked


def _web_page(text: str) -> str:
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise argparse.ArgumentTypeError(f"{text!r} is no address of a page: it must begin with https:// or http://.")
    if "#" in text:
        raise argparse.ArgumentTypeError(f"{text!r} already names a section; the name of each alert is put behind #.")
    return text

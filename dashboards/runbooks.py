"""Options of ``dashboards.generate`` and its kin: the runbooks, clusters that must have series, the name of a label."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from monitor.model.cluster_label import CLUSTER_LABEL, checked_cluster_label


class Options(NamedTuple):
    """What the command line names: the address of the page of runbooks (None: none), clusters, and their label."""

    runbooks: str | None = None
    clusters: tuple[str, ...] = ()
    cluster_label: str = CLUSTER_LABEL


def command_options(program: str, arguments: Sequence[str] | None = None) -> Options:
    """The options of the command line.

    What cannot be used ends the program with a sentence and exit code 2.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {program}", allow_abbrev=False)
    parser.add_argument(
        "--runbooks",
        metavar="URL",
        type=_web_page,
        help="where docs/runbooks.md can be read; alerts then have the annotation runbook_url, URL#NAME",
    )
    parser.add_argument(
        "--cluster",
        metavar="NAME",
        action="append",
        default=[],
        help="a cluster that must have series, by its name in the configuration (repeatable): an alert if it has none",
    )
    parser.add_argument(
        "--cluster-label",
        metavar="LABEL",
        type=_label,
        default=CLUSTER_LABEL,
        help="the name of the label of the cluster, as metrics.cluster_label or your Prometheus has it",
    )
    asked = parser.parse_args(arguments)
    return Options(asked.runbooks, tuple(asked.cluster), asked.cluster_label)


def _label(text: str) -> str:
    try:
        return checked_cluster_label(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} {error}.") from None


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

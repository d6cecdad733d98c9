"""Ask the originals and ourselves the same random questions: ``python -m tests.oracle.fuzz --help``."""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any, TextIO

from tests.oracle.agreement import Answer, Case, ours, shrink
from tests.oracle.cases import CLIENT_FAMILIES, FAMILIES, random_cases
from tests.oracle.original import Original


def disagreements(family: str, seed: int, cases: int, original: Original) -> Iterator[Case]:
    """The cases in which we do not say what the original says, with both answers, made small.

    Each has ``expected`` or ``error`` (the original's), ``ours``, and ``found``: the id of the case before it was made
    small. As a line of JSON it is a line for ``python -m monitor.assignors``.
    """
    for case, answer in islice(random_cases(family, seed, original.ask), cases):
        kind = _kind(ours(case), answer)
        if kind is not None:
            small = shrink(case, lambda candidate, kind=kind: _kind(ours(candidate), original.ask(candidate)) == kind)
            yield {**small, **original.ask(small), "ours": ours(small), "found": case["id"]}


def _kind(our: Answer, answer: Answer) -> tuple[set[str], set[str]] | None:
    """What sort of disagreement it is, so that a small case shows the same; None if there is none."""
    return (set(our), set(answer)) if our != answer else None


def main() -> int:
    """Print the disagreements as lines of JSON, and what was done on standard error; 1 if there were any."""
    options = _options()
    found = 0
    with Original() as original:
        for family in options.families:
            _say(f"{family}: {options.cases} cases, seed {options.seed}", sys.stderr)
            for case in islice(disagreements(family, options.seed, options.cases, original), options.most):
                _say(json.dumps(case), sys.stdout)
                found += 1
    _say(f"{found} disagreements", sys.stderr)
    return 1 if found else 0


def _say(line: str, where: TextIO) -> None:
    where.write(line + "\n")
    where.flush()


def _options() -> Any:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.fuzz", description=__doc__)
    parser.add_argument("families", nargs="*", default=list(CLIENT_FAMILIES), help=f"of {', '.join(FAMILIES)}")
    parser.add_argument("--cases", type=int, default=10_000, help="for each family (10000)")
    parser.add_argument("--seed", type=int, default=None, help="anything; random if not given")
    parser.add_argument("--most", type=int, default=5, help="stop a family after so many disagreements (5)")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = secrets.randbelow(10**6)
    if unknown := set(options.families) - set(FAMILIES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    return options


if __name__ == "__main__":
    sys.exit(main())

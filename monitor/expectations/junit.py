"""An outcome as JUnit's XML, which servers for continuous integration show: a suite for each group."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from monitor.expectations.outcome import Check, GroupOutcome, Outcome
from monitor.model.escaping import escaped
from monitor.model.expectations import Met

_NOT_IN_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML 1.0 cannot hold, also escaped."""


def junit_xml(outcome: Outcome) -> bytes:
    """The outcome as a document. What is not met is a failure, and what is not known an error."""
    checks = [check for group in outcome.groups for check in group.checks]
    root = Element("testsuites", {"name": "groupwatch verify", **_counts(checks)})
    for each in outcome.groups:
        _add_suite(root, each)
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _add_suite(root: Element, group: GroupOutcome) -> None:
    name = _text(f"{group.cluster}/{group.group}" if group.group else group.cluster)
    suite = SubElement(root, "testsuite", {"name": name, **_counts(group.checks)})
    for check in group.checks:
        case = SubElement(suite, "testcase", classname=name, name=_text(check.key))
        if check.met is Met.NO:
            SubElement(case, "failure", message=_text(check.sentence))
        elif check.met is Met.UNKNOWN:
            SubElement(case, "error", message=_text(check.sentence))


def _counts(checks: Sequence[Check]) -> dict[str, str]:
    found = [check.met for check in checks]
    return {
        "tests": str(len(found)),
        "failures": str(found.count(Met.NO)),
        "errors": str(found.count(Met.UNKNOWN)),
    }


def _text(text: str) -> str:
    return _NOT_IN_XML.sub("?", escaped(text))

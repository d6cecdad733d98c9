"""The short words on the page: for every finding of the table."""

import pytest

from monitor.findings.spec import FindingSpec
from monitor.findings.table import FINDINGS


def name(spec: FindingSpec) -> str:
    return f"{spec.kind.value}/{spec.reason}"


@pytest.mark.parametrize("spec", [spec for spec in FINDINGS if spec.mark is not None], ids=name)
def test_what_marks_a_partition_on_the_page_is_a_few_words_and_no_sentence(spec: FindingSpec):
    assert spec.mark is not None
    assert spec.mark[0].islower()
    assert not spec.mark.endswith(".")
    assert 0 < len(spec.mark) < 50

"""The process with Spark for tests ends where nobody asks for long, and is started again with the next question."""

from __future__ import annotations

import gc
import warnings

from tests.support.delta_spark import DeltaSpark


def test_a_process_that_has_ended_is_started_again_and_leaves_no_pipe_open():
    with warnings.catch_warnings(record=True) as open_pipes:
        warnings.simplefilter("always", ResourceWarning)
        with DeltaSpark("tests.support.brief_session") as spark:
            answers = [spark.run(f"program-{number}", number).value for number in range(3)]
        gc.collect()
    assert answers == [[f"program-{number}", [number]] for number in range(3)]
    assert [str(each.message) for each in open_pipes] == []

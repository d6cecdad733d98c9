"""One JVM for all tests of this folder."""

import pytest

from tests.oracle.original import Original


@pytest.fixture(scope="package")
def original():
    with Original() as jvm:
        yield jvm

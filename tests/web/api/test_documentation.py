"""docs/api.md shows what the API answers."""

import pytest

from tests.web.api.api_page import PAGE, folded, page


def test_the_page_shows_what_the_api_answers_today():
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.web.api.api_page"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, 2]}, '{"a": [1, 2]}'),
        ({"a": "x" * 100, "b": [1]}, '{\n  "a": "' + "x" * 100 + '",\n  "b": [1]\n}'),
        (["x" * 60, "y" * 60], '[\n  "' + "x" * 60 + '",\n  "' + "y" * 60 + '"\n]'),
    ],
)
def test_what_fits_into_a_line_stands_in_one(value, text):
    assert folded(value) == text

"""What cannot be seen in a name is written out; what people write names in stays."""

import unicodedata

import pytest

from monitor.model.escaping import escaped

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
CONTROLS = "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0))))
SEPARATORS = "\u2028\u2029\u00a0\u3000"
INVISIBLE = "\u200b\u200c\u200d\ufeff\u00ad\u034f\u3164\u115f\u2800\ufe0f\U000e0100\U000e0041"


@pytest.mark.parametrize("char", [*BIDI, *CONTROLS, *SEPARATORS, *INVISIBLE], ids=lambda char: f"{ord(char):04x}")
def test_what_cannot_be_seen_is_written_out_and_nothing_else(char: str):
    code = ord(char)
    short = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
    told = short.get(char) or (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )
    assert escaped(f"\u05d0a{char}\u6ce8") == f"\u05d0a{told}\u6ce8"


def test_half_a_character_is_written_out():
    assert escaped("a\ud800b") == "a\\ud800b"


@pytest.mark.parametrize(
    "name",
    [
        "orders.eu-1_x",
        "DOMAIN\\user",
        "quote\" and ' <b>&amp;",
        "\u05d4\u05d6\u05de\u05e0\u05d5\u05ea",  # Hebrew
        "\u0637\u0644\u0628\u0627\u062a",  # Arabic
        "\u6ce8\u6587\u3057\u307e\u3059\ud55c\uae00",  # Chinese, Japanese, Korean
        "e\u0301 \u0e2a\u0e31\u0e48\u0e07",  # a mark of its own, Thai
        "\U0001f600 \U0001f44d\U0001f3fd",  # a face, a thumb with a colour
        "\u2764\ufe0f\u200d\U0001f525 \U0001f468\u200d\U0001f469\u200d\U0001f467",  # joined: a heart on fire, a family
    ],
)
def test_names_in_any_script_stay_as_they_are(name: str):
    assert escaped(name) == name


def test_no_character_of_unicode_that_turns_text_around_or_controls_it_comes_through():
    """Of all there are: Cc controls, Cf formats (bidi among them), Zl and Zp lines, Cs halves, Co private, Cn none."""
    through = [code for code in range(0x110000) if escaped(chr(code)) == chr(code)]
    assert {unicodedata.category(chr(code)) for code in through} & {"Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn"} == set()
    assert [code for code in through if unicodedata.bidirectional(chr(code)) in _TURNING] == []


_TURNING = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI", "BN"}


@pytest.mark.parametrize("text", ["a\n\u202e\u05d0\x1b[2J", "\\u202e", "\U0001f468\u200dx\u200d\U0001f469", ""])
def test_to_escape_twice_is_to_escape_once(text: str):
    assert escaped(escaped(text)) == escaped(text)

"""The folder of a cluster lies in the checkpoint and is its own, whatever the cluster is called."""

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming_jobs.runtime.checkpoint import folder_of

NAMES = st.text(st.one_of(st.sampled_from("./%~\\\0"), st.characters(exclude_categories=["Cs"])), max_size=8)


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("prod-1_x.~", "prod-1_x.~"),
        ("prod eu", "prod%20eu"),
        (".", "%2E"),
        ("..", "%2E%2E"),
        ("...", "%2E%2E%2E"),
        ("..x", "..x"),
        ("../x", "..%2Fx"),
        ("/etc", "%2Fetc"),
        ("a\0b\n", "a%00b%0A"),
        ("%2E", "%252E"),
        ("a+owner", "a%2Bowner"),
        ("\u05d4", "%D7%94"),
    ],
)
def test_a_name_is_one_folder(name: str, folder: str):
    """Those without hostile characters are as they always were: checkpoints are found again."""
    assert folder_of(name) == folder


@given(NAMES.filter(bool))
def test_no_name_leads_out_of_the_checkpoint(name: str):
    folder = PurePosixPath("/checkpoint", folder_of(name))
    assert folder.parent == PurePosixPath("/checkpoint")
    assert folder.name not in ("", ".", "..")


@given(NAMES, NAMES)
def test_two_names_have_two_folders(one: str, other: str):
    assert (folder_of(one) == folder_of(other)) == (one == other)

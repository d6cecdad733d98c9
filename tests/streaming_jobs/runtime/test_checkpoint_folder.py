"""The folder of a cluster lies in the checkpoint and is its own, whatever the cluster is called."""

from pathlib import PurePosixPath

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streaming_jobs.recording.recorder import recorder_checkpoint
from streaming_jobs.runtime.checkpoint import Layout, LayoutVersionError, decode_layout, folder_of

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
@example(".")
@example("..")
def test_no_name_leads_out_of_the_checkpoint(name: str):
    folder = PurePosixPath("/checkpoint", folder_of(name))
    assert folder.parent == PurePosixPath("/checkpoint")
    assert folder.name not in ("", ".", "..")


@given(NAMES.filter(bool))
@example(".")
@example("..")
def test_no_name_leads_out_of_the_checkpoints_of_a_recording(name: str):
    folder = PurePosixPath(recorder_checkpoint("/history", name))
    assert folder.parent == PurePosixPath("/history/checkpoints")
    assert folder.name not in ("", ".", "..")


@given(NAMES, NAMES)
def test_two_names_have_two_folders(one: str, other: str):
    assert (folder_of(one) == folder_of(other)) == (one == other)


LAYOUT = Layout(cluster="c", buckets=4, events_topic="e", shard="2/3", groups_from="admin", via="carrier", log_id="x")


def test_a_layout_is_read_as_it_was_written():
    assert decode_layout(msgspec.json.encode(LAYOUT).decode()) == LAYOUT


@pytest.mark.parametrize(
    ("text", "version"),
    [
        pytest.param('{"cluster":"c","buckets":4,"events_topic":"e"}', 0, id="before 0.1.0 it named none"),
        pytest.param('{"version":2,"clusters":["c"]}', 2, id="a newer one of another shape"),
    ],
)
def test_a_layout_of_another_version_is_refused(text: str, version: int):
    with pytest.raises(LayoutVersionError, match=f"^its layout has version {version}; this .* reads version 1$"):
        decode_layout(text)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version":"1"}', '{"version":1}'])
def test_a_text_that_is_no_layout_is_refused(text: str):
    with pytest.raises(msgspec.DecodeError):
        decode_layout(text)

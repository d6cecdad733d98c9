"""The private folder of one run, and what becomes of it when its process is killed."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from streaming_jobs.runtime.run_folder import LONGEST_SOCKET_FOLDER, PREFIX, SHORT_BASE, RunFolder, remove_abandoned

HOLDS_ONE = """
import sys
from pathlib import Path
from streaming_jobs.runtime.run_folder import RunFolder
folder = RunFolder(Path(sys.argv[1]))
(folder.path / "library.so").write_bytes(b"x")
print(folder.path, flush=True)
sys.stdin.read()
"""


def holder(base: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process that has a run folder, and the folder."""
    command = [sys.executable, "-c", HOLDS_ONE, str(base)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_only_its_user_can_open_it_and_closing_removes_it(tmp_path: Path):
    with RunFolder(tmp_path) as folder:
        file = folder.write("spark.conf", "a secret")
        assert folder.path.stat().st_mode & 0o777 == 0o700
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.read_text(encoding="utf-8") == "a secret"
    assert list(tmp_path.iterdir()) == []


def test_a_start_removes_what_a_killed_process_left_and_nothing_of_a_living_one(tmp_path: Path):
    killed, left = holder(tmp_path)
    living, kept = holder(tmp_path)
    try:
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        assert (left / "library.so").exists()
        assert remove_abandoned(tmp_path) == 1
        assert sorted(tmp_path.iterdir()) == [kept]
        assert (kept / "library.so").exists()
    finally:
        end(living)


def test_what_is_not_a_run_folder_of_this_user_is_left_alone(tmp_path: Path):
    target = tmp_path / "elsewhere"
    target.mkdir()
    (target / "precious").write_text("x", encoding="utf-8")
    base = tmp_path / "base"
    base.mkdir()
    (base / f"{PREFIX}link").symlink_to(target)
    (base / f"{PREFIX}file").write_text("x", encoding="utf-8")
    (base / "another-folder").mkdir()
    if os.getuid() == 0:
        strangers = base / f"{PREFIX}stranger"
        strangers.mkdir()
        os.chown(strangers, 65534, 65534)
    before = sorted(base.iterdir())
    assert remove_abandoned(base) == 0
    assert sorted(base.iterdir()) == before
    assert (target / "precious").exists()


def test_sockets_lie_in_a_folder_of_a_short_name_in_lower_case():
    with RunFolder(SHORT_BASE) as folder:
        assert folder.sockets == folder.path


@pytest.mark.parametrize(
    "name",
    [pytest.param("d" * LONGEST_SOCKET_FOLDER, id="long"), pytest.param("Run", id="with a capital")],
)
def test_sockets_get_a_path_that_the_system_and_pyspark_take(name: str):
    with tempfile.TemporaryDirectory(prefix="t-", dir=SHORT_BASE) as short:
        base = Path(short, name)
        base.mkdir()
        folder = RunFolder(base)
        other = folder.sockets
        try:
            assert len(str(other)) <= LONGEST_SOCKET_FOLDER
            assert str(other) == str(other).lower()
            assert other.stat().st_mode & 0o777 == 0o700
        finally:
            folder.close()
        assert not other.exists()


def test_a_base_that_cannot_be_read_holds_nothing_up(tmp_path: Path):
    assert remove_abandoned(tmp_path / "absent") == 0

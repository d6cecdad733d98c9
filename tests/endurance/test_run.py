"""The long run's report: which counts make up its table, and which two times are compared."""

from __future__ import annotations

import os
from pathlib import Path

from tests.endurance.census import ProcessCount, Role
from tests.endurance.run import Folder, Sample, folders_of, growth_in, is_row

MINUTE_S = 60.0
HOURS_2_S = 120 * MINUTE_S


def sample(minute: float, sockets: int = 30, files: int = 500) -> Sample:
    jvm = ProcessCount(Role.JVM, 2, 400 + sockets, sockets, 300, 900)
    folders = {name: Folder(files, 1.0) for name in ("checkpoint", "recording", "temporary", "shuffles")}
    return Sample(minute * MINUTE_S, int(60 * minute), (jvm,), folders)


def rows(minutes: float, every: float) -> list[float]:
    samples = [sample(every * number) for number in range(int(minutes / every) + 1)]
    seconds = minutes * MINUTE_S
    return [s.elapsed_s / MINUTE_S for number, s in enumerate(samples, 1) if is_row(samples[:number], seconds)]


def test_the_table_has_the_start_and_each_half_hour_or_each_quarter_of_a_short_run():
    assert rows(120, every=1) == [0, 30, 60, 90, 120]
    assert rows(8, every=0.5) == [0, 2, 4, 6, 8]


def test_what_grows_after_the_warm_up_is_found():
    leaking = [sample(minute, sockets=30 + 200 * minute) for minute in range(121)]
    assert growth_in(leaking, HOURS_2_S)[0].startswith("jvm descriptors: ")


def test_what_grows_only_while_all_is_warming_up_is_no_growth():
    warming = [sample(minute, sockets=min(30 + 10 * minute, 400)) for minute in range(121)]
    assert growth_in(warming, HOURS_2_S) == []


def test_nothing_is_compared_before_the_end():
    leaking = [sample(minute, sockets=30 + 200 * minute) for minute in range(90)]
    assert growth_in(leaking, HOURS_2_S) == []


def test_files_of_checkpoint_and_temporary_folder_may_not_grow_and_those_of_the_recording_may():
    growing = [sample(minute, files=100 * minute) for minute in range(121)]
    assert [line.split(":")[0] for line in growth_in(growing, HOURS_2_S)] == ["checkpoint files", "temporary files"]


def test_the_files_of_shuffles_are_counted_by_themselves(tmp_path: Path):
    for name in ("checkpoint/a", "t/run/blockmgr-1/0c/shuffle_1", "t/run/native.so", "t/run/blockmgr-1/0d/shuffle_2"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(os.urandom(10))
    counted = {name: folder.files for name, folder in folders_of(tmp_path).items()}
    assert counted == {"checkpoint": 1, "recording": 0, "temporary": 1, "shuffles": 2}

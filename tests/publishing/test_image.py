"""What `make image` runs, and what it refuses. No engine is here, so what Docker and Podman are told is compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.publishing.errors import PublishingError
from deploy.publishing.image import Image, commands, engine, main, require_sound

NAME = "registry.example/team/groupwatch"


def program(folder: Path, name: str, code: int) -> None:
    (folder / name).write_text(f"#!/bin/sh\nexit {code}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("programs", "found"),
    [
        pytest.param({"docker": 0, "podman": 0}, "docker", id="a daemon answers"),
        pytest.param({"docker": 1, "podman": 0}, "podman", id="no daemon answers"),
        pytest.param({"podman": 0}, "podman", id="no Docker"),
    ],
)
def test_the_engine_is_the_one_that_can_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: dict[str, int], found: str
):
    for name, code in programs.items():
        program(tmp_path, name, code)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert engine() == found


@pytest.mark.parametrize(
    ("programs", "sentence"),
    [
        pytest.param({}, "Docker or Podman is needed, and neither is in PATH.", id="none"),
        pytest.param(
            {"docker": 1},
            "Docker is in PATH, but its daemon does not answer, and there is no Podman.",
            id="Docker without a daemon",
        ),
    ],
)
def test_without_an_engine_it_says_what_is_missing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    programs: dict[str, int],
    sentence: str,
):
    for name, code in programs.items():
        program(tmp_path, name, code)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("deploy.publishing.image.revision", lambda: "0")  # git is not in that PATH
    with pytest.raises(SystemExit) as ended:
        main([])
    assert (ended.value.code, capsys.readouterr().err) == (2, f"make image: {sentence}\n")


def test_several_platforms_are_pushed_with_a_list_of_what_is_in_them():
    image = Image(NAME, "0.2.0", "abc", "https://git.example/g", "linux/amd64,linux/arm64", publishes=True)
    options = "--build-arg VERSION=0.2.0 --build-arg REVISION=abc --label"
    options += " org.opencontainers.image.source=https://git.example/g --platform linux/amd64,linux/arm64"
    tagged = f"{NAME}:0.2.0"
    (docker,) = commands("docker", image)
    assert " ".join(docker) == (
        f"docker buildx build {options} --tag {tagged} --push --sbom=true --provenance=mode=max ."
    )
    assert [" ".join(each) for each in commands("podman", image)] == [
        f"podman build --format docker {options} --manifest {tagged} .",
        f"podman manifest push --all {tagged} docker://{tagged}",
    ]


def test_one_that_is_not_published_is_pushed_nowhere():
    for used in ("docker", "podman"):
        for platforms in ("", "linux/amd64,linux/arm64"):
            built = commands(used, Image(NAME, "0.2.0", platforms=platforms))  # type: ignore[arg-type] # both are engines
            assert [words for words in built if "push" in " ".join(words)] == []


@pytest.mark.parametrize("name", ["groupwatch", "team/groupwatch"])
def test_no_registry_is_the_default(name: str):
    require_sound(Image(name, "0.2.0"))
    require_sound(Image("localhost/groupwatch", "0.2.0", publishes=True))
    with pytest.raises(PublishingError, match="PUBLISH needs the host of your registry in IMAGE"):
        require_sound(Image(name, "0.2.0", publishes=True))


def test_a_tag_is_no_part_of_the_name():
    with pytest.raises(PublishingError, match="a name without a tag"):
        require_sound(Image(f"{NAME}:0.2.0", "0.2.0"))

"""`make chart` packages what Helm accepts, with the names that it is given."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
import yaml

from deploy.publishing.chart import main, package, with_image
from deploy.publishing.errors import PublishingError
from deploy.publishing.helm import find_helm
from monitor.java_runtime.jars import cache_dir
from tests.repository.test_deploy_helm import CHART
from tests.support.helm import helm_program

NAME = "registry.example:5000/team/groupwatch"
SOURCE = "https://git.example/team/groupwatch"


def test_a_package_has_the_content_of_links_and_the_names_that_were_chosen(tmp_path: Path):
    helm_program()
    packaged = package("0.2.0", NAME, SOURCE, tmp_path)
    assert packaged.name == "groupwatch-0.2.0.tgz"
    with tarfile.open(packaged) as archive:
        files = {each.name: archive.extractfile(each).read() for each in archive}  # type: ignore[union-attr] # all are
    chart, values = (yaml.safe_load(files[f"groupwatch/{name}"]) for name in ("Chart.yaml", "values.yaml"))
    assert (chart["version"], chart["appVersion"], chart["home"], chart["sources"]) == (
        "0.2.0",
        "0.2.0",
        SOURCE,
        [SOURCE],
    )
    assert values["image"]["repository"] == NAME
    rules = "files/prometheusrule.yaml"
    assert (CHART / rules).is_symlink()
    assert files[f"groupwatch/{rules}"] == (CHART / rules).read_bytes()


def test_helm_of_the_cache_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    for variable in ("GROUPWATCH_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv("GROUPWATCH_CACHE", raising=False)
        monkeypatch.setenv(variable, str(tmp_path / variable))
        assert find_helm() is None
        built = cache_dir() / "helm-3.22.0" / "helm"
        built.parent.mkdir(parents=True)
        built.touch()
        assert find_helm() == str(built)


def test_names_that_mean_something_else_are_refused(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(PublishingError, match="a name without a tag"):
        with_image((CHART / "values.yaml").read_text(encoding="utf-8"), f"{NAME}:0.2.0")
    with pytest.raises(SystemExit) as ended:
        main(["--publish", "registry.example/charts"])
    assert (ended.value.code, "oci://registry.example/charts" in capsys.readouterr().err) == (2, True)

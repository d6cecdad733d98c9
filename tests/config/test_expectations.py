"""A file of expectations: what its keys mean, a sentence for each mistake, and the schema for editors."""

import json
from pathlib import Path

import jsonschema
import pytest

from monitor.config.errors import ConfigError
from monitor.config.expectations import load_expectations
from monitor.config.expectations_schema import expectations_schema
from monitor.expectations.expectation import Expectation, MemberRange, Objective

WHOLE = """
[[expect]]
groups = "orders"
cluster = "prod"
team = "checkout"
exists = true
members = 3
protocol = "consumer"
assignor = "uniform"
static = false
max_lag_s = 30
max_share = 1.5
allow = ["rebalance", "lag/behind"]
slo = { percent = 99.5, window = "4w" }

[[expect]]
groups = "batch-.*"
members = { min = 1, max = 6 }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "expectations.toml"


def test_every_key(file):
    file.write_text(WHOLE)
    found = load_expectations(file)
    assert found.entries == (
        Expectation(
            groups="orders",
            cluster="prod",
            team="checkout",
            exists=True,
            members=MemberRange(3, 3),
            protocol="consumer",
            assignor="uniform",
            static=False,
            max_lag_s=30,
            max_share=1.5,
            allow=("rebalance", "lag/behind"),
            slo=Objective(percent=99.5, window_days=28),
        ),
        Expectation(groups="batch-.*", members=MemberRange(1, 6)),
    )


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("member = 3", "expect#1.member is not a known key (did you mean members?)."),
        ("members = { min = 3, max = 2 }", "expect#1.members should have a max that is at least its min."),
        ("members = true", "expect#1.members should be a table."),
        ("members = { max = 1000001 }", "expect#1.members.max should be less than or equal to 1000000."),
        ('protocol = "eager"', "expect#1.protocol should be 'classic', 'consumer', 'share' or 'streams'."),
        ("max_share = 0.5", "expect#1.max_share should be greater than or equal to 1."),
        ('allow = ["drif"]', "expect#1.allow has 'drif', which is no finding: see docs/findings.md."),
        ("slo = 99.5", "expect#1.slo should be a table."),
        ("slo = { percent = 99.5 }", "expect#1.slo.window is required."),
        ('slo = { percent = 100, window = "30d" }', "expect#1.slo.percent should be less than 100."),
        (
            'slo = { percent = 99.99999999999, window = "30d" }',
            "expect#1.slo.percent should have at most 6 decimals.",
        ),
        (
            'slo = { percent = 99, window = "1h" }',
            "expect#1.slo.window should be days or weeks, as 30d or 4w, from 7d to 366d.",
        ),
        (
            'slo = { percent = 99, window = "30d", name = "x" }',
            "expect#1.slo.name is not a known key.",
        ),
    ],
)
def test_a_mistake_is_one_sentence(file, entry, sentence):
    file.write_text(f'[[expect]]\ngroups = "g"\n{entry}\n')
    with pytest.raises(ConfigError) as caught:
        load_expectations(file)
    assert caught.value.problems == (sentence,)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "expect is required."),
        ("expect = []", "expect should have an entry [[expect]]."),
        ("[[expect]]\nmembers = 1", "expect#1.groups is required."),
        (
            '[[expect]]\ngroups = "(?=a)"',
            "expect#1.groups should be an RE2 regular expression (invalid perl operator: (?=).",
        ),
    ],
)
def test_a_file_without_what_it_needs(file, text, sentence):
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_expectations(file)
    assert caught.value.problems == (sentence,)


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"none\.toml cannot be read \(No such file or directory\)\."):
        load_expectations(tmp_path / "none.toml")


def test_the_schema_takes_the_file_and_refuses_what_it_does_not_know():
    import tomllib  # noqa: PLC0415

    schema = json.loads(json.dumps(expectations_schema()))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert list(validator.iter_errors(tomllib.loads(WHOLE))) == []
    assert list(validator.iter_errors({"expect": [{"groups": "g", "member": 2}]})) != []
    described = schema["$defs"]["ExpectTable"]["properties"]
    assert len(described) == 12
    assert all(each.get("description") for each in described.values())


def test_the_schema_in_docs_is_that_of_the_code():
    kept = json.loads((Path(__file__).parents[2] / "docs" / "expectations.schema.json").read_text(encoding="utf-8"))
    assert kept == expectations_schema(), (
        "run: python -m monitor.config.expectations_schema > docs/expectations.schema.json"
    )


def test_the_example_of_the_page_can_be_read(file):
    page = (Path(__file__).parents[2] / "docs" / "expectations.md").read_text(encoding="utf-8")
    file.write_text(page.split("```toml\n")[1].split("```")[0], encoding="utf-8")
    found = load_expectations(file)
    assert [each.groups for each in found.entries] == ["orders", ".*"]
    described = expectations_schema()["$defs"]["ExpectTable"]["properties"]
    assert [key for key in described if f"| `{key}` |" not in page] == []

"""The commands delete what they name and nothing else, whatever a name is: a real bash reads them."""

import subprocess

import pytest

from monitor.messages.commands import shell_word
from monitor.model.escaping import escaped
from monitor.topics.delete_commands import delete_group, delete_offsets
from tests.support.programs import required
from tests.web.examples import HOSTILE_NAMES

TOOL = "kafka-consumer-groups.sh"
MORE_HOSTILE = (
    "$(touch /tmp/pwned)",
    "`id`",
    "it's",
    "a;b|c&d>e",
    "-rf",
    "--all-groups",
    "a\tb",
    "\x1b[2J",
    "\\x41",
    "a\\'b\n",
    "é\u202e",
    "*",
    "~",
    "!history",
    "# comment",
)
NAMES = [name for name in (*HOSTILE_NAMES, *MORE_HOSTILE) if name and "\0" not in name]


def arguments(command: str) -> list[str]:
    """What bash would give to the tool, which is a function here."""
    script = f'{TOOL}() {{ printf "%s\\0" "$@"; }}; {command}'
    ran = subprocess.run([required("bash", "bash"), "-c", script], capture_output=True, check=True)
    assert ran.stderr == b""
    return ran.stdout.decode().split("\0")[:-1]


def parsed(command: str) -> dict[str, str]:
    """The options as Kafka's tools read them: ``--name value`` or ``--name=value``; a flag is "" ."""
    found: dict[str, str] = {}
    words = arguments(command)
    while words:
        name, equals, value = words.pop(0).partition("=")
        if not equals and words and not words[0].startswith("-"):
            value = words.pop(0)
        found[name] = value
    return found


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_shell_reads_the_name_of_the_group_and_runs_nothing(name):
    command = delete_group(TOOL, name)
    assert command is not None
    assert parsed(command) == {"--bootstrap-server": "BROKER:9092", "--delete": "", "--group": name}


@pytest.mark.parametrize("name", [name for name in NAMES if not set(name) & set(":,")], ids=ascii)
def test_a_shell_reads_the_topic_with_its_partitions(name):
    command = delete_offsets(TOOL, "g", name, (0, 2))
    assert command is not None
    options = parsed(command)
    assert options == {
        "--bootstrap-server": "BROKER:9092",
        "--delete-offsets": "",
        "--group": "g",
        "--topic": f"{name}:0,2",
    }


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_command_shows_every_character(name):
    word = shell_word(name)
    assert word is not None
    assert escaped(word) == word


@pytest.mark.parametrize("name", ["", "\0", "a\0b", "\ud800"], ids=ascii)
def test_what_no_argument_can_hold_has_no_command(name):
    assert delete_group(TOOL, name) is None
    assert delete_offsets(TOOL, name, "t", (0,)) is None
    assert delete_offsets(TOOL, "g", name, (0,)) is None


@pytest.mark.parametrize("topic", ["a:b", "a,b"])
def test_a_topic_that_the_tool_would_split_has_no_command(topic):
    assert delete_offsets(TOOL, "g", topic, (0,)) is None

"""What ``--help`` says below the options: examples, exit codes, variables. One entry for each command.

The texts are apart from the commands, so that a test can hold every example against the options there are, and the
manual page is made from the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
import typer
from typer.models import CommandInfo

from monitor.cli.usage import OneCommand


class Example(msgspec.Struct, frozen=True):
    """What to type, and what that does."""

    typed: str
    does: str


class Meaning(msgspec.Struct, frozen=True):
    """An exit code or a variable, and its meaning."""

    word: str
    means: str


class Manual(msgspec.Struct, frozen=True):
    """What the help of one command has besides its options."""

    examples: tuple[Example, ...]
    exit_codes: tuple[Meaning, ...]
    environment: tuple[Meaning, ...] = ()


AS_ASKED: Final = Meaning("0", "success")
STOPPED: Final = Meaning("0", "stopped by SIGTERM or Ctrl-C, at any moment")
PASSED: Final = Meaning("0", "stopped by SIGTERM or Ctrl-C, at any moment; or its duration has passed")
INTERRUPTED: Final = Meaning("130", "interrupted (Ctrl-C)")
CANNOT_START: Final = Meaning(
    "2",
    "it cannot start, or cannot use this checkpoint; the last line names the cause: settings, permissions, port, Java",
)
FAILED: Final = Meaning("1", "it failed while running; the last lines show the cause, and a restart may help")
NO_ANSWER: Final = Meaning(
    "2", "no answer: no job is listening there, or the cluster, group or partition does not exist"
)

SETTINGS: Final = Meaning(
    "GROUPWATCH_SECTION__KEY", "any setting, overriding the file: GROUPWATCH_HTTP__PORT, GROUPWATCH_SPARK__CHECKPOINT"
)
CACHE: Final = Meaning("GROUPWATCH_CACHE", "the folder of fetched jars and archives (by default ~/.cache/groupwatch)")
JAVA: Final = Meaning("JAVA_HOME", "the Java to use, 17 or 21, if it is not the first in PATH")

HISTORY: Final = Meaning("GROUPWATCH_HISTORY__FOLDER", "same as --history, which overrides it")
OF_JOB: Final = (
    Meaning("GROUPWATCH_URL", "same as --url, which overrides it"),
    Meaning("GROUPWATCH_TOKEN_FILE", "same as --token-file; --token-file and --user override it"),
    Meaning("GROUPWATCH_CA_FILE", "same as --ca-file, which overrides it"),
)
"""The variables of every command that requests a job."""

NOT_KNOWN: Final = Meaning(
    "2", "no answer: no job is listening there, it watches no such cluster, or nothing of it is known yet"
)

MANUALS: Final[Mapping[str, Manual]] = {
    "rules": Manual(
        examples=(
            Example("groupwatch rules --config groupwatch.toml > alerts.yml", "Write a rule file for Prometheus."),
            Example(
                "groupwatch rules --config g.toml --format prometheusrule > rules.yaml",
                "Write the rules for the Prometheus operator.",
            ),
            Example(
                "groupwatch rules --config g.toml --format alertmanagerconfig > am.yaml",
                "Write the inhibitions for the operator's Alertmanager.",
            ),
        ),
        exit_codes=(
            AS_ASKED,
            Meaning("2", "the configuration is wrong: one sentence for each mistake"),
            INTERRUPTED,
        ),
        environment=(SETTINGS,),
    ),
    "slo": Manual(
        examples=(
            Example("groupwatch slo expect.toml --cluster prod > slo.yml", "Write alert rules for Prometheus."),
            Example(
                "groupwatch slo expect.toml --config g.toml --format sloth > sloth.yml",
                "Write a file for Sloth, with the clusters of the configuration.",
            ),
        ),
        exit_codes=(
            AS_ASKED,
            Meaning(
                "2", "a file is wrong, no entry has slo, or an entry needs a cluster: one sentence for each mistake"
            ),
            INTERRUPTED,
        ),
        environment=(SETTINGS,),
    ),
    "dashboards": Manual(
        examples=(
            Example("groupwatch dashboards --config groupwatch.toml --out boards", "Write five files for Grafana."),
            Example(
                "groupwatch dashboards --config g.toml --format grafanadashboard > boards.yaml",
                "Write them for grafana-operator.",
            ),
            Example(
                "groupwatch dashboards --config g.toml --format configmap > boards.yaml",
                "Write them for Grafana's sidecar.",
            ),
        ),
        exit_codes=(
            AS_ASKED,
            Meaning("2", "the configuration is wrong, or the folder cannot be written"),
            INTERRUPTED,
        ),
        environment=(SETTINGS,),
    ),
    "status": Manual(
        examples=(
            Example("groupwatch status", "Show all clusters and groups of the local job, worst first."),
            Example("groupwatch status prod --watch", "Show those of cluster prod again and again until Ctrl-C."),
            Example("groupwatch status --fail-on critical --json", "Check from a script: the exit code says it."),
        ),
        exit_codes=(
            Meaning("0", "success, whatever is found; with --fail-on: no such finding, and everything is known"),
            Meaning("1", "with --fail-on: a finding that is at least as severe"),
            Meaning(
                "2",
                "no answer: no job is listening there, or it watches no such cluster; with --fail-on: a cluster is not "
                "ready or stale, or a group is not evaluated, so findings may be missing",
            ),
            INTERRUPTED,
        ),
        environment=OF_JOB,
    ),
    "verify": Manual(
        examples=(
            Example("groupwatch verify expect.toml", "Verify the groups of the local job's only cluster."),
            Example(
                "groupwatch verify expect.toml --bootstrap-server broker:9092 --junit r.xml",
                "Verify by one look at the brokers, and write a report for a build server.",
            ),
            Example(
                "groupwatch verify expect.toml --group orders --wait 10m --replaced",
                "Wait for a rollout of orders that replaces all members, and say what it cost.",
            ),
            Example(
                "groupwatch verify expect.toml --history /srv/history --since -30d",
                "Say for how long expectations were met, and whether that is enough for each slo.",
            ),
        ),
        exit_codes=(
            Meaning(
                "0",
                "all expectations are met; with --wait: for --stable without a break; with --since and --history: each "
                "slo would have been met",
            ),
            Meaning("1", "an expectation is not met; with --wait: when the time is up, or a limit is exceeded"),
            Meaning(
                "2",
                "unknown: no answer, mistakes in the file, or a group that is not ready, stale, not seen or not "
                "evaluated; unknown is never 0",
            ),
            INTERRUPTED,
        ),
        environment=(*OF_JOB, HISTORY),
    ),
    "findings": Manual(
        examples=(
            Example("groupwatch findings", "List all open findings of the local job, with what to do."),
            Example("groupwatch findings prod --json", "Print those of cluster prod as JSON."),
        ),
        exit_codes=(Meaning("0", "success, whatever is found"), NOT_KNOWN, INTERRUPTED),
        environment=OF_JOB,
    ),
    "topics": Manual(
        examples=(
            Example("groupwatch topics prod", "List the topics of cluster prod, and how many groups read them."),
            Example("groupwatch topics prod --unread", "List those that no group reads."),
        ),
        exit_codes=(AS_ASKED, NOT_KNOWN, INTERRUPTED),
        environment=OF_JOB,
    ),
    "unused": Manual(
        examples=(
            Example("groupwatch unused", "List groups and offsets that could be deleted, with the commands."),
            Example("groupwatch unused prod --json", "Print those of cluster prod as JSON."),
        ),
        exit_codes=(AS_ASKED, NOT_KNOWN, INTERRUPTED),
        environment=OF_JOB,
    ),
    "run": Manual(
        examples=(
            Example("groupwatch run --config groupwatch.toml", "Watch these clusters until Ctrl-C or SIGTERM."),
            Example("groupwatch run --config groupwatch.toml --shard 2/3", "Watch the second of three shards."),
            Example("GROUPWATCH_HTTP__PORT=9465 groupwatch run --config groupwatch.toml", "Serve on another port."),
            Example(
                "groupwatch run --config groupwatch.toml --rebuild",
                "Start over after a damaged checkpoint; the old state is kept beside it.",
            ),
        ),
        exit_codes=(STOPPED, FAILED, CANNOT_START),
        environment=(
            SETTINGS,
            Meaning("GROUPWATCH_SHARD", "same as --shard, which overrides it"),
            Meaning("PYSPARK_PYTHON", "the Python of executors on a cluster; it must have groupwatch"),
            JAVA,
            CACHE,
        ),
    ),
    "collect": Manual(
        examples=(
            Example("groupwatch collect --config groupwatch.toml", "Run all collectors of this file."),
            Example(
                "groupwatch collect --config groupwatch.toml --only rocketmq --port 9465",
                "Run only those of RocketMQ; serve their metrics on another port than the job.",
            ),
        ),
        exit_codes=(STOPPED, CANNOT_START),
        environment=(SETTINGS,),
    ),
    "prepare": Manual(
        examples=(
            Example("groupwatch prepare", "Run before the first start on a machine."),
            Example(
                "groupwatch prepare --config groupwatch.toml",
                "Use this if spark.conf of the file sets options of Java, or the job records or logs in to AWS.",
            ),
            Example("groupwatch prepare --all-jars", "Use this in an image build: a later start fetches nothing."),
        ),
        exit_codes=(AS_ASKED, FAILED, CANNOT_START, INTERRUPTED),
        environment=(CACHE, JAVA),
    ),
    "demo": Manual(
        examples=(
            Example(
                "groupwatch demo", "Start the demo, then open the page at the printed address; Ctrl-C stops everything."
            ),
            Example("groupwatch demo --port 9500 --duration 300", "Run on another port, for five minutes."),
            Example("groupwatch demo --with rocketmq,zookeeper", "Also start a RocketMQ and a Kafka 0.10."),
            Example(
                "groupwatch demo --with share,streams,connect",
                "Also start a share group, a Kafka Streams application, and a Connect cluster.",
            ),
            Example("groupwatch demo --with loss", "Also show a consumer that retention overtakes."),
        ),
        exit_codes=(PASSED, FAILED, CANNOT_START),
        environment=(CACHE, JAVA),
    ),
    "explain": Manual(
        examples=(
            Example("groupwatch explain prod orders", "Explain group orders of cluster prod, from the local job."),
            Example("groupwatch explain orders", "The same, where the job watches only one cluster."),
            Example("groupwatch explain prod orders payments 3", "Explain the owner of partition 3 of payments."),
            Example(
                "groupwatch explain prod orders --snapshot prod.jsonl --json",
                "Read a saved file and print JSON.",
            ),
            Example('groupwatch explain prod orders --at "2026-11-22 02:14"', "Explain that instant (UTC)."),
            Example("groupwatch explain orders --at 14:12 --tz local", "Explain the last 14:12 of this machine."),
        ),
        exit_codes=(AS_ASKED, NO_ANSWER, INTERRUPTED),
        environment=(*OF_JOB, HISTORY),
    ),
    "what-if": Manual(
        examples=(
            Example("groupwatch what-if prod orders", "Show the assignment after a rebalance now."),
            Example(
                "groupwatch what-if prod orders --members 12 --assignor cooperative-sticky",
                "Simulate twelve members and another assignor.",
            ),
            Example("groupwatch what-if prod orders --partitions payments=24", "Simulate 24 partitions of payments."),
            Example("groupwatch what-if prod orders --without consumer-7", "Simulate the group without this member."),
            Example(
                "groupwatch what-if prod orders --rollout surge=1,start=20s",
                "Forecast what it costs to replace all pods, one by one.",
            ),
        ),
        exit_codes=(AS_ASKED, NO_ANSWER, INTERRUPTED),
        environment=(*OF_JOB, HISTORY),
    ),
    "scale": Manual(
        examples=(
            Example("groupwatch scale prod orders", "Show how many members group orders needs."),
            Example(
                "groupwatch scale prod orders --target 30s --max 24",
                "Ask for half a minute, with 24 members at most.",
            ),
        ),
        exit_codes=(AS_ASKED, NO_ANSWER, INTERRUPTED),
        environment=(*OF_JOB, HISTORY),
    ),
    "snapshot": Manual(
        examples=(
            Example("groupwatch snapshot > prod.jsonl", "Save all groups of the local job."),
            Example(
                "groupwatch snapshot prod orders --url http://watch:9464 > orders.jsonl",
                "Save one group of a remote job.",
            ),
            Example(
                "groupwatch snapshot --at -3h --history /srv/history > night.jsonl",
                "Save all groups as they were three hours ago.",
            ),
        ),
        exit_codes=(AS_ASKED, NO_ANSWER, INTERRUPTED),
        environment=(*OF_JOB, HISTORY),
    ),
    "history": Manual(
        examples=(
            Example("groupwatch history prod orders", "List what happened to group orders in the last hour."),
            Example(
                'groupwatch history prod orders --since "2026-11-22 02:00" --until -3h',
                "List what happened between these instants (UTC).",
            ),
            Example(
                "groupwatch history prod orders --since -2d --history /srv/history --json",
                "Read the recording without a job, and print JSON.",
            ),
        ),
        exit_codes=(AS_ASKED, NO_ANSWER, INTERRUPTED),
        environment=(*OF_JOB, HISTORY),
    ),
    "backtest": Manual(
        examples=(
            Example("groupwatch backtest --config new.toml", "Try its thresholds on the last seven days."),
            Example(
                "groupwatch backtest --config new.toml --since -1d --group 'billing-.*'",
                "Try them on one day of these groups.",
            ),
            Example(
                "groupwatch backtest --config new.toml --history /srv/history --json",
                "Read this recording, and print JSON.",
            ),
        ),
        exit_codes=(
            AS_ASKED,
            Meaning("2", "no answer: a mistake in the configuration, or nothing is recorded of that cluster and time"),
            INTERRUPTED,
        ),
        environment=(SETTINGS,),
    ),
    "report": Manual(
        examples=(
            Example(
                'groupwatch report prod orders --since "2026-11-22 02:00" > incident.md',
                "Write a report on what happened to group orders since that instant (UTC).",
            ),
            Example(
                'groupwatch report orders --since "yesterday 22:00" --tz Europe/Berlin',
                "Write it on the only cluster's group, since that local time.",
            ),
            Example(
                "groupwatch report prod orders --since -3h --format html > incident.html",
                "Write it as one HTML file, with diagrams.",
            ),
            Example(
                "groupwatch report prod --since -3h --history /srv/history",
                "Compare all groups of a cluster: which were hit, and what they have in common.",
            ),
        ),
        exit_codes=(AS_ASKED, NO_ANSWER, INTERRUPTED),
        environment=(*OF_JOB, HISTORY),
    ),
    "census": Manual(
        examples=(
            Example("groupwatch census", "Show the client libraries in all clusters of the local job."),
            Example("groupwatch census prod --json", "Print those of cluster prod as JSON."),
            Example("groupwatch census --snapshot prod.jsonl", "Recognize the libraries in a saved file."),
        ),
        exit_codes=(AS_ASKED, NO_ANSWER, INTERRUPTED),
        environment=OF_JOB,
    ),
    "doctor": Manual(
        examples=(
            Example("groupwatch doctor --bootstrap-server broker1:9092", "Show what is wrong with the groups now."),
            Example(
                "groupwatch doctor --bootstrap-server broker1:9093 --client admin.properties",
                "Connect with the security settings of this file.",
            ),
            Example(
                "groupwatch doctor --bootstrap-server broker1:9092 --group orders --watch",
                "Judge one group again and again until Ctrl-C.",
            ),
            Example("groupwatch doctor --bootstrap-server broker1:9092 --json", "Print JSON."),
        ),
        exit_codes=(
            Meaning("0", "no finding; of --watch: in the last answer before Ctrl-C"),
            Meaning("1", "findings"),
            Meaning(
                "2", "no answer: the cluster, a part of it or the group cannot be read; a sentence names the cause"
            ),
            INTERRUPTED,
        ),
    ),
    "mcp": Manual(
        examples=(
            Example("groupwatch mcp", "Serve the local job to the agent that starts this command."),
            Example(
                "groupwatch mcp --url https://watch:9464 --ca-file ca.pem --token-file token",
                "Serve a remote job with access control.",
            ),
            Example(
                "groupwatch mcp --bootstrap-server broker1:9092 --client client.properties",
                "Let the agent's tool doctor look at this cluster, too.",
            ),
        ),
        exit_codes=(
            Meaning("0", "the agent closed the connection"),
            Meaning("2", "it cannot start: the extra mcp is not installed, or an option cannot be used"),
            INTERRUPTED,
        ),
        environment=OF_JOB,
    ),
    "check-config": Manual(
        examples=(
            Example("groupwatch check-config groupwatch.toml", "Show the watched systems and the mistakes."),
            Example(
                "groupwatch check-config groupwatch.toml --connect",
                "Also check that every cluster answers and grants the permissions.",
            ),
            Example(
                "groupwatch check-config collect.toml --collect --json",
                "Check a file for groupwatch collect, and print JSON.",
            ),
        ),
        exit_codes=(
            Meaning("0", "a job could start with this file; there may be warnings"),
            Meaning("2", "it could not: a mistake, a missing secret, or (--connect) a cluster that refuses"),
        ),
        environment=(SETTINGS,),
    ),
    "completion": Manual(
        examples=(
            Example(
                "groupwatch completion bash > /etc/bash_completion.d/groupwatch",
                "For all users of bash.",
            ),
            Example("groupwatch completion zsh > ~/.zfunc/_groupwatch", "For zsh, with ~/.zfunc in fpath."),
            Example("groupwatch completion fish > ~/.config/fish/completions/groupwatch.fish", "For fish."),
        ),
        exit_codes=(AS_ASKED, Meaning("2", "no such shell")),
    ),
}

WHOLE: Final = Manual(
    examples=(
        Example("groupwatch demo", "Try it with a Kafka of its own."),
        Example("groupwatch check-config groupwatch.toml --connect", "Check the configuration before the first start."),
        Example("groupwatch run --config groupwatch.toml", "Watch the clusters."),
        Example("groupwatch status", "Show what is wrong, from the job that watches them."),
        Example("groupwatch run --help", "Show options, examples, exit codes and variables of a command."),
    ),
    exit_codes=(
        AS_ASKED,
        FAILED,
        Meaning("2", "it cannot start, or there is no answer"),
        INTERRUPTED,
    ),
)
"""The manual of the command itself."""


PANELS: Final[Mapping[str, tuple[str, ...]]] = {
    "Look": (
        *(
            "status",
            "findings",
            "explain",
            "what-if",
            "scale",
            "topics",
            "unused",
            "census",
            "doctor",
            "verify",
            "snapshot",
            "mcp",
        ),
    ),
    "Run": ("run", "collect", "demo"),
    "Past": ("history", "report", "backtest"),
    "Set up": ("check-config", "rules", "slo", "dashboards", "prepare", "completion"),
}
"""The panels of the help, and the commands of each, in their order."""


def add_manuals(app: typer.Typer) -> None:
    """Put the commands into panels, and each one's manual below its options; the commands have to be there already."""
    app.info.epilog = epilog(WHOLE)
    panels = {name: panel for panel, names in PANELS.items() for name in names}
    places = {name: place for place, name in enumerate(panels)}
    for command in app.registered_commands:
        name = _name(command)
        command.epilog = epilog(MANUALS[name]) if name in MANUALS else None
        command.rich_help_panel = panels[name]
        command.cls = OneCommand
    app.registered_commands.sort(key=lambda each: places[_name(each)])


def _name(command: CommandInfo) -> str:
    return command.name or (command.callback.__name__ if command.callback else "")


def epilog(manual: Manual) -> str:
    """The manual as text with rich's markup.

    >>> print(epilog(Manual(examples=(Example("ls", "List."),), exit_codes=(Meaning("0", "fine"),))))
    [bold]Examples[/bold]
      [cyan]ls[/cyan]
          List.
    <BLANKLINE>
    [bold]Exit codes[/bold]
      0    fine
    """
    sections = (_examples(manual), _meanings("Exit codes", manual.exit_codes), _variables(manual))
    return "\n\n".join("\n".join(section) for section in map(tuple, sections) if section)


def _examples(manual: Manual) -> Iterator[str]:
    yield "[bold]Examples[/bold]"
    for example in manual.examples:
        yield f"  [cyan]{example.typed}[/cyan]"
        yield f"      {example.does}"


def _meanings(title: str, meanings: tuple[Meaning, ...]) -> Iterator[str]:
    yield f"[bold]{title}[/bold]"
    for meaning in meanings:
        yield f"  {meaning.word:<4} {meaning.means}"


def _variables(manual: Manual) -> Iterator[str]:
    if manual.environment:
        yield "[bold]Environment[/bold]"
    for variable in manual.environment:
        yield f"  [cyan]{variable.word}[/cyan]"
        yield f"      {variable.means}"

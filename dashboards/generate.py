"""Write the generated files: ``python -m dashboards``, or this module; ``--runbooks URL`` is where the runbooks are.

``--cluster NAME`` adds an alert for this cluster if it has no series. ``--cluster-label LABEL`` is for metrics with
another name of the label ``cluster``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dashboards.alert_table import PAGE, with_table
from dashboards.grafana.boards import BOARDS, board_file
from dashboards.runbooks import Options, command_options
from monitor.alert_rules import RULES, rules_file
from monitor.alert_rules.links import Links
from monitor.alert_rules.options import RuleOptions
from monitor.grafana.boards import SHIPPED
from monitor.metrics.cluster_label import with_cluster_label

FOLDER: Final = Path(__file__).parent / "generated"

ALERTS: Final = "alerts.yml"
"""In FOLDER; dashboards are in SHIPPED, where the package has them."""


NO_OPTIONS: Final = Options()


def generated_files(options: Options = NO_OPTIONS) -> dict[str, str]:
    """The text of every generated file by its name: a dashboard's is ``NAME.json``."""
    boards = {
        f"{name}.json": with_cluster_label(board_file(board), options.cluster_label) for name, board in BOARDS.items()
    }
    return {**boards, ALERTS: rules_file(options=_rule_options(options))}


def _rule_options(options: Options) -> RuleOptions:
    return RuleOptions(
        links=Links(runbooks=options.runbooks), clusters=options.clusters, cluster_label=options.cluster_label
    )


def write(rules: Path, boards: Path, options: Options = NO_OPTIONS) -> None:
    """Write the rules and the dashboards to these folders, and remove what is no longer generated there."""
    files = {(rules if name == ALERTS else boards) / name: text for name, text in generated_files(options).items()}
    for path in {path for folder in (rules, boards) for path in folder.glob("*.*")} - files.keys():
        path.unlink()
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")


def main() -> None:
    """Write the files, and the table of alerts in its page."""
    write(FOLDER, SHIPPED, command_options("dashboards.generate"))
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), RULES), encoding="utf-8")


if __name__ == "__main__":
    main()

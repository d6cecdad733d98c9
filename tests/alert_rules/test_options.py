"""Rules by the settings: what is chosen differs from the shipped file, and nothing else does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from dashboards.generate import FOLDER
from monitor.alert_rules import RULES
from monitor.alert_rules.inhibitions import INHIBITIONS, alertmanager_config
from monitor.config import ConfigError
from monitor.grafana.boards import BoardOptions, configured_boards
from tests.alert_rules.rule_files import CLUSTERS, configured, rules_by_name
from tests.dashboards.promtool import promtool, run_cases

SHIPPED = (FOLDER / "alerts.yml").read_text(encoding="utf-8")
COMPOSE = Path(__file__).parents[2] / "dashboards" / "compose" / "alertmanager.yml"
NAMES = {rule.name for rule in RULES}

LINKED = f"""{CLUSTERS}
[http]
external_url = "https://ops.example.com/groupwatch"
[alerts]
runbook_url = "https://wiki.example.com/runbooks"
grafana_url = "https://grafana.example.com/"
"""


def test_without_settings_the_rules_are_the_shipped_file(tmp_path: Path):
    assert configured(tmp_path, "") == SHIPPED


def test_with_clusters_alone_they_are_the_shipped_rules_and_one_for_each_cluster(tmp_path: Path):
    *groups, group = yaml.safe_load(configured(tmp_path, CLUSTERS))["groups"]
    shipped = yaml.safe_load(SHIPPED)["groups"]
    for own, other in zip(groups, shipped, strict=True):
        for rule, as_shipped in zip(own["rules"], other["rules"], strict=True):
            is_about_all = rule["alert"] == "GroupwatchDown"
            begin = as_shipped["expr"] if is_about_all else f"({as_shipped['expr']}) and on ("
            assert {**rule, "expr": None} == {**as_shipped, "expr": None}
            assert rule["expr"].startswith(begin)
    assert [(rule["alert"], rule["labels"]) for rule in group["rules"]] == [
        ("GroupwatchClusterMissing", {"severity": "critical", "cluster": name}) for name in ("eu west", "prod")
    ]


def test_promtool_is_content_with_rules_of_several_clusters(tmp_path: Path):
    """It tells of rules that it takes for duplicates, and has success all the same."""
    file = tmp_path / "alerts.yml"
    file.write_text(configured(tmp_path, LINKED), encoding="utf-8")
    assert "duplicate" not in promtool("check", "rules", str(file))


def test_a_disabled_alert_has_no_rule(tmp_path: Path):
    text = configured(tmp_path, '[alerts]\ndisabled = ["GroupwatchLagOld", "GroupwatchRebalanceStorm"]\n')
    assert rules_by_name(text).keys() == NAMES - {"GroupwatchLagOld", "GroupwatchRebalanceStorm"}


def test_a_subject_without_a_rule_has_no_group(tmp_path: Path):
    connect = ", ".join(f'"{name}"' for name in NAMES if name.startswith("GroupwatchConnect"))
    groups = yaml.safe_load(configured(tmp_path, f"[alerts]\ndisabled = [{connect}]\n"))["groups"]
    assert "groupwatch-connect" not in {group["name"] for group in groups}


OVERRIDES = """
[alerts]
labels = { team = "streaming", tier = "1" }
[[alerts.overrides]]
alert = "GroupwatchPartitionOrphaned"
severity = "warning"
age_s = 300
for_s = 120
labels = { team = "orders" }
[[alerts.overrides]]
alert = "GroupwatchLagOld"
age_s = 1800
[[alerts.overrides]]
alert = "GroupwatchAssignmentDrifted"
age_s = 60
[[alerts.overrides]]
alert = "GroupwatchMemberDead"
for_s = 0
"""


def test_an_override_changes_what_it_names_of_its_alert_and_nothing_else(tmp_path: Path):
    shipped, changed = rules_by_name(SHIPPED), rules_by_name(configured(tmp_path, OVERRIDES))
    orphaned, lag = changed["GroupwatchPartitionOrphaned"], changed["GroupwatchLagOld"]
    assert orphaned["labels"] == {"severity": "warning", "team": "orders", "tier": "1"}
    assert orphaned["for"] == "2m"
    assert orphaned["expr"] == shipped["GroupwatchPartitionOrphaned"]["expr"].replace("> 600", "> 300")
    was = shipped["GroupwatchLagOld"]["expr"]
    assert lag["expr"] == was.replace("seconds > 600", "seconds > 1800").replace("<= 600)", "<= 1800)") != was
    assert changed["GroupwatchAssignmentDrifted"]["expr"].endswith("> 60")
    assert changed["GroupwatchMemberDead"]["for"] == "0s"
    named = {"GroupwatchPartitionOrphaned", "GroupwatchLagOld", "GroupwatchAssignmentDrifted", "GroupwatchMemberDead"}
    for name in NAMES - named:
        assert changed[name]["labels"] == {**shipped[name]["labels"], "team": "streaming", "tier": "1"}
        assert {**changed[name], "labels": shipped[name]["labels"]} == shipped[name]


def test_an_alert_with_a_shorter_age_fires_at_that_age(tmp_path: Path):
    """The finding begins at minute 0: it is 5 minutes old after minute 5, and that must hold for two more."""
    found = 'groupwatch_group_finding_oldest_seconds{cluster="c",group="g",kind="orphaned",reason="grew"}'
    fired = 'count(ALERTS{alertname="GroupwatchPartitionOrphaned",alertstate="firing",team="orders"})'
    looks = [(7, []), (8, [{"labels": "{}", "value": 1}])]
    test = {
        "interval": "1m",
        "input_series": [{"series": found, "values": "0+60x20"}],
        "promql_expr_test": [{"expr": fired, "eval_time": f"{at}m", "exp_samples": samples} for at, samples in looks],
    }
    run_cases(tmp_path, configured(tmp_path, OVERRIDES), [test])


@pytest.mark.parametrize(
    ("cluster", "group", "page", "query"),
    [
        ("prod", "orders", "prod/orders", "var-cluster=prod&var-group=orders"),
        ("eu west", "a/b+c", "eu%20west/a%2Fb%2Bc", "var-cluster=eu+west&var-group=a%2Fb%2Bc"),
        ("prod", "..", "prod/~..", "var-cluster=prod&var-group=.."),
        ("prod", '"&<{{', "prod/%22%26%3C%7B%7B", "var-cluster=prod&var-group=%22%26%3C%7B%7B"),
    ],
)
def test_links_name_the_group_whatever_its_name(tmp_path: Path, cluster: str, group: str, page: str, query: str):
    """As monitor.web.views.addresses reads them."""
    quoted = group.replace('"', '\\"')
    found = f'cluster="{cluster}",group="{quoted}",kind="double_owned",reason="run_twice"'
    test = {
        "interval": "1m",
        "input_series": [
            {"series": f"groupwatch_group_finding_oldest_seconds{{{found}}}", "values": "60x20"},
            {"series": f'groupwatch_up{{cluster="{cluster}"}}', "values": "1x20"},
        ],
        "alert_rule_test": [
            {
                "eval_time": "2m",
                "alertname": "GroupwatchConnectTasksRunTwice",
                "exp_alerts": [
                    {
                        "exp_labels": {
                            "severity": "warning",
                            "cluster": cluster,
                            "group": group,
                            "kind": "double_owned",
                            "reason": "run_twice",
                        },
                        "exp_annotations": {
                            "summary": f"Two workers of {group} of {cluster} ran the same connectors or tasks 1m 0s "
                            "ago",
                            "description": f"A worker of the Connect cluster {group} of cluster {cluster} lost contact "
                            "and kept running tasks that another one had taken over. It is known only now that both "
                            "are in the group again.",
                            "runbook_url": "https://wiki.example.com/runbooks#groupwatchconnecttasksruntwice",
                            "page_url": f"https://ops.example.com/groupwatch/groups/{page}",
                            "dashboard_url": f"https://grafana.example.com/d/groupwatch-group?{query}",
                        },
                    }
                ],
            }
        ],
    }
    run_cases(tmp_path, configured(tmp_path, LINKED), [test])


def test_an_alert_about_a_cluster_leads_to_its_groups_and_one_about_all_to_the_page(tmp_path: Path):
    rules = rules_by_name(configured(tmp_path, LINKED))
    cluster = "{{ or $labels.exported_cluster $labels.cluster | urlquery }}"
    unread, down = rules["GroupwatchClusterUnread"]["annotations"], rules["GroupwatchDown"]["annotations"]
    assert unread["page_url"] == f"https://ops.example.com/groupwatch/?cluster={cluster}"
    assert unread["dashboard_url"] == f"https://grafana.example.com/d/groupwatch?var-cluster={cluster}"
    assert down["page_url"] == "https://ops.example.com/groupwatch/"


def test_runbooks_are_those_that_the_page_serves_unless_they_are_elsewhere(tmp_path: Path):
    text = f'{CLUSTERS}[http]\nexternal_url = "https://ops.example.com/groupwatch/"\n'
    for rule in rules_by_name(configured(tmp_path, text)).values():
        page = "https://ops.example.com/groupwatch/help/runbooks"
        assert rule["annotations"]["runbook_url"] == f"{page}#{rule['alert'].lower()}"
        assert "runbook" not in rule["annotations"]
    elsewhere = rules_by_name(configured(tmp_path, LINKED))["GroupwatchDown"]["annotations"]
    assert elsewhere["runbook_url"] == "https://wiki.example.com/runbooks#groupwatchdown"


@pytest.mark.parametrize("name", [None, "eu"])
def test_dashboards_have_the_addresses_that_alerts_link_to(tmp_path: Path, name: str | None):
    text = LINKED if name is None else f'{LINKED}[dashboards]\nname = "{name}"\n'
    rules = rules_by_name(configured(tmp_path, text)).values()
    linked = {address for rule in rules for address in re.findall(r"/d/([\w-]+)", rule["annotations"]["dashboard_url"])}
    boards = configured_boards(BoardOptions(name=name))
    assert linked == {json.loads(boards[board])["uid"] for board in ("fleet", "group")}


def test_the_summary_of_each_alert_about_a_group_or_a_cluster_names_the_cluster():
    nameless = {rule.name for rule in RULES if "$labels.cluster }}" not in rule.summary}
    assert nameless == {"GroupwatchDown", "GroupwatchFileDescriptors"}  # they are about no cluster


def test_another_name_of_the_label_is_that_of_the_settings(tmp_path: Path):
    label = '[metrics]\ncluster_label = "kafka_cluster"\n'
    rules = rules_by_name(configured(tmp_path, f'{label}{CLUSTERS}[alerts]\nlabels = {{ cluster = "k8s-a" }}\n'))
    missing = rules["GroupwatchClusterMissing"]
    assert missing["labels"] == {"severity": "critical", "kafka_cluster": "prod", "cluster": "k8s-a"}
    assert missing["expr"] == 'absent(groupwatch_up{kafka_cluster="prod"}) unless on () ' + (
        'groupwatch_up{exported_kafka_cluster="prod"}'
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            '[alerts]\ndisabled = ["GroupwatchLagOd"]',
            "alerts.disabled: there is no alert GroupwatchLagOd (did you mean GroupwatchLagOld?).",
        ),
        (
            '[[alerts.overrides]]\nalert = "GroupwatchMembersDead"\nfor_s = 1',
            "alerts.overrides: there is no alert GroupwatchMembersDead (did you mean GroupwatchMemberDead?).",
        ),
        (
            '[[alerts.overrides]]\nalert = "GroupwatchMemberDead"\nage_s = 60',
            "alerts.overrides: GroupwatchMemberDead has no age; for_s changes how long its condition must hold.",
        ),
        (
            '[alerts]\nlabels = { cluster = "k8s-a" }',
            "alerts.labels: cluster is already the label of the Kafka cluster.",
        ),
        (
            '[alerts]\nlabels = { severity = "page" }',
            "alerts.labels should have names of labels (letters, digits and _) that no alert of groupwatch has.",
        ),
        (
            '[alerts]\nlabels = { team = "{{ .Value }}" }',
            "alerts.labels should have values without {{, where Prometheus would begin a template.",
        ),
        (
            '[alerts]\ngrafana_url = "https://anna:tiger@grafana"',
            "alerts.grafana_url should be http://HOST/PATH or https://HOST/PATH, without a user, a query and a "
            "fragment.",
        ),
        (
            '[[alerts.overrides]]\nalert = "GroupwatchLagOld"\n[[alerts.overrides]]\nalert = "GroupwatchLagOld"',
            "alerts should have one entry of overrides for GroupwatchLagOld.",
        ),
        (
            '[[alerts.overrides]]\nalert = "GroupwatchLagOld"\nage = 60',
            "alerts.overrides#1.age is not a known key (did you mean age_s?).",
        ),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path: Path, text: str, sentence: str):
    with pytest.raises(ConfigError) as refused:
        configured(tmp_path, text)
    assert str(refused.value) == sentence


def test_the_inhibitions_are_those_of_the_example_for_alertmanager():
    example = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["inhibit_rules"]
    own = [
        {
            "source_matchers": [f'{each.name}{each.type}"{each.value}"' for each in inhibition.source],
            "target_matchers": [f'{each.name}{each.type}"{each.value}"' for each in inhibition.target],
            **({"equal": list(inhibition.equal)} if inhibition.equal else {}),
        }
        for inhibition in INHIBITIONS
    ]
    assert own == example


def test_an_alertmanagerconfig_has_the_same_inhibitions():
    written = yaml.safe_load(alertmanager_config("kafka_cluster"))
    assert (written["apiVersion"], written["kind"]) == ("monitoring.coreos.com/v1alpha1", "AlertmanagerConfig")
    rules = written["spec"]["inhibitRules"]
    assert len(rules) == len(INHIBITIONS)
    assert rules[0] == {
        "sourceMatch": [
            {"name": "alertname", "matchType": "=", "value": "GroupwatchClusterUnread"},
            {"name": "severity", "matchType": "=", "value": "critical"},
        ],
        "targetMatch": [{"name": "group", "matchType": "!=", "value": ""}],
        "equal": ["kafka_cluster", "exported_kafka_cluster", "instance", "job"],
    }

"""A short run of ``make rollouts``: a good rollout, one whose new pod hangs, and two outages of the job."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.rollouts.outages import Outage, exit_code, healthy_group
from tests.rollouts.run import run
from tests.rollouts.stories import Rollout, Story, all_rollouts

CHOSEN = [Rollout(0, "cooperative-sticky", 3, Story.GOOD), Rollout(1, "librdkafka-cooperative", 3, Story.HANGS)]


@pytest.mark.broker
@pytest.mark.jobs
@pytest.mark.timeout(300)
def test_the_gate_lets_the_good_rollout_pass_and_no_other(tmp_path: Path):
    seen = run(CHOSEN, tmp_path)
    assert [(each.code, each.is_right) for each in seen] == [(0, True), (1, True)], seen
    assert seen[0].is_within, "the forecast of the good one has its moves"


@pytest.mark.broker
@pytest.mark.jobs
@pytest.mark.timeout(300)
def test_a_gate_ends_with_2_when_its_job_was_killed_or_does_not_get_ready(tmp_path: Path):
    with healthy_group(tmp_path) as scene:
        codes = {outage: exit_code(scene, outage) for outage in (Outage.KILLED, Outage.NOT_READY)}
    assert set(codes.values()) == {2}, codes


def test_there_are_sixty_of_which_each_combination_has_a_good_one():
    rollouts = all_rollouts()
    assert len(rollouts) == 60
    assert Counter((each.assignor, each.size) for each in rollouts if each.story is Story.GOOD).total() == 15
    assert set(Story) == {each.story for each in rollouts}

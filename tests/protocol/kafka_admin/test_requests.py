"""Requests about groups are, byte for byte, what kafka-python writes where it knows them; the rest are golden."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.admin import DescribeGroupsRequest, ListGroupsRequest
from kafka.protocol.consumer import OffsetFetchRequest
from kafka.protocol.metadata import FindCoordinatorRequest

from monitor.protocol.kafka_admin.requests import SEVERAL_GROUPS, VERSIONS, Api, request_body

names = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=200), min_size=1, max_size=4)


def versions(api: Api) -> list[int]:
    return list(range(VERSIONS[api].oldest, VERSIONS[api].newest + 1))


@pytest.mark.parametrize("version", versions(Api.LIST_GROUPS))
def test_the_question_for_all_groups(version):
    assert request_body(Api.LIST_GROUPS, version, ()) == ListGroupsRequest(version=version).encode()


@pytest.mark.parametrize("version", versions(Api.DESCRIBE_GROUPS))
@given(groups=names)
def test_the_question_for_classic_groups(version, groups):
    theirs = DescribeGroupsRequest(groups=groups, include_authorized_operations=False, version=version)
    assert request_body(Api.DESCRIBE_GROUPS, version, groups) == theirs.encode()


@pytest.mark.parametrize("version", versions(Api.FIND_COORDINATOR))
@given(groups=names)
def test_the_question_for_coordinators(version, groups):
    theirs = FindCoordinatorRequest(key_type=0, coordinator_keys=groups, version=version)
    assert request_body(Api.FIND_COORDINATOR, version, groups) == theirs.encode()


@pytest.mark.parametrize("version", versions(Api.OFFSET_FETCH))
@given(groups=names)
def test_the_question_for_offsets(version, groups):
    group = OffsetFetchRequest.OffsetFetchRequestGroup
    asked = groups if version >= SEVERAL_GROUPS else groups[:1]
    several = [group(group_id=name, topics=None, member_id=None, member_epoch=-1) for name in asked]
    theirs = OffsetFetchRequest(version=version, group_id=asked[0], topics=None, groups=several, require_stable=False)
    assert request_body(Api.OFFSET_FETCH, version, asked) == theirs.encode()


@pytest.mark.parametrize("api", [Api.CONSUMER_GROUP_DESCRIBE, Api.SHARE_GROUP_DESCRIBE, Api.STREAMS_GROUP_DESCRIBE])
def test_the_question_for_groups_of_the_other_kinds(api):
    """A compact array of two compact strings, no operations asked for, no tagged field."""
    body = request_body(api, VERSIONS[api].newest, ["g1", "ü"])
    assert body.hex(" ") == "03 03 67 31 03 c3 bc 00 00"


@pytest.mark.parametrize("version", versions(Api.SHARE_GROUP_OFFSETS))
def test_the_question_for_the_offsets_of_share_groups(version):
    """As the classes of Kafka 4.3.1 write it for all topics of two groups."""
    assert request_body(Api.SHARE_GROUP_OFFSETS, version, ["g", "hé"]).hex() == "03026700000468c3a9000000"

"""The API on a real port: every address by its schema, what it refuses, and what a client need not be sent twice."""

import gzip
import json
import re
import threading
import zlib
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import quote, urlencode, urljoin

import anyio
import httpx
import jsonschema
import msgspec
import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from monitor.cli.app import app as commands
from monitor.model import CollectorHealth, Snapshot
from monitor.snapshot_file import ClusterInputs
from monitor.web.api.cache import KeptLists
from monitor.web.api.endpoints import ADDRESSES, EXPLAIN, LAG, WHAT_IF, Address
from monitor.web.api.lists import Order, Wanted, condition
from monitor.web.api.openapi import openapi_document
from monitor.web.app import create_app
from monitor.web.http.access_files import AccessFiles
from monitor.web.http.concurrency import AT_ONCE, Turns
from monitor.web.http.limits import Limits
from monitor.web.server import HttpServer
from monitor.web.views.addresses import GroupAddress
from monitor.web.views.deployment import Deployment
from tests.support import plain_http
from tests.support.builders import NOW, catalog, commit, group, member, topic
from tests.web.api.api_example import EXAMPLES, EXPECTED, NOW_MS, Recorded, example, job_of
from tests.web.examples import HOSTILE_NAMES, Served
from tests.web.problems import problem
from tests.web.saved import Saved

DOCUMENT = json.loads(openapi_document())
JSON_ADDRESSES = [each for each in ADDRESSES if each.answer.media == "application/json"]


def served(source):
    deployment = Deployment(expected=lambda: EXPECTED)
    return HttpServer(create_app(source, lambda: NOW_MS, past=Recorded(), deployment=deployment), port=0)


@pytest.fixture(scope="module")
def url():
    with served(example()) as server:
        yield server.url


@pytest.fixture(scope="module")
def client(url):
    with plain_http.client(base_url=url, headers={"Accept-Encoding": "identity"}) as asking:
        yield asking


@pytest.fixture(scope="module")
def hostile():
    """A job whose groups and topics all have names that try to break out."""
    states = tuple(
        replace(
            group(member("m", [name], {name: [0]}), offsets=[commit(name, 0, 90, NOW - 5_000)]),
            cluster="main",
            group=name,
        )
        for name in HOSTILE_NAMES
    )
    topics = catalog(*(topic(name, 1) for name in HOSTILE_NAMES))
    with (
        served(job_of(states, Saved(replace(topics, cluster="main"), states, NOW))) as server,
        plain_http.client(base_url=server.url) as asking,
    ):
        yield asking


def strict(schema):
    """The same schema, by which a field that nobody has told of is an error."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if "properties" in schema else {}
    return {**{key: strict(value) for key, value in schema.items()}, **closed}


@cache
def components():
    return strict(DOCUMENT["components"])


def check(value, schema):
    root = {**strict(schema), "components": components()}
    jsonschema.Draft202012Validator(root).validate(value)


def answer_schema(address: Address, code: str = "200"):
    media = "application/json" if code == "200" else "application/problem+json"
    return DOCUMENT["paths"][address.path]["get"]["responses"][code]["content"][media]["schema"]


# --- answers ----------------------------------------------------------------------------------------------------------


def test_every_address_has_an_example_here():
    assert list(EXAMPLES) == [each.name for each in ADDRESSES]


@pytest.mark.parametrize("address", JSON_ADDRESSES, ids=lambda each: each.name)
def test_an_answer_has_what_its_schema_says_and_nothing_else(client, address):
    answer = client.get(EXAMPLES[address.name])
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    check(answer.json(), answer_schema(address))


def test_the_schema_finds_a_field_that_is_missing_or_not_told_of():
    schema = answer_schema(next(each for each in ADDRESSES if each.name == "lag"))
    for wrong in ({"cluster": "c", "group": "g"}, {"cluster": "c", "group": "g", "points": [], "more": 1}):
        with pytest.raises(jsonschema.ValidationError):
            check(wrong, schema)


def test_the_document_is_openapi_and_whole():
    assert DOCUMENT["openapi"] == "3.1.0"
    operations = [path["get"] for path in DOCUMENT["paths"].values()]
    ids = {each["operationId"] for each in operations}
    assert len(ids) == len(operations) == len(ADDRESSES)
    assert all(re.fullmatch("[a-z][A-Za-z]+", each) for each in ids), "a name of a method in any language"
    assert {"whatIf", "snapshotOfGroup"} < ids
    assert {tag for each in operations for tag in each["tags"]} == {tag["name"] for tag in DOCUMENT["tags"]}
    for path, item in DOCUMENT["paths"].items():
        declared = [each["name"] for each in item["get"]["parameters"] if each["in"] == "path"]
        assert [f"{{{name}}}" for name in declared] == [part for part in path.split("/") if part.startswith("{")]
    (server,) = DOCUMENT["servers"]
    assert urljoin("https://ops/groupwatch/api/v1/openapi.json", server["url"]).rstrip("/") == "https://ops/groupwatch"
    former = [path for path, item in DOCUMENT["paths"].items() if item["get"].get("deprecated")]
    assert former == ["/api/v1/story/{cluster}/{group}"]
    schemas = DOCUMENT["components"]["schemas"]
    references = {each.rpartition("/")[2] for each in _references(DOCUMENT)}
    assert references == set(schemas)
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert all(own["description"].endswith((".", ".)")) for own in schema.get("properties", {}).values())


def _references(value):
    if isinstance(value, dict):
        yield from [value["$ref"]] if "$ref" in value else []
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _references(each)


def test_the_index_lists_every_address_with_its_parameters(client):
    for path in ("/api/v1/", "/api/v1"):
        index = client.get(path).json()
        listed = {each["address"]: each.get("parameters", []) for each in index["addresses"]}
        assert listed == {each.path: [own.name for own in each.parameters] for each in ADDRESSES}


def test_the_condition_of_clusters_is_told_as_readyz_tells_it(client):
    """Judged 3 s ago; 600 of 1,000 offsets read."""
    main, slow = client.get("/api/v1/clusters").json()
    assert (main["sentence"], main["ready"], main["age_ms"], main["groups"]) == ("Ready.", True, 3_000, 2)
    assert main["groups_with_findings"] == 1
    assert (slow["ready"], slow["warm_up"]["remaining"]) == (False, 400)
    assert not {"groups", "groups_with_findings"} & slow.keys(), "not known, and so not 0"
    assert client.get("/readyz").text == f"slow: {slow['sentence']}\n"


def test_the_age_of_an_evaluation_is_that_by_the_clock_of_the_machine():
    """The machine's clock was set 2 s forward since then: of 3 s that seem to have passed, 1 is left."""
    (main, slow) = example().read().clusters
    assert condition(replace(main, clock_behind_ms=2_000), NOW_MS).age_ms == 1_000
    assert condition(replace(main, clock_behind_ms=9_000), NOW_MS).age_ms == 0
    half_read = condition(replace(slow, groups=main.groups), NOW_MS)
    assert (half_read.groups, half_read.groups_with_findings) == (None, None)


def test_the_groups_of_a_page_lead_to_the_next_one(client):
    first = client.get("/api/v1/groups?limit=1&q=a&partial")
    assert ([each["group"] for each in first.json()], first.headers["x-total-count"]) == (["mail"], "1")
    pages = [client.get("/api/v1/groups?partial&limit=1&sort=lag")]
    while "next" in pages[-1].links and len(pages) < 5:
        pages.append(client.get(pages[-1].links["next"]["url"]))
    assert [each["group"] for page in pages for each in page.json()] == ["orders", "mail"]
    assert {page.headers["x-total-count"] for page in pages} == {"2"}


@pytest.mark.parametrize(
    ("query", "groups"),
    [
        ("", ["mail", "orders"]),
        ("cluster=main&problems", ["orders"]),
        ("problems=1&finding=orphaned&finding=lag", ["orders"]),
        ("problems=0&sort=worst", ["orders", "mail"]),
        ("q=MAI", ["mail"]),
        ("kind=kafka-classic&state=offsets_only", ["mail"]),
        ("kind=metaq", []),
    ],
)
def test_groups_are_chosen_by_the_query(client, query, groups):
    assert [each["group"] for each in client.get(f"/api/v1/groups?partial=1&{query}").json()] == groups


def test_a_finding_is_told_with_its_group_what_to_do_and_the_id_of_the_findings_topic(client):
    (found,) = client.get("/api/v1/findings?finding=orphaned&partial=true").json()
    assert (found["cluster"], found["group"], found["reason"]) == ("main", "orders", "grew")
    assert found["partitions"] == [{"topic": "orders", "partition": 3}]
    assert found["advice"].startswith("Most client libraries notice new partitions")
    assert found["id"].isalnum()
    assert len(found["id"]) == 32


def test_the_libraries_of_the_members_are_counted_by_cluster(client):
    """Alpha subscribes as librdkafka alone does, beta as Java or Sarama, with the timeouts of Sarama."""
    of_main = [
        {
            "cluster": "main",
            "libraries": ["librdkafka"],
            "certainty": "certain",
            "versions": "2.4 or newer",
            "members": 1,
            "groups": 1,
            "group_names": ["orders"],
        },
        {
            "cluster": "main",
            "libraries": ["sarama"],
            "certainty": "likely",
            "members": 1,
            "groups": 1,
            "group_names": ["orders"],
        },
    ]
    for query in ("partial=1", "cluster=main", "cluster=main&cluster=main"):
        answer = client.get(f"/api/v1/libraries?{query}")
        assert (answer.json(), answer.headers["x-total-count"]) == (of_main, "2")


def test_the_lag_of_the_last_half_hour_is_told_oldest_first(client):
    points = client.get("/api/v1/lag/main/orders").json()["points"]
    assert points == [
        {"at_ms": NOW - 30_000, "lag": 4},
        {"at_ms": NOW - 15_000, "lag": None},
        {"at_ms": NOW, "lag": 10},
    ]
    assert client.get("/api/v1/lag/main/mail").json()["points"] == []


@pytest.mark.parametrize(
    ("words", "path"),
    [
        (["explain", "main", "orders"], "/api/v1/explain/main/orders"),
        (["explain", "main", "orders", "orders", "3"], "/api/v1/explain/main/orders?topic=orders&partition=3"),
        (["what-if", "main", "orders"], "/api/v1/what-if/main/orders"),
        (["census", "main"], "/api/v1/libraries?cluster=main"),
        (["census", "--partial"], "/api/v1/libraries?partial=1"),
        (
            ["what-if", "main", "orders", "--assignor", "sticky", "--members", "3", "--without", "beta"],
            "/api/v1/what-if/main/orders?assignor=sticky&members=3&without=beta",
        ),
        (
            ["what-if", "main", "orders", "--partitions", "orders=9"],
            "/api/v1/what-if/main/orders?partitions=orders%3D9",
        ),
    ],
)
def test_the_commands_print_what_the_api_answers(url, client, words, path):
    printed = CliRunner().invoke(commands, [*words, "--json", "--url", url])
    assert printed.exit_code == 0
    assert json.loads(printed.stdout) == client.get(path).json()


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_reach_the_api_as_they_are(hostile, name):
    """As a piece of the path, and as a value of the query."""
    address = GroupAddress("main", name)
    for prefix in (EXPLAIN, WHAT_IF, LAG):
        assert hostile.get(address.under(prefix)).json()["group"] == name
    query = urlencode({"topic": name, "partition": 0})
    told = hostile.get(f"{address.under(EXPLAIN)}?{query}").json()
    assert (told["group"], told["topic"], told["partition"]) == (name, name, 0)
    listed = hostile.get(f"/api/v1/groups?cluster=main&q={quote(name, safe='')}").json()
    assert name in [each["group"] for each in listed]
    grown = hostile.get(f"{address.under(WHAT_IF)}?{urlencode({'partitions': f'{name}=2'})}")
    refused = (400, "partitions: =2 is not TOPIC=N.")
    assert (grown.status_code == 200) if name else ((grown.status_code, grown.json()["error"]) == refused)


def test_pages_of_groups_with_hostile_names_are_the_whole_list(hostile):
    page, names = hostile.get("/api/v1/groups?limit=1&cluster=main"), []
    for _ in HOSTILE_NAMES:
        names += [each["group"] for each in page.json()]
        page = hostile.get(page.links["next"]["url"]) if "next" in page.links else page
    assert sorted(names) == sorted(HOSTILE_NAMES)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("groups?colour=red", 400, "Unknown parameter colour; known parameters: cluster, q, "),
        ("clusters?q=a", 400, "Unknown parameter q; known parameters: none."),
        ("groups?sort=size", 400, "sort must be one of name, worst, lag, members, not size."),
        ("groups?sort=lag&sort=name", 400, "sort may be given only once."),
        ("groups?limit=0", 400, "limit must be a whole number from 1 to 999999999, not 0."),
        ("groups?limit=%D9%A3", 400, "limit must be a whole number from 1 to 999999999, not \u0663."),
        ("groups?limit=1000000000", 400, "limit must be a whole number from 1 to 999999999, not 1000000000."),
        ("groups?problems=maybe", 400, "problems must be 1 or 0, not maybe."),
        ("groups?kind=x%0A", 400, "kind must be one of kafka-classic, kafka-consumer, "),
        ("groups?cursor=W10", 400, "The cursor is invalid: no response has given it."),
        ("groups?cluster=a%2Fb", 404, "No cluster named a/b is watched."),
        ("groups?cluster=slow", 503, "The groups of slow are not known yet. Reading the backlog: "),
        ("findings?partial=maybe", 400, "partial must be 1 or 0, not maybe."),
        ("findings?limit=0", 400, "limit must be a whole number from 1 to 999999999, not 0."),
        ("clusters?partial=1", 400, "Unknown parameter partial; known parameters: none."),
        ("findings?state=empty", 400, "Unknown parameter state; "),
        ("libraries?limit=1", 400, "Unknown parameter limit; known parameters: cluster, partial."),
        ("libraries?cluster=absent", 404, "No cluster named absent is watched."),
        ("explain/main/orders?topic=orders", 400, "A topic and a partition belong together: give both or neither."),
        ("explain/main/orders?topic=orders&partition=9", 400, "The group has no partition 9 of orders; it has 0-3."),
        ("explain/main/absent", 404, "No group named absent was found in cluster main."),
        ("explain/main/broken", 500, "Group broken of cluster main cannot be evaluated (StateCorruptError: "),
        ("explain/slow/orders", 503, "The groups of slow are not known yet."),
        (
            "what-if/main/orders?without=x",
            400,
            "The group has no member x; its members are alpha-1 (alpha at /10.0.0.1), beta-1 (beta at /10.0.0.2).",
        ),
        ("what-if/main/orders?members=two", 400, "members must be a whole number from 1 to 999999999, not two."),
        ("what-if/main/orders?members=10001", 400, "groupwatch simulates 1 to 10,000 members, not 10001."),
        ("what-if/main/orders?partitions=orders", 400, "partitions: orders is not TOPIC=N."),
        (
            "what-if/main/orders?partitions=orders=20&partitions=orders=30",
            400,
            "partitions: orders may be given only once, not with 20 and 30.",
        ),
        (
            "what-if/main/orders?partitions=orders=9&partitions=orders=9",
            400,
            "partitions: orders may be given only once, ",
        ),
        ("what-if/main/orders?partitions=orders%3D100001", 400, "The server simulates at most 100,000 partitions. "),
        ("rollout/main/orders?rollout=fast", 400, "fast is no rollout; give for example surge=1,start=20s, "),
        ("rollout/main/orders?protocol=share", 400, "The protocol is classic or consumer, not share."),
        ("lag/main/absent", 404, "No group named absent was found in cluster main."),
        ("lag/main", 404, "This address names no group: it must end in a cluster and a group."),
        ("lag/elsewhere/g", 404, "No cluster named elsewhere is watched."),
        ("nothing", 404, "The API has no such address; /api/v1/ lists all addresses."),
    ],
)
def test_a_bad_question_is_refused_with_the_sentence_that_mends_it(client, path, status, sentence):
    answer = client.get(f"/api/v1/{path}")
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    check(answer.json(), {"$ref": "#/components/schemas/ApiError"})
    assert (answer.json()["status"], answer.json()["detail"]) == (status, answer.json()["error"])
    assert answer.json()["error"].startswith(sentence)


def declared(address: Address, answer: httpx.Response) -> int:
    """The status of an answer, which the document has to have, with the form of its body."""
    check(answer.json(), answer_schema(address, str(answer.status_code)))
    return answer.status_code


def bare(address: Address) -> str:
    """The address of its example, without a query."""
    return EXAMPLES[address.name].partition("?")[0]


@pytest.mark.parametrize("address", ADDRESSES, ids=lambda each: each.name)
def test_what_an_address_refuses_is_in_the_document(client, address):
    path = bare(address)
    assert declared(address, client.get(f"{path}?colour=red")) == 400
    assert declared(address, client.request("DELETE", path)) == 405
    assert declared(address, client.request("GET", path, content=b"x")) == 413


@pytest.mark.parametrize("address", ADDRESSES, ids=lambda each: each.name)
def test_where_a_cluster_is_named_404_and_503_are_in_the_document(client, address):
    if "{cluster}" in address.path:
        elsewhere, slow = (address.path.format(cluster=name, group="g", topic="t") for name in ("elsewhere", "slow"))
    elif "cluster" in [each.name for each in address.parameters]:
        elsewhere, slow = (f"{bare(address)}?cluster={name}" for name in ("elsewhere", "slow"))
    else:
        assert "404" not in DOCUMENT["paths"][address.path]["get"]["responses"]
        return
    assert declared(address, client.get(elsewhere)) == 404
    assert declared(address, client.get(slow)) == 503


def test_who_may_not_read_is_refused_as_the_document_says(tmp_path):
    """Ten wrong passwords are checked at once, and then one each 6 s."""
    file = tmp_path / "web.yml"
    file.write_text('{"basic_auth_users": {"me": "$2b$04$' + "." * 53 + '"}}')
    file.chmod(0o600)
    app = create_app(example(), lambda: NOW_MS)
    with (
        HttpServer(app, port=0, access=AccessFiles(web_config_file=file)) as server,
        plain_http.client(base_url=server.url) as stranger,
    ):
        assert {declared(each, stranger.get(bare(each))) for each in ADDRESSES} == {401}
        for number in range(12):
            stranger.get("/api/v1/", auth=("me", f"wrong-{number}"))
        assert {declared(each, stranger.get(bare(each), auth=("me", each.name))) for each in ADDRESSES} == {429}


@pytest.mark.parametrize("address", ADDRESSES, ids=lambda each: each.name)
def test_what_is_too_much_is_in_the_document_for_every_address(address):
    """No place, and nobody waits for one; and an address of 101 bytes and more is too long."""
    app = create_app(example(), lambda: NOW_MS)
    with HttpServer(app, port=0, limits=Limits(costly=0, costly_waiting=0, target_bytes=100)) as server:
        assert declared(address, plain_http.get(f"{server.url}{bare(address)}")) == 503
        assert declared(address, plain_http.get(f"{server.url}{bare(address)}?{'x' * 100}")) == 414


def test_an_answer_that_is_not_kept_is_not_declared_to_be():
    """What is streamed has no tag."""
    kept = [each for each in ADDRESSES if "304" in DOCUMENT["paths"][each.path]["get"]["responses"]]
    assert kept == JSON_ADDRESSES


def test_five_hundred_values_are_read_and_no_more(client):
    many = "&".join(["without=x"] * 501)
    answer = client.get(f"/api/v1/what-if/main/orders?{many}")
    assert (answer.status_code, answer.json()) == (400, problem(400, "A request has at most 500 parameters."))


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"])
def test_the_api_can_only_be_read(client, method):
    for path in (*EXAMPLES.values(), "/api/v1/nothing"):
        answer = client.request(method, path)
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
        assert answer.json() == problem(405, "Only GET and HEAD are served.")


def test_an_answer_that_fails_is_told_as_json():
    class Failing(Served):
        def history(self, cluster, group):
            raise ZeroDivisionError(cluster, group)

    source = example()
    with served(Failing(source.shown, source.saved)) as server:
        answer = plain_http.get(f"{server.url}/api/v1/lag/main/orders")
        declared(next(each for each in ADDRESSES if each.name == "lag"), answer)
    told = "The request failed (ZeroDivisionError); the job's log has details."
    assert (answer.status_code, answer.json()) == (500, problem(500, told))


# --- how it is sent ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_head_tells_the_same_and_sends_nothing(client, name):
    asked, told = client.head(EXAMPLES[name]), client.get(EXAMPLES[name])
    assert (asked.status_code, asked.content) == (200, b"")
    same = ("content-type", "etag", "link", "x-total-count", "vary", "cache-control")
    assert [asked.headers.get(each) for each in same] == [told.headers.get(each) for each in same]
    if "content-length" in told.headers:
        assert asked.headers["content-length"] == told.headers["content-length"]


def test_no_group_is_read_for_the_head_of_a_snapshot():
    read = []

    class Noted(Saved):
        def inputs(self, group):
            read.append(group)
            return super().inputs(group)

    source = example()
    saved = source.saved["main"]
    noted = Served(source.shown, {"main": Noted(saved.catalog, saved.states, saved.now_ms)})
    with served(noted) as server:
        answer = plain_http.head(f"{server.url}/api/v1/snapshot?partial=1")
        assert (answer.status_code, answer.headers["content-type"], read) == (200, "application/x-ndjson", [])
        plain_http.get(f"{server.url}/api/v1/snapshot?partial=1")
    assert read == ["mail", "orders"]


@pytest.mark.parametrize("address", JSON_ADDRESSES, ids=lambda each: each.name)
def test_what_a_client_has_is_not_sent_again(client, address):
    path = EXAMPLES[address.name]
    tag = client.get(path).headers["etag"]
    assert tag.startswith('W/"')
    for kept in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
        again = client.get(path, headers={"If-None-Match": kept})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert again.headers["cache-control"] == "private, no-cache"
    assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200


def test_another_answer_has_another_tag(client):
    assert (
        client.get("/api/v1/groups?partial").headers["etag"]
        != client.get("/api/v1/groups?problems&partial").headers["etag"]
    )


def test_a_long_answer_is_compressed_for_those_who_take_that(url):
    path = f"{url}/api/v1/groups/main/orders"
    plain = plain_http.get(path, headers={"Accept-Encoding": "identity"})
    with plain_http.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as packed:
        raw = b"".join(packed.iter_raw())
    assert "content-encoding" not in plain.headers
    assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert packed.headers["etag"] == plain.headers["etag"]
    assert gzip.decompress(raw) == plain.content
    assert len(raw) < len(plain.content)
    short = plain_http.get(f"{url}/api/v1/lag/main/mail", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in short.headers


# --- what is kept -----------------------------------------------------------------------------------------------------


def test_a_list_is_made_once_for_an_evaluation_and_anew_for_the_next():
    shown = [example().read()]
    kept = KeptLists()
    first, wanted = kept.groups(shown[-1], Wanted()), Wanted(order=Order.LAG)
    assert kept.groups(shown[-1], Wanted()) is first
    assert kept.groups(shown[-1], wanted) is not first
    main, slow = shown[-1].clusters
    health = CollectorHealth(cluster="main", collector="topics", name="main")
    shown.append(Snapshot(clusters=(replace(main, collectors=(health,)), slow)))
    assert kept.groups(shown[-1], Wanted()) is first
    shown.append(Snapshot(clusters=(replace(main, evaluated_ms=NOW + 5_000), slow)))
    again = kept.groups(shown[-1], Wanted())
    assert msgspec.json.decode(again.answer.body)[0]["evaluated_ms"] == NOW + 5_000
    assert again.answer.etag != first.answer.etag


def test_many_different_questions_do_not_pile_up():
    kept, shown = KeptLists(), example().read()
    first = kept.groups(shown, Wanted(search="0"))
    for number in range(1, 9):
        kept.groups(shown, Wanted(search=str(number)))
    assert kept.groups(shown, Wanted(search="0")) is not first
    assert kept.groups(shown, Wanted(search="0")).matching == 0


def test_an_answer_is_compressed_once_and_is_gzip():
    answer = KeptLists().groups(example().read(), Wanted()).answer
    assert answer.packed is answer.packed
    assert zlib.decompress(answer.packed, 31) == answer.body


def test_so_many_long_answers_are_worked_out_at_once_and_the_others_wait():
    turns, lock, done = Turns(), threading.Lock(), threading.Semaphore(0)
    running: list[int] = []
    most: list[int] = []

    def work() -> None:
        with lock:
            running.append(1)
            most.append(len(running))
        done.acquire(timeout=30)
        with lock:
            running.pop()

    async def ask() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(turns.take, work)
            while len(most) < AT_ONCE:
                await anyio.sleep(0.001)
            for _ in range(6):
                done.release()

    anyio.run(ask)
    assert (max(most), len(most)) == (AT_ONCE, 6)
    anyio.run(ask)  # and in another event loop


@dataclass(frozen=True)
class Slow(Served):
    """A job that gives what an explanation is made of when it is let."""

    let: threading.Event = field(default_factory=threading.Event)
    running: list[int] = field(default_factory=list)
    most: list[int] = field(default_factory=list)

    def inputs(self, cluster: str) -> ClusterInputs | None:
        """What was given for the cluster."""
        self.running.append(1)
        self.most.append(len(self.running))
        self.let.wait(30)
        self.running.pop()
        return super().inputs(cluster)


def test_explanations_take_turns_and_what_is_short_waits_for_none_of_them():
    shown = example()
    job, codes = Slow(shown.shown, shown.saved, shown.lags), list[int]()

    async def get(client: httpx.AsyncClient, path: str) -> None:
        codes.append((await client.get(path)).status_code)

    async def ask() -> None:
        transport = httpx.ASGITransport(create_app(job, lambda: NOW_MS))
        client = httpx.AsyncClient(transport=transport, base_url="http://groupwatch", timeout=60)
        async with client, anyio.create_task_group() as group:
            for _ in range(AT_ONCE + 2):
                group.start_soon(get, client, EXAMPLES["explain"])
            while len(job.running) < AT_ONCE:
                await anyio.sleep(0.001)
            await anyio.wait_all_tasks_blocked()
            await get(client, EXAMPLES["clusters"])
            job.let.set()

    anyio.run(ask)
    assert codes == [200] * (1 + AT_ONCE + 2)
    assert max(job.most) == AT_ONCE

"""Writes docs/api.md, with the answers of a real server to real questions: ``python -m tests.web.api.api_page``."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx

from monitor.metrics.version import installed_version
from monitor.web.api.endpoints import ADDRESSES, Address
from monitor.web.api.openapi import openapi_document
from monitor.web.app import create_app
from monitor.web.server import HttpServer
from monitor.web.views.deployment import Deployment
from monitor.web.views.query import Parameter
from tests.support import plain_http
from tests.web.api.api_example import EXAMPLES, EXPECTED, NOW_MS, Recorded, example

PAGE: Final = Path(__file__).parents[3] / "docs" / "api.md"
WIDTH: Final = 116
REFUSED: Final = ("/api/v1/groups?sort=size", "/api/v1/findings?partial=0")

HEAD: Final = """\
# The API

Everything on the page, as JSON, under `http://127.0.0.1:9464/api/v1/`. The API is read-only: it accepts `GET` and
`HEAD`. `/api/v1/openapi.json` describes the same as this page for programs (OpenAPI 3.1). (`python -m
tests.web.api.api_page` writes this page, from the responses of a real server.)

- **Names** in a path are percent-encoded as one piece: a slash is `%2F`, so `orders/eu` is at
  `/api/v1/groups/main/orders%2Feu`. Clients remove `.` and `..` from a path, so a group of that name is at
  `/api/v1/groups/main/~.` or `~..` (and one that is named `~.` at `~~.`).
- **Names in responses** are as they are in the cluster, and may have any character, even one that reverses text or
  controls a terminal. JSON escapes only controls below U+0020: a program that shows names must escape the rest, as the
  page does. The sentence of an error is already escaped.
- **Times** (`_ms`) are milliseconds since the epoch, durations milliseconds, offsets and lags records (for MetaQ
  bytes).
- **An absent field** has its default: null, 0, false, "" or an empty list. An unknown value is null or absent, never 0
  or -1.
- **All data of one cluster** in a response is of one evaluation, `evaluated_ms`.
- **Not ready** is never an empty list. Until something is known of a cluster, each request about its groups returns 503
  with the text of `/readyz`, and `not_ready` names the cluster. A list of all clusters has those that are ready, and
  names the others in the header `X-Not-Ready`; `/api/v1/clusters` has the reasons. It is a 503 if no cluster is ready.
  So is a list with `partial=0` if one is not. With `partial=1`, lists of named clusters and snapshots omit such
  clusters too. A client that polls findings may close a finding that is missing in a 200, unless `X-Not-Ready` names
  its cluster.
- **Stale** data is of the last evaluation before a restart, or before the cluster could not be read any more, for
  example because no broker responds (`groupwatch_up` 0). The API still returns it. Lists name such clusters in the
  header `X-Stale`, and `/api/v1/clusters` has their age. Of the last one before a restart there are only lists: a
  request about one group returns 503.
- **Caching**: each JSON response has an `ETag`. With `If-None-Match`, an unchanged one is a 304 without a body. Long
  responses are compressed for clients that accept gzip.
- **The past**: with a recording ([history.md](history.md)), `at` asks for an instant: `2026-11-22 02:14` (UTC),
  `2026-11-22T03:14+01:00` (a `+` is `%2B` in an address), or `-3h`. Without a recording, the answer is a 404.
- **Long lists**: with `limit`, the header `Link` has the address of the next rows (`rel="next"`), and `X-Total-Count`
  the total number. A group that appears or disappears meanwhile moves no other to another page. Without `limit`: all.
- **Expensive requests**: the server computes 4 pages and API responses at once, and 12 more wait up to 5 s. Others get
  a 503 with `Retry-After`. Of those 4, at most two are about one group (its page and timeline; in the API: group,
  explain, what-if, history, report, and the snapshot of a group) or about topics. These take up to a second of a core
  for 1,000 members and 10,000 partitions. Scrapes continue.
"""

ERRORS: Final = """\
## Errors

Each is a problem of RFC 9457 (`application/problem+json`) with a sentence, `detail`, that names the problem (and
`not_ready`, see above). `error` is the same sentence, for clients that read it before there was `detail`:

| status | when |
|---|---|
| 400 | an unknown parameter, an unreadable value, or a request that this group does not allow |
| 404 | no such address, cluster or group; no recording |
| 405 | neither GET nor HEAD; the header `Allow` has both |
| 500 | this group cannot be evaluated, others can (or the request failed: the log of the job has the reason) |
| 503 | a cluster is not ready (the sentence has the backlog), the recording is unreadable, too many requests |

[access.md](access.md) has the errors of access control and limits (401, 413, 414, 429). `/api/v1/openapi.json` lists
the possible errors of each address.
"""


def page() -> str:
    """The whole page."""
    app = create_app(example(), lambda: NOW_MS, past=Recorded(), deployment=Deployment(expected=lambda: EXPECTED))
    with (
        HttpServer(app, port=0) as server,
        plain_http.client(base_url=server.url) as client,
    ):
        parts = [
            HEAD,
            *(_address(client, each) for each in ADDRESSES),
            ERRORS,
            *(_asked(client, each) for each in REFUSED),
            _fields(),
        ]
    return "\n".join(parts)


def _address(client: httpx.Client, address: Address) -> str:
    table = "\n".join(_rows(address.parameters))
    parts = [f"## `{address.path}`", "", address.meaning, ""]
    if table:
        parts += ["| parameter | meaning |", "|---|---|", table, ""]
    return "\n".join([*parts, _asked(client, EXAMPLES[address.name])])


def _rows(parameters: tuple[Parameter, ...]) -> Iterator[str]:
    for each in parameters:
        words = f" One of {', '.join(f'`{word}`' for word in each.words)}." if each.words else ""
        repeats = " May be repeated." if each.repeats else ""
        yield f"| `{each.name}` | {each.meaning}{words}{repeats} |"


def _asked(client: httpx.Client, path: str) -> str:
    answer = client.get(path)
    headers = [
        f"{name}: {answer.headers[name.lower()]}"
        for name in ("Link", "X-Total-Count", "X-Not-Ready")
        if name.lower() in answer.headers
    ]
    url = f"http://127.0.0.1:9464{path}"
    status = [f"{answer.status_code} {answer.reason_phrase}"] if answer.status_code != 200 else []
    return "\n".join(["```", f"$ curl {shlex.quote(url)}", *status, *headers, _body(path, answer), "```", ""])


def _body(path: str, answer: httpx.Response) -> str:
    if answer.headers["content-type"] not in ("application/json", "application/problem+json"):
        return "\n".join(line if len(line) <= WIDTH else f"{line[:WIDTH]}..." for line in answer.text.splitlines())
    value = answer.json()
    if path == EXAMPLES["index"]:
        return folded(value | {"version": "0.1.0", "addresses": value["addresses"][:2]}) + "\n(and so on)"
    if path == EXAMPLES["openapi"]:
        return answer.text.replace(installed_version(), "0.1.0")[:WIDTH] + "..."
    return folded(value)


def folded(value: object, indent: int = 0, lead: int = 0) -> str:
    """JSON in which everything that fits into a line stands in one."""
    line = json.dumps(value, ensure_ascii=False)
    if indent + lead + len(line) <= WIDTH or not isinstance(value, dict | list):
        return line
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        named = {json.dumps(name): each for name, each in value.items()}
        rows = [f"{inner}{name}: {folded(each, indent + 2, len(name) + 3)}" for name, each in named.items()]
        return "{\n" + ",\n".join(rows) + f"\n{' ' * indent}}}"
    return "[\n" + ",\n".join(f"{inner}{folded(each, indent + 2, 1)}" for each in value) + f"\n{' ' * indent}]"


def _fields() -> str:
    schemas = json.loads(openapi_document())["components"]["schemas"]
    parts = ["## Fields", "", "By the names that the types have in `/api/v1/openapi.json`."]
    for name, schema in schemas.items():
        if "properties" in schema:
            parts += ["", f"### {name}", "", "| field | type | meaning |", "|---|---|---|"]
            parts += [
                f"| `{field}` | {_type(own)} | {own['description']} |" for field, own in schema["properties"].items()
            ]
        else:
            parts += ["", f"### {name}", "", "One of " + ", ".join(f"`{word}`" for word in schema["enum"]) + "."]
    return "\n".join(parts) + "\n"


def _type(schema: dict) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    return f"list of {_type(schema['items'])}" if schema["type"] == "array" else schema["type"]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

"""The API as an OpenAPI 3.1 document, from the addresses and the types of their answers."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import msgspec

from monitor.metrics.version import installed_version
from monitor.web.api.chosen_clusters import NOT_READY, STALE
from monitor.web.api.endpoints import ADDRESSES, PARTIAL, TAGS, Address, Answer
from monitor.web.api.field_texts import meaning, structs_by_name
from monitor.web.api.response import JSON
from monitor.web.http.errors import PROBLEM_JSON, ApiError
from monitor.web.views.query import Parameter

Json = dict[str, object]

_ROOT: Final = "../.."
"""Where the paths begin, from the address of the document: also behind a proxy that adds a path."""

_SCHEMAS: Final = "#/components/schemas/"
_ERRORS: Final = {
    "400": "A parameter that there is not, a value that cannot be read, or what this group cannot be asked.",
    "401": "Credentials are required (docs/access.md).",
    "404": "There is no such cluster, group or topic.",
    "405": "The API is read-only: GET and HEAD.",
    "413": "A request here has no body.",
    "414": "The address is too long.",
    "429": "Too many wrong credentials.",
    "500": "This part failed; the rest is available.",
    "503": "The groups of a cluster are not known yet: never an empty answer. Or too much is asked at once.",
}
_OF_NAMES: Final = frozenset({"404"})
"""Where a cluster, a group or a topic can be named. All others can come from every address."""

_HEADERS: Final = {
    NOT_READY: {
        "description": "The clusters that are left out, as they are not ready; percent-encoded.",
        "schema": {"type": "string"},
    },
    STALE: {
        "description": "The clusters that were judged a minute ago or more; percent-encoded.",
        "schema": {"type": "string"},
    },
}
_ACCESS: Final = {"token": {"type": "http", "scheme": "bearer"}, "user": {"type": "http", "scheme": "basic"}}
_OR_NONE: Final[Json] = {}


@cache
def openapi_document() -> bytes:
    """The document, as JSON."""
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "groupwatch",
                "version": installed_version(),
                "description": "Who should own each partition of a group, who does, and how far behind they are. "
                "Times are ms since the epoch. A field that is absent has its default: null, 0, false or empty.",
            },
            "servers": [{"url": _ROOT, "description": "The job that serves this document."}],
            "tags": [{"name": tag, "description": meaning} for tag, meaning in TAGS.items()],
            "paths": {each.path: {"get": _operation(each)} for each in ADDRESSES},
            "components": {"schemas": _schemas(), "securitySchemes": _ACCESS},
            "security": [_OR_NONE, *({name: []} for name in _ACCESS)],
        }
    )


def _operation(address: Address) -> Json:
    names = re.findall(r"{(\w+)}", address.path)
    listed = any(each.name == PARTIAL for each in address.parameters)
    return {
        "operationId": address.operation_id,
        "tags": [address.tag],
        "summary": address.meaning,
        **({"deprecated": True} if address.is_former else {}),
        "parameters": [*map(_path_parameter, names), *map(_query_parameter, address.parameters)],
        "responses": {
            "200": {**_answer(address.answer), **({"headers": _HEADERS} if listed else {})},
            **_kept(address.answer),
            **_not_met(address),
            **_errors(address),
        },
    }


def _path_parameter(name: str) -> Json:
    description = f"The {name}, percent-encoded as one piece (a slash is %2F; `.` and `..` are ~. and ~..)."
    return {"name": name, "in": "path", "required": True, "description": description, "schema": {"type": "string"}}


def _query_parameter(parameter: Parameter) -> Json:
    schema = _schema_of(parameter)
    if parameter.repeats:
        schema = {"type": "array", "items": schema}
    return {"name": parameter.name, "in": "query", "description": parameter.meaning, "schema": schema}


def _schema_of(parameter: Parameter) -> Json:
    if parameter.is_number:
        return {"type": "integer", "minimum": 1, "maximum": 999_999_999}
    if parameter.is_switch:
        return {"type": "string", "enum": ["1", "0", "true", "false", ""]}
    return {"type": "string", "enum": list(parameter.words)} if parameter.words else {"type": "string"}


def _answer(answer: Answer) -> Json:
    content = {answer.media: {"schema": _answer_schema(answer)}}
    return {"description": "The answer.", "content": content}


def _answer_schema(answer: Answer) -> Json:
    if answer.type is None:
        return {"type": "string"} if answer.media != JSON else {"type": "object"}
    known: Json = {"$ref": f"{_SCHEMAS}{answer.type.__name__}"}
    return {"type": "array", "items": known} if answer.is_list else known


def _kept(answer: Answer) -> Json:
    """What is streamed has no tag, so it is sent again."""
    return {"304": {"description": "The client has it."}} if answer.media == JSON else {}


def _not_met(address: Address) -> Json:
    """What only a gate may answer, besides its 503."""
    is_gate = address.name == "verify"
    return {"409": {**_answer(address.answer), "description": "The group is not as expected."}} if is_gate else {}


def _errors(address: Address) -> Json:
    schema = {"$ref": f"{_SCHEMAS}{ApiError.__name__}"}
    names_any = address.has_names or any(each.name == "cluster" for each in address.parameters)
    return {
        code: {"description": description, "content": {PROBLEM_JSON: {"schema": schema}}}
        for code, description in _ERRORS.items()
        if names_any or code not in _OF_NAMES
    }


def _schemas() -> Json:
    types: list[type[msgspec.Struct]] = [each.answer.type for each in ADDRESSES if each.answer.type is not None]
    types.append(ApiError)
    _, found = msgspec.json.schema_components(types, ref_template=f"{_SCHEMAS}{{name}}")
    structs = structs_by_name(types)
    return {name: _described(structs.get(name), schema) for name, schema in found.items()}


def _described(struct: type[msgspec.Struct] | None, schema: Json) -> Json:
    """The schema with the text of each field of a struct. The docstring is left out: it is for readers of the code."""
    properties = schema.get("properties")
    rest = {key: value for key, value in schema.items() if key not in ("properties", "description")}
    if struct is None or not isinstance(properties, dict):
        return rest
    fields = {field: {**own, "description": meaning(struct, field)} for field, own in properties.items()}
    return {**rest, "properties": fields}

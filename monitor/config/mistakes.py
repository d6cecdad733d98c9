"""Mistakes in a file or a variable, as sentences that name the key and never the value."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Final

from pydantic_core import ErrorDetails

from monitor.config.client import is_secret

_SUBJECT: Final = re.compile(r"^(Value error, |Input |String |Dictionary |Tuple )")
"""How pydantic's messages begin, where our sentences have the key."""

LONGEST_SHOWN: Final = 80
"""A name that cannot be one is cut at so many characters."""


def mistake_sentence(error: ErrorDetails, known: Iterable[str]) -> str:
    """One mistake, without the value: it might be a secret in the wrong place.

    ``known`` are the keys that there are beside the one that is not known.

    >>> mistake = {"type": "missing", "loc": ("clusters", "a", "bootstrap_servers"), "msg": "", "input": None}
    >>> mistake_sentence(mistake, ())
    'clusters.a.bootstrap_servers is required.'
    """
    key = _key(error["loc"])
    match error["type"]:
        case "name":
            table, name = _key(error["loc"][:-2]), str(error["loc"][-2])
            return f'{table}: "{name[:LONGEST_SHOWN]}" cannot be a name: {error["msg"]}.'
        case "missing" | "int_parsing_size" as kind:
            return f"{key} {'is required' if kind == 'missing' else 'should be a smaller number'}."
        case "extra_forbidden":
            return f"{key} is not a known key{suggestion(str(error['loc'][-1]), known)}."
        case "cluster_name" | "override_cluster" | "place_in_the_whole":
            return f"{error['msg']}."
        case "model_type" | "dict_type" | "model_attributes_type" | "string_type" as kind:
            return f"{key} should be a {'text' if kind == 'string_type' else 'table'}."
    message = _SUBJECT.sub("", error["msg"])
    return f"{key} {message if not is_secret(key) else 'cannot be used'}."


def _key(loc: tuple[int | str, ...]) -> str:
    """The place in the file; entries of a list are counted from 1.

    >>> _key(("detection", "overrides", 0, "groups"))
    'detection.overrides#1.groups'
    """
    parts = (f"#{part + 1}" if isinstance(part, int) else f".{part}" for part in loc)
    return "".join(parts).removeprefix(".")


def suggestion(word: str, known: Iterable[str]) -> str:
    """A known word that is near, for the end of a sentence; "": none is near."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {near[0]}?)" if near else ""

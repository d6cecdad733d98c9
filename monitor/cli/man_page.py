"""The manual page groupwatch(1), made of the commands: ``python -m monitor.cli.man_page > docs/groupwatch.1``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from inspect import cleandoc

import typer.main

from monitor.cli.app import app
from monitor.cli.manual import MANUALS, WHOLE, Meaning
from monitor.metrics.version import installed_version


def man_page() -> str:
    """The page in the language of man(7)."""
    return "\n".join(_lines()) + "\n"


def escaped(text: str) -> str:
    r"""A text as man(7) takes it: hyphens stay hyphens, and no line is an order.

    >>> escaped(".a --b \\ c")
    '\\&.a \\-\\-b \\e c'
    """
    safe = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{safe}" if safe.startswith((".", "'")) else safe


def _lines() -> Iterator[str]:
    group = typer.main.get_group(app)
    yield f'.TH GROUPWATCH 1 "" "groupwatch {installed_version()}" "User Commands"'
    yield from (".SH NAME", escaped("groupwatch - watch consumer groups of Kafka, RocketMQ and MetaQ"))
    yield from (".SH SYNOPSIS", ".B groupwatch", escaped("[--version] [--help] COMMAND [OPTIONS] [ARGUMENTS]"))
    yield from (".SH DESCRIPTION", escaped(cleandoc(group.help or "")))
    yield ".SH COMMANDS"
    for name, command in group.commands.items():
        yield f".SS groupwatch {escaped(name)}"
        yield escaped(" ".join(cleandoc(command.help or "").split()))
        for parameter in command.params:
            yield from _parameter(parameter)
        yield from _examples(name)
    yield ".SH EXIT STATUS"
    yield from _meanings(WHOLE.exit_codes)
    yield ".SH ENVIRONMENT"
    yield from _meanings(dict.fromkeys(each for manual in MANUALS.values() for each in manual.environment))
    yield from (".SH FILES", ".TP", ".I groupwatch.toml", "The configuration; docs/configuration.md has every key.")


def _parameter(parameter: object) -> Iterator[str]:
    names: list[str] = [*getattr(parameter, "opts", ())]
    is_argument = not any(name.startswith("-") for name in names)
    shown = (getattr(parameter, "metavar", None) or names[0].upper()) if is_argument else ", ".join(names)
    yield from (".TP", f".B {escaped(shown)}", escaped(str(getattr(parameter, "help", None) or "")))


def _examples(name: str) -> Iterator[str]:
    yield from (".PP", "Examples:")
    for example in MANUALS[name].examples:
        yield from (".TP", f".B {escaped(example.typed)}", escaped(example.does))


def _meanings(meanings: Iterable[Meaning]) -> Iterator[str]:
    for meaning in meanings:
        yield from (".TP", f".B {escaped(meaning.word)}", escaped(meaning.means))


if __name__ == "__main__":
    sys.stdout.write(man_page())

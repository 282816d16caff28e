"""Find the files that SQL texts name, besides the traces that the command line mounts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from glob import has_magic
from pathlib import Path

from dctv.catalog.files import matching
from dctv.cli.texts import SqlText
from dctv.errors import ParseError, SourceText, TraceError
from dctv.syntax import ast
from dctv.syntax.node import nodes
from dctv.syntax.parse import parse


def files_named(texts: Sequence[SqlText], parameters: Sequence[str] = ()) -> Sequence[Path]:
    """Return the files whose paths or patterns are strings in some texts, or values of parameters `K=V`.

    They may be read or not. Folders are included where they are mounted.
    """
    found: dict[Path, None] = {}
    values = [one.partition("=")[2] for one in parameters]
    for text in texts:
        mounted, others = _strings(text)
        for string in mounted:
            found |= dict.fromkeys(_existing(string, text.base))
        for string in (*others, *values):
            found |= dict.fromkeys(one for one in _existing(string, text.base) if one.is_file())
    return list(found)


def _strings(text: SqlText) -> tuple[Sequence[str], Sequence[str]]:
    """Return the paths of traces that a text mounts, and its other strings; double quotes may be those of a string."""
    try:
        statements = parse(SourceText(text.name, text.sql))
    except ParseError:
        return (), ()  # running it reports the error
    mounted, others = dict[str, None](), dict[str, None]()
    for node in nodes(statements):
        match node:
            case ast.MountTrace() | ast.MountTraces():
                mounted[node.file.text] = None
            case ast.String(string) | ast.Name(string, quoted=True):
                others[string] = None
    return list(mounted), list(others)


def _existing(string: str, base: Path | None) -> Iterator[Path]:
    # Most strings are no paths: they are too long (OSError), have a zero (ValueError), are no valid pattern
    # (TraceError), or begin with `~` and the name of nobody (TraceError, RuntimeError).
    with suppress(OSError, ValueError, RuntimeError, TraceError):
        # A string such as `%` or `*` is hardly a pattern of files.
        is_pattern = has_magic(string) and ("/" in string or "." in string)
        for one in matching(string, base) if is_pattern else [string]:
            path = (base or Path()) / Path(one.removeprefix("file://")).expanduser()
            if path.exists():
                yield path

"""The engine's signatures: read from its catalogue when dctv is installed, loaded without it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from dctv import resources
from dctv.record import record
from dctv.signatures.types import Type, parse

FILE = "signatures.json"

_CATALOGUE = """
SELECT DISTINCT lower(function_name), parameter_types, varargs, return_type
FROM duckdb_functions()
WHERE database_name = 'system' AND schema_name = 'main' AND function_type IN ('scalar', 'aggregate', 'window')
  AND NOT starts_with(function_name, '__internal')
ORDER BY ALL
"""
_OPTIONAL = {"lag": 2, "lead": 2, "to_base": 1}
"""The numbers of optional arguments, which the catalogue does not list."""
# Separators of types, results and signatures; they occur in no type.
_TYPES, _MORE, _RESULT, _SIGNATURES = ";", "...", "=", "|"


@record
class Signature:
    """The types of a function's parameters and result."""

    parameters: tuple[Type, ...]
    more: Type | None
    """The type of further arguments; None if there may be none."""
    result: Type

    def accepts_count(self, count: int) -> bool:
        """Return whether it can be called with `count` arguments."""
        return count == len(self.parameters) or (self.more is not None and count > len(self.parameters))

    def parameter(self, index: int) -> Type:
        """Return the type of a parameter, one of further ones included."""
        if index < len(self.parameters):
            return self.parameters[index]
        assert self.more is not None
        return self.more


def write_signatures(folder: Path) -> Path:
    """Read the signatures of the engine that is installed and write them into a folder, atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / FILE
    partial = folder / f"{FILE}.{os.getpid()}"
    data = {"engine": _version(), "functions": _read(), "keywords": _read_keywords()}
    partial.write_text(json.dumps(data, separators=(",", ":")), encoding="utf-8")
    partial.replace(target)
    return target


@lru_cache(4096)
def signatures(name: str) -> tuple[Signature, ...]:
    """Return the signatures of a function, by its lower-case name; none if it is not there, or a macro."""
    text = packed().get(name)
    found = tuple(map(_signature, text.split(_SIGNATURES))) if text else ()
    left_out = range(1, _OPTIONAL.get(name, 0) + 1)
    return (*found, *(Signature(one.parameters[:-count], None, one.result) for one in found for count in left_out))


@lru_cache(4096)
def fitting(name: str, count: int) -> tuple[tuple[Signature, tuple[str, ...]], ...]:
    """Return the signatures that take `count` arguments, each with the texts of its parameters' types."""
    found = (one for one in signatures(name) if one.accepts_count(count))
    return tuple((one, tuple(str(one.parameter(i)) for i in range(count))) for one in found)


@cache
def packed() -> Mapping[str, str]:
    """Return the signatures of all functions as they are kept, of the engine that is installed."""
    found: dict[str, str] | None = _kept().get("functions")
    return _read() if found is None else found  # reading takes some hundredths of a second


@cache
def keywords() -> frozenset[str]:
    """Return the words that the engine quotes where they are names, in lower case."""
    found: list[str] | None = _kept().get("keywords")
    return frozenset(_read_keywords() if found is None else found)


@cache
def _kept() -> Mapping[str, Any]:
    """Return the table written when dctv was installed; empty if it is for another version of the engine."""
    try:
        data: dict[str, Any] = json.loads((resources.generated() / FILE).read_bytes())
        if data["engine"] == _version():
            return data
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return {}


def _version() -> str:
    import duckdb  # heavy; any caller that wants types runs queries, and loads it anyway

    return duckdb.__version__


def _read() -> dict[str, str]:
    import duckdb  # as above

    with duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"}) as connection:
        rows = connection.execute(_CATALOGUE).fetchall()
    found: dict[str, list[str]] = {}
    for name, parameters, more, result in rows:
        taken = _TYPES.join([*parameters, *([more + _MORE] if more else [])])
        found.setdefault(name, []).append(f"{taken}{_RESULT}{result}")
    return {name: _SIGNATURES.join(each) for name, each in found.items()}


def _read_keywords() -> list[str]:
    import duckdb  # as above

    with duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"}) as connection:
        return sorted(word for (word,) in connection.execute("SELECT keyword_name FROM duckdb_keywords()").fetchall())


def _signature(text: str) -> Signature:
    taken, result = text.split(_RESULT)
    names = taken.split(_TYPES) if taken else []
    more = names.pop().removesuffix(_MORE) if names and names[-1].endswith(_MORE) else None
    return Signature(tuple(map(parse, names)), parse(more) if more else None, parse(result))

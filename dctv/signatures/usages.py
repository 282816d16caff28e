"""Find the usage of functions by name, such as `substr(string, start[, length])`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from dctv.types.values import dialect_type

_CATALOGUE = """
SELECT lower(function_name), parameters, varargs IS NOT NULL, return_type
FROM duckdb_functions()
WHERE database_name = 'system' AND schema_name IN ('main', 'pg_catalog')
  AND function_type IN ('scalar', 'aggregate', 'window', 'macro')
ORDER BY ALL
"""
_OWN = {
    "coalesce": "coalesce(value, ...)",
    "grouping": "grouping(key, ...) -> INT64",
    "grouping_id": "grouping_id(key, ...) -> INT64",
    "ifnull": "ifnull(value, otherwise)",
    "lag": "lag(x[, offset[, default]])",
    "lead": "lead(x[, offset[, default]])",
    "sparkline": "sparkline(numbers) -> STRING",
    "state_names": "state_names(path) -> STRING[]",
    "state_path": "state_path(name, ...) -> STRING",
    "time_avg": "time_avg(x)",
    "time_sum": "time_sum(x)",
    "try": "try(expression)",
    "unitless": "unitless(x)",
    "unnest": "unnest(list)",
}
"""Functions that the engine's catalogue does not list, or lists without marking optional arguments."""


def usage(name: str) -> str:
    """Return the usage of a function of expressions, by its lower-case name; empty if there is no such function."""
    return _OWN.get(name) or _usages().get(name, "")


@cache
def _usages() -> Mapping[str, str]:
    import duckdb  # any caller that wants usages runs queries, too

    with duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"}) as connection:
        rows = connection.execute(_CATALOGUE).fetchall()
    forms: dict[str, dict[int, list[str]]] = {}
    results: dict[str, set[str | None]] = {}
    more: set[str] = set()
    for name, parameters, has_more, result in rows:
        forms.setdefault(name, {}).setdefault(len(parameters), parameters)
        results.setdefault(name, set()).add(result)
        if has_more:
            more.add(name)
    return {
        name: f"{name}({_written([by_count[n] for n in sorted(by_count)], more=name in more)}){_result(results[name])}"
        for name, by_count in forms.items()
    }


def _written(forms: list[list[str]], *, more: bool) -> str:
    """Return parameters, in brackets those that shorter forms do without."""
    longest = forms[-1]
    counts = [len(form) for form in forms]
    text = ""
    for index in range(len(longest) - 1, -1, -1):
        text = f"{', ' if index else ''}{longest[index]}{text}"
        if index in counts:
            text = f"[{text}]"
    return text + (", ..." if more and longest else "..." if more else "")


def _result(types: set[str | None]) -> str:
    """Return the text after the parameters, if all overloads have the same result type."""
    (only, *others) = types
    is_fixed = only is not None and not others and only.strip("[]") not in {"ANY", "T", "STRUCT", "LAMBDA"}
    return f" -> {dialect_type(str(only))}" if is_fixed else ""

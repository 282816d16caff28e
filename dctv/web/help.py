"""Help for writing SQL on the page: completions and errors, as at the prompt."""

from __future__ import annotations

from typing import Any

from dctv.completion import candidates
from dctv.errors import UsageError, nearest
from dctv.types.values import dialect_type
from dctv.web.host import Host
from dctv.web.request_errors import characters, error_json, units


def complete(host: Host, text: str, cursor: int) -> dict[str, Any]:
    """Return completions at the cursor, an offset in units of UTF-16."""
    at = characters(text, cursor)
    given = candidates(host, text[:at], text[at:])
    options = [{"label": one.text, "kind": one.about} for one in given.found]
    return {"from": units(text, at - given.typed), "options": options}


def check(host: Host, text: str) -> dict[str, Any]:
    """Return the errors in a text."""
    errors = []
    for error in host.check(text):
        fault = error_json(error)
        place = fault.pop("place") or {"start": 0, "stop": units(text, len(text))}
        errors.append({**fault, "start": place["start"], "stop": place["stop"]})
    return {"errors": errors}


def tables(host: Host, prefix: str) -> dict[str, Any]:
    """Return the tables and functions below a dotted prefix."""
    return {"tables": [{"name": one.written, "kind": one.kind, "doc": one.doc} for one in host.tables(prefix)]}


def columns(host: Host, table: str) -> dict[str, Any]:
    """Return the kind and the columns of a table.

    Raises:
        UsageError: there is no such table.
    """
    schema = host.columns(table)
    if schema is None:
        close = nearest(table, [one.written for one in host.tables()])
        raise UsageError(f"unknown table `{table}`", hint=f"did you mean `{close}`?" if close else None)
    found = [{"name": c.name, "type": dialect_type(c.type), "unit": str(c.unit) or None} for c in schema.columns]
    return {"kind": schema.kind.value, "columns": found}

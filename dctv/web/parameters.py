"""Validate fields of requests, since they may not come from the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dctv.errors import UsageError

_FIRST, _LAST = -(2**63), 2**63 - 1
_DIGITS = 20
_MOST_TRACKS = 20_000


def fields_of(found: object) -> Mapping[str, Any]:
    """Return the fields of a JSON object.

    Raises:
        UsageError: it is not an object; the other functions raise the same for invalid fields.
    """
    if not isinstance(found, dict):
        raise UsageError("expected a JSON object")
    return found


def text(fields: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """Return a text."""
    found = fields.get(name, default)
    if not isinstance(found, str):
        raise _wrong(name, "a text", found)
    return found


def maybe_text(fields: Mapping[str, Any], name: str) -> str | None:
    """Return a text, None if there is none."""
    return None if fields.get(name) is None else text(fields, name)


def whole_number(digits: str) -> int:
    """Parse digits; numbers of more than 20 digits are clamped."""
    return int(digits) if len(digits) <= _DIGITS else 10**_DIGITS


def time(fields: Mapping[str, Any], name: str) -> int:
    """Return a time in ns: given as digits, since JavaScript numbers cannot represent all times."""
    found = fields.get(name)
    digits = found.removeprefix("-") if isinstance(found, str) else ""
    if isinstance(found, str) and digits.isdecimal() and digits.isascii() and len(digits) <= _DIGITS:
        found = int(found)
    if not isinstance(found, int) or isinstance(found, bool) or not _FIRST <= found <= _LAST:
        raise _wrong(name, "a time in ns", found)
    return found


def times(fields: Mapping[str, Any], name: str) -> dict[str, int]:
    """Return times in ns by name; none if the field is missing."""
    found = fields.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise _wrong(name, "times by name", found)
    return {key: time(found, key) for key in found}


def integer(fields: Mapping[str, Any], name: str, default: int, least: int, most: int) -> int:
    """Return an integer in a range."""
    found = fields.get(name, default)
    if not isinstance(found, int) or isinstance(found, bool) or not least <= found <= most:
        raise _wrong(name, f"an integer from {least:,} to {most:,}", found)
    return found


def track_ids(fields: Mapping[str, Any]) -> list[str]:
    """Return the ids of tracks."""
    found = fields.get("tracks")
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found) or len(found) > _MOST_TRACKS:
        raise _wrong("tracks", f"a list of at most {_MOST_TRACKS:,} tracks", found)
    return found


def _wrong(name: str, expected: str, found: object) -> UsageError:
    return UsageError(f"expected {expected} as `{name}`, found {str(found)[:50] if found is not None else 'nothing'}")

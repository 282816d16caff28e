"""Parse and format quantities: bytes such as `10GB`, times such as `30d`."""

from __future__ import annotations

import time
from argparse import ArgumentTypeError

from dctv.patterns import pattern

_BYTES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_BYTES |= {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
_NUMBER = pattern(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)")


def byte_count(text: str) -> int:
    """Parse a number of bytes."""
    match = _NUMBER.fullmatch(text)
    if match is None or match[2].lower() not in _BYTES:
        raise ArgumentTypeError(f"found `{text}`, expected a size such as 10GB")
    return int(float(match[1]) * _BYTES[match[2].lower()])


def seconds(text: str) -> float:
    """Parse a time."""
    match = _NUMBER.fullmatch(text)
    if match is None or match[2].lower() not in _SECONDS:
        raise ArgumentTypeError(f"found `{text}`, expected a time such as 90s, 12h or 30d")
    return float(match[1]) * _SECONDS[match[2].lower()]


def size_text(count: int) -> str:
    """Format a number of bytes: `8.3 MB`."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def age_text(moment: float) -> str:
    """Format the age of a time: `5 minutes ago`."""
    if moment == 0:
        return "unknown"
    age = max(0.0, time.time() - moment)
    for length, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if age >= length:
            number = int(age // length)
            return f"{number} {unit}{'' if number == 1 else 's'} ago"
    return "just now"

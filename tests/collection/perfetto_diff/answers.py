"""Turn our rows into the CSV that Perfetto writes, and both into lines that can be compared.

One rule for all: NULL is `"[NULL]"`, text stands in double quotes as it is, truth is 1 or 0, a number with a fraction
has six digits after the point, and one without is written as an integer, whether it was `10` or `10.000000`. Blanks
around a line and empty lines say nothing. Rows keep their order where Perfetto's query ends in ORDER BY, and are sorted
otherwise.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

WHOLE = re.compile(r"(?<![^,\n])(-?\d+)\.0+(?![^,\n])")
COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


def _field(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return '"[NULL]"'
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float | Decimal | Fraction):
        return f"{float(value):.6f}"
    return str(value) if isinstance(value, int) else f'"{value}"'


def _lines(text: str) -> list[str]:
    lines = (line.strip() for line in text.strip().splitlines())
    return [re.sub(r"(?<![^,])-0(?![^,])", "0", WHOLE.sub(r"\1", line)) for line in lines if line]


def ours(rows: list[tuple[object, ...]]) -> list[str]:
    """Return the lines of our rows."""
    return _lines("\n".join(",".join(map(_field, row)) for row in rows))


def theirs(expected: str) -> tuple[str, list[str]]:
    """Return the line of column names and the lines of rows of Perfetto's answer."""
    head, *rows = _lines(expected) or [""]
    return head, rows


def columns(line: str) -> list[str]:
    """Return the fields of a line; a comma within text separates only where quotes are on both sides."""
    return re.split(r',(?=(?:[^"]*"[^"]*")*[^"]*$)', line)


def is_ordered(query: str) -> bool:
    """Return whether the outermost part of a query ends with ORDER BY."""
    text, depth, kept = COMMENT.sub(" ", query), 0, []
    for char in text:
        depth += (char == "(") - (char == ")")
        kept.append(char if depth == 0 else " ")
    last = "".join(kept).strip().rstrip(";").split(";")[-1]
    return re.search(r"\border\s+by\b", last, re.IGNORECASE) is not None

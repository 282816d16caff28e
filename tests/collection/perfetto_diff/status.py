"""Print how many of Perfetto's cases are asked, by area; `--accept` writes it into docs/explanation/perfetto.md.

python -m tests.collection.perfetto_diff.status [--accept]
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.collection.perfetto_diff.cases import REASONS, entries

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "perfetto.md"
BEGIN, END = "<!-- cases -->\n", "<!-- /cases -->\n"
STATUSES = ("equal", "design", "pending", "missing")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|---" + "|--:" * (len(head) - 1) + "|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def by_area() -> str:
    """Return a table of areas and statuses, with a last row of sums."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in entries().values():
        counts[entry.area][entry.status] += 1
    counts = dict(sorted(counts.items())) | {"all": sum(counts.values(), Counter())}
    rows = [
        (area, str(found.total()), *(str(found[status] or "") for status in STATUSES)) for area, found in counts.items()
    ]
    return "\n".join(_table(("area", "cases", *STATUSES), rows)) + "\n"


def by_reason() -> str:
    """Return a table of the reasons why cases cannot be asked, the most frequent first."""
    counts = Counter(entry.missing for entry in entries().values() if entry.missing)
    rows = [
        (REASONS[reason], str(number)) for reason, number in sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    ]
    return "\n".join(_table(("reason", "cases"), rows)) + "\n"


def page() -> str:
    """Return docs/explanation/perfetto.md with today's numbers."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}{by_area()}\n{by_reason()}{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    if "--accept" in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(by_area())

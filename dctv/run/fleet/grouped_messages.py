"""Group the messages of many traces: one line per message, with the first traces that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dctv.patterns import pattern

_FEW = 3
"""The number of traces that a line names."""
_NAMED = pattern("`[^`]*`")


def together(said: Iterable[tuple[str, str, int]]) -> Iterator[tuple[str, int]]:
    """Merge the messages of traces, given as trace, text and count.

    Texts that differ only in the names that they quote, as those of outdated indexes do, are one: the first represents
    all.
    """
    found: dict[str, list[tuple[str, str, int]]] = {}
    for one in said:
        found.setdefault(_NAMED.sub("`", one[1]), []).append(one)
    for group in found.values():
        traces = list(dict.fromkeys(trace for trace, _, _ in group))
        same = len({text for _, text, _ in group}) == 1
        yield f"{listed(traces, _FEW if same else 1)}: {group[0][1]}", sum(count for _, _, count in group)


def listed(names: Sequence[str], most: int = _FEW) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more

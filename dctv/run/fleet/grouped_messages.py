"""Group the messages of many traces: one line per message, with the first traces that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dctv.patterns import pattern

_FEW = 3
"""The number of traces that a line names."""
_NAMED = pattern("`[^`]*`")
_COUNTED = pattern(r"^(\d+) (\w+?)s?\b(.*?)\b(was|were)\b")
"""The begin of a message that counts: `3 ends without a begin were ignored`."""


def together(said: Iterable[tuple[str, str, int]]) -> Iterator[tuple[str, int]]:
    """Merge the messages of traces, given as trace, text and count.

    Texts that differ only in the names that they quote, as those of outdated indexes do, are one: the first represents
    all. So are those that begin with different numbers of the same things, which are added up.
    """
    found: dict[str, list[tuple[str, str, int]]] = {}
    for one in said:
        found.setdefault(_COUNTED.sub(r"\2 \3", _NAMED.sub("`", one[1]), count=1), []).append(one)
    for group in found.values():
        traces = list(dict.fromkeys(trace for trace, _, _ in group))
        texts = {text for _, text, _ in group}
        names = {tuple(_NAMED.findall(text)) for text in texts}
        counts = [(match, count) for _, text, count in group if (match := _COUNTED.match(text)) is not None]
        if len(texts) > 1 and len(names) == 1 and len(counts) == len(group):
            total = sum(int(match[1]) * count for match, count in counts)
            largest = max((match for match, _ in counts), key=lambda match: int(match[1]))
            yield f"{listed(traces)}: {total}{largest.string[largest.end(1) :]}", 1
        else:
            shown = listed(traces, _FEW if len(texts) == 1 else 1)
            yield f"{shown}: {group[0][1]}", sum(count for _, _, count in group)


def listed(names: Sequence[str], most: int = _FEW) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more

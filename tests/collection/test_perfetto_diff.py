"""Perfetto's own diff tests, asked of dctv: each case has a query of ours, or a reason why it cannot be asked."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from dctv.errors import DctvError, TraceError
from dctv.session import Session
from tests.collection.perfetto_diff.answers import columns, is_ordered, ours, theirs
from tests.collection.perfetto_diff.ask import asked
from tests.collection.perfetto_diff.cases import Case, Entry, entries, perfetto_cases

ROOT = os.environ.get("DCTV_TRACES")
assert ROOT, "set DCTV_TRACES to the folder of the trace collection"
FOLDER = Path(ROOT) / "perfetto-diff"
CASES = perfetto_cases(FOLDER)
MAPPED = [entry for entry in entries().values() if entry.query and entry.name in CASES]
REFUSED = [entry for entry in entries().values() if entry.error and entry.name in CASES]


def trace_of(case: Case) -> Path:
    return FOLDER / "traces" / case.trace


def by_trace(listed: list[Entry], status: str) -> list[Entry]:
    """Return the entries of one status so that cases with the same trace follow each other."""
    return sorted(
        (entry for entry in listed if entry.status == status),
        key=lambda entry: (trace_of(CASES[entry.name]).read_bytes(), entry.name),
    )


def label(entry: Entry) -> str:
    return entry.name


def both(entry: Entry) -> tuple[list[str], list[str]]:
    """Return the rows of Perfetto and ours, in order if Perfetto's are."""
    case = CASES[entry.name]
    head, expected = theirs(case.expected)
    rows = asked(entry, trace_of(case))
    assert {len(row) for row in rows} <= {head.count(",") + 1}, f"Perfetto's columns are {head}"
    answer = ours(rows)
    return (expected, answer) if is_ordered(case.query) else (sorted(expected), sorted(answer))


def test_every_case_is_mapped_or_has_its_reason() -> None:
    assert sorted(entries()) == sorted(CASES)
    assert {name: entry.area for name, entry in entries().items()} == {name: case.area for name, case in CASES.items()}


@pytest.mark.parametrize("entry", [*by_trace(MAPPED, "equal"), *by_trace(MAPPED, "pending")], ids=label)
def test_answers_are_equal_unless_they_are_pending(entry: Entry) -> None:
    pending = entry.status == "pending"
    try:
        expected, answer = both(entry)
    except DctvError:
        if not pending:
            raise
        return
    if pending:
        assert answer != expected, f"`{entry.name}` is mended: remove its `pending`"
    else:
        assert answer == expected


@pytest.mark.parametrize("entry", by_trace(MAPPED, "design"), ids=label)
def test_answers_differ_as_documented(entry: Entry) -> None:
    expected, answer = both(entry)
    if "rows" in entry.differs:
        only_theirs, only_ours = Counter(expected) - Counter(answer), Counter(answer) - Counter(expected)
        assert [only_theirs.total(), only_ours.total()] == entry.differs["rows"], (only_theirs, only_ours)
        return
    assert answer != expected
    differing = entry.differs["columns"]
    rest = [
        [[text for i, text in enumerate(columns(row)) if i not in differing] for row in rows]
        for rows in (expected, answer)
    ]
    assert rest[1] == rest[0] if is_ordered(CASES[entry.name].query) else sorted(rest[1]) == sorted(rest[0])


@pytest.mark.parametrize("entry", REFUSED, ids=label)
def test_both_refuse_the_trace(entry: Entry) -> None:
    with Session(index=False) as session, pytest.raises(TraceError, match=entry.error):
        session.mount(str(trace_of(CASES[entry.name])), "t")

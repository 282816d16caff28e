"""The figures of docs/explanation/perfetto.md on Perfetto's diff tests match the files beside the tests."""

from __future__ import annotations

import re

from tests.collection.perfetto_diff.cases import REASONS, entries
from tests.collection.perfetto_diff.status import PAGE, page

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_page_has_the_numbers() -> None:
    """`python -m tests.collection.perfetto_diff.status --accept` writes them."""
    assert page() == TEXT


def test_every_difference_has_its_heading() -> None:
    headings = set(re.findall(r"^#+ (.*)$", TEXT, re.MULTILINE))
    assert {entry.design for entry in entries().values() if entry.design} <= headings


def test_every_reason_is_used() -> None:
    assert set(REASONS) == {entry.missing for entry in entries().values() if entry.missing}


def test_every_entry_has_one_statement() -> None:
    for entry in entries().values():
        assert bool(entry.query) + bool(entry.error) + bool(entry.missing) == 1, entry.name
        assert bool(entry.differs) == bool(entry.design), entry.name
        assert not (entry.pending and (entry.design or entry.missing)), entry.name

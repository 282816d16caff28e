"""What of a name is written: one line, no character that XML lacks, never wider than its room."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.draw.letters import LONGEST, NAMELESS, cleaned, fitted, width_of


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("read", "read"),
        ("", NAMELESS),
        (None, NAMELESS),
        ("a\nb\tc", "a b c"),
        ("\x00\x1b[31m\ufffe", "\ufffd\ufffd[31m\ufffd"),
        ("a\u202eb\u200bc", "a b c"),
        ("\U0001f4a5", "\U0001f4a5"),
        ("x" * 10**6, "x" * (LONGEST - 1) + "…"),
    ],
)
def test_names_become_one_line_of_plain_text(name: str | None, text: str) -> None:
    assert cleaned(name) == text


@given(text=st.text(max_size=40), room=st.floats(0, 400), bold=st.booleans())
def test_texts_fit_their_room(*, text: str, room: float, bold: bool) -> None:
    found = fitted(text, room, 11, bold=bold)
    assert width_of(found, 11, bold=bold) <= room + 1e-6
    if found != text:
        assert found == "" or (found.endswith("…") and text.startswith(found[:-1]) and len(found) > 3)


def test_a_text_that_just_fits_is_not_shortened() -> None:
    room = width_of("handle_request", 11)
    assert fitted("handle_request", room + 1e-6, 11) == "handle_request"
    assert fitted("handle_request", room - 1, 11) == "handle_requ…"
    assert fitted("handle_request", 20, 11) == ""

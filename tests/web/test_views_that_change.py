"""Cached rows of views are queried again once any view has changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dctv.errors import UsageError
from dctv.run.result import Outcome
from dctv.session import Session
from dctv.web.details import details
from dctv.web.service import Service
from dctv.web.shown_track import ShownTrack
from dctv.web.uploads import Uploads
from tests.web.tracks import DATA, shown

TRACE = DATA / "stdlib/flows.json"
REPLACE = "CREATE OR REPLACE VIEW t.slices AS SELECT _ts,"


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """Return a session in which each test makes the views that it reads."""
    with Session(index=False) as session:
        session.mount(TRACE, "t")
        yield session


@pytest.fixture(scope="module")
def slices(session: Session) -> ShownTrack:
    return _slices(session)


def _slices(session: Session) -> ShownTrack:
    return next(one for one in shown(session.timeline("t"), "t") if one.track.source == "t.timeline.slices")


def _run(session: Session, sql: str) -> None:
    list(session.execute(sql))


def _values(session: Session, one: ShownTrack) -> dict[str, Any]:
    return {column["name"]: column["value"] for column in details(session, one, 0)["columns"]}


def test_a_view_that_is_replaced(session: Session, slices: ShownTrack) -> None:
    for word in ("one", "other"):
        _run(session, f"{REPLACE} id, '{word}' AS mine FROM t.timeline.slices")
        found = _values(session, slices)
        assert (list(found), found["mine"]) == (["_ts", "id", "mine"], word)


def test_a_view_of_a_view_that_is_replaced(session: Session, slices: ShownTrack) -> None:
    _run(session, "CREATE OR REPLACE VIEW word AS SELECT 'one' AS word")
    _run(session, f"{REPLACE} id, (SELECT word FROM word) AS mine FROM t.timeline.slices")
    assert _values(session, slices)["mine"] == "one"
    _run(session, "CREATE OR REPLACE VIEW word AS SELECT 'two' AS word")
    assert _values(session, slices)["mine"] == "two"


def test_unchanged_views_are_not_queried_again(
    session: Session, slices: ShownTrack, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(session, f"{REPLACE} id FROM t.timeline.slices")
    asked: list[str] = []
    execute = session.execute

    def counted(text: str) -> Iterator[Outcome]:
        asked.append(text)
        return execute(text)

    monkeypatch.setattr(session, "execute", counted)
    _values(session, slices)
    first = len(asked)
    assert first > 1
    _values(session, slices)
    assert len(asked) == first
    with monkeypatch.context() as uncounted:
        uncounted.setattr(session, "execute", execute)
        _run(session, "CREATE VIEW another AS SELECT 1 AS one")
    _values(session, slices)
    assert len(asked) == 2 * first


def test_rows_that_no_longer_exist(session: Session, slices: ShownTrack) -> None:
    _run(session, f"{REPLACE} id FROM t.timeline.slices")
    assert _values(session, slices)
    _run(session, f"{REPLACE} id FROM t.timeline.slices WHERE name = 'nothing is called so'")
    assert _values(session, slices) == {}


def test_rows_of_new_tracks() -> None:
    """The tracks are those from before."""
    with Session(index=False) as session:
        session.mount(TRACE, "t")
        slices = _slices(session)
        moved = "SELECT _ts, _duration, LIST_VALUE('new') AS path, name, depth, id FROM t.slices"
        _run(session, f"CREATE OR REPLACE VIEW t.timeline.slices AS {moved}")
        found = details(session, slices, 0)
    assert (found["columns"], found["name"] is None) == ([], False)


def test_a_view_by_which_rows_cannot_be_found(session: Session, slices: ShownTrack) -> None:
    _run(session, f"{REPLACE} name FROM t.timeline.slices")
    with pytest.raises(UsageError, match=r"`t.slices` has no column `id` any more") as refused:
        details(session, slices, 0)
    assert refused.value.hint == "DROP VIEW t.slices, or give the view that column"


def test_a_view_that_is_made_again_after_the_session_was_restored(session: Session, slices: ShownTrack) -> None:
    before = session.snapshot()
    for word in ("one", "two"):
        _run(session, f"{REPLACE} id, '{word}' AS mine FROM t.timeline.slices")
        assert _values(session, slices)["mine"] == word
        assert session.restore(before)


def test_another_trace_that_takes_over_the_name_of_one() -> None:
    with Session(index=False) as session:
        service = Service(session, Uploads(session.spill_folder))
        for path in (TRACE, DATA / "stdlib/nesting.json"):
            session.mount(path, "t")
            assert service.is_behind()
            service.timelines.load()
            assert not service.is_behind()
            assert service.timelines.of_mount("t") is session.timeline("t")
            _run(session, "DROP ALL t")

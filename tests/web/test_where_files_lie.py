"""Files of the page are in the session's folder, never among the system's temporary files."""

from __future__ import annotations

import gc
import json
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from dctv import Session
from dctv.errors import UsageError
from dctv.timeline.space import Space
from dctv.web.details import details
from dctv.web.uploads import Uploads
from tests.web.tracks import DATA, shown
from tests.web_client import client_of

HISTORY = """\
CREATE STATE SYSTEM h WITH (backend => 'partial', granularity => 1) AS
SELECT _ts AS time, 'a/' || cpu AS path, comm AS value FROM t.scheduler.timeslices_p_cpu"""


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the system would put temporary files, which is not there."""
    folder = tmp_path / "elsewhere"
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def session(tmp_path: Path, elsewhere: Path) -> Iterator[Session]:
    with Session(index=False, temp_directory=tmp_path / "rows") as session:
        session.mount(DATA / "stdlib/waits.trace.txt", "t")
        yield session
    assert list((tmp_path / "rows").iterdir()) == []
    assert not elsewhere.exists()


def changed(session: Session) -> int:
    """When a file was last made or removed in the session's folder, in ns."""
    return session.spill_folder.stat().st_mtime_ns


def test_rows_that_are_looked_up(session: Session) -> None:
    one = shown(session.timeline("t"), "t")[0]
    before = changed(session)
    assert details(session, one, 0)["columns"]
    assert changed(session) > before


def test_rows_of_tracks_that_do_not_fit_into_memory(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "SELECT track, row FROM dctv.timeline_rows((SELECT SPAN comm FROM t.scheduler.timeslices_p_cpu))"
    fitting = session.sql(sql).fetchall()
    before = changed(session)
    assert session.sql(sql).fetchall() == fitting
    assert changed(session) == before
    monkeypatch.setattr("dctv.timeline.space.Space", partial(Space, most=0))
    assert sorted(session.sql(sql).fetchall()) == sorted(fitting)
    assert changed(session) > before


def test_states_of_a_history_that_is_not_stored(session: Session) -> None:
    list(session.execute(HISTORY))
    assert [one.name[:7] for one in session.spill_folder.iterdir()] == ["states-"]
    assert session.sql("SELECT COUNT(*) FROM h").fetchall() != [(0,)]
    list(session.execute("DROP STATE SYSTEM h"))
    gc.collect()


def test_files_that_are_dropped(session: Session) -> None:
    with client_of(session) as client:
        status, _, body = client.raw("POST", f"/{client.token}/api/upload?name=x.json", b"{}")
        assert (status, json.loads(body)) == (200, {"mount": "x"})
        [folder] = [one for one in session.spill_folder.iterdir() if one.name.startswith("page-")]
        assert folder.stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot keep files in `.*/nowhere`: no such file or directory") as refused:
        Uploads(tmp_path / "nowhere")._place("x")
    assert "--temp-directory" in (refused.value.hint or "")

"""A session on the page: tracks, cells, SQL, reports, help, files that are dropped."""

from __future__ import annotations

import json
import socket
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from dctv import Session
from dctv.catalog.mount_names import name_of_mount
from dctv.errors import UsageError
from dctv.timeline.track import TrackKind
from dctv.web.serving import Serving, serve
from dctv.web.track_queries import run_query
from dctv.web.uploads import Uploads
from tests.web_client import Client, client_of

DATA = Path(__file__).resolve().parents[1] / "data"
TRACE = DATA / "perfetto" / "linux_sys_deflate.pftrace"
WAITS = DATA / "stdlib" / "waits.trace.txt"


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session() as session:
        session.mount(TRACE, "t")
        yield session


@pytest.fixture(scope="module")
def client(session: Session) -> Iterator[Client]:
    with client_of(session) as client:
        client.get("api/tracks")
        yield client


def test_the_session_lists_its_mounts(client: Client, session: Session) -> None:
    answer = client.get("api/session")
    (mount,) = answer["mounts"]
    assert (mount["name"], mount["path"], mount["format"], mount["state"]) == ("t", str(TRACE), "perfetto", "ready")
    timeline = session.timeline("t")
    assert (answer["begin"], answer["end"]) == (str(timeline.begin), str(timeline.end))


def test_warnings_for_the_page_are_not_python_warnings(session: Session) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run_query(session, "SELECT 1 / 0 AS q").rows == [[None]]


def test_tracks_match_the_timeline(client: Client, session: Session) -> None:
    found = client.get("api/tracks")["tracks"]
    tracks = session.timeline("t").tracks
    assert [(one["id"], one["name"], one["kind"], one["rows"]) for one in found] == [
        (f"t:{track.id}", track.name, track.kind.value, track.rows) for track in tracks
    ]
    assert [one["parent"] for one in found] == [None if t.parent is None else f"t:{t.parent}" for t in tracks]
    assert {one["mount"] for one in found} == {"t"}


def test_tiles_are_the_cells_of_the_timeline(client: Client, session: Session) -> None:
    timeline = session.timeline("t")
    kinds = {track.kind: track.id for track in timeline.tracks if track.rows}
    chosen = [number for kind, number in sorted(kinds.items(), key=lambda one: one[0].value)]
    assert {TrackKind.SLICES, TrackKind.STATES, TrackKind.COUNTER} <= kinds.keys()
    step = 1 << 16
    start, stop = timeline.begin // step * step, (timeline.end // step + 1) * step
    asked = {"tracks": [f"t:{one}" for one in chosen], "from": str(start), "to": str(stop), "step": str(step)}
    found = client.table("api/tiles", asked).to_pylist()
    expected = timeline.cells(chosen, start, stop, step).to_pylist()
    names = set(found[0])
    assert {"lane", "_ts", "_duration", "count", "row", "total", "longest", "name"} <= names
    assert [chosen[cell.pop("track")] for cell in found] == [cell.pop("track") for cell in expected]
    assert found == [{name: value for name, value in cell.items() if name in names} for cell in expected]
    assert sum(cell["count"] or 0 for cell in found if cell["mean"] is None) == sum(
        timeline.tracks[one].rows for one in chosen if timeline.tracks[one].kind is not TrackKind.COUNTER
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "expected a list of at most 20,000 tracks as `tracks`, found nothing"),
        ({"tracks": ["t:99999"]}, "there is no track `t:99999`"),
        ({"tracks": ["t:-1"]}, "there is no track `t:-1`"),
        ({"tracks": ["t:" + "9" * 5000]}, f"there is no track `t:{'9' * 98}`"),
        ({"tracks": ["t:\ud800"]}, "the request has a text that is not Unicode: half of a surrogate pair"),
        ({"tracks": ["t:2", "t:2"], "from": "0", "to": "5", "step": "1"}, "expected each track once"),
        ({"tracks": ["nothing:0"]}, "there is no track `nothing:0`"),
        ({"tracks": ["t:2"], "from": 0.5}, "expected a time in ns as `from`, found 0.5"),
        ({"tracks": ["t:2"], "from": "9" * 30}, f"expected a time in ns as `from`, found {'9' * 30}"),
        ({"tracks": ["t:2"], "from": "0", "to": "5", "step": "0"}, "expected a step of more than 0 ns, found 0 ns"),
        ({"tracks": ["t:2"], "from": "5", "to": "0", "step": "1"}, "`stop`, 0 ns, comes before `start`, 5 ns"),
        (
            {"tracks": ["t:2"], "from": "0", "to": str(2**62), "step": "1"},
            "1 tracks have more than 4,000,000 cells of 1 ns between these times",
        ),
    ],
)
def test_tiles_that_cannot_be(client: Client, fields: dict[str, object], message: str) -> None:
    status, answer = client.send("api/tiles", fields)
    assert (status, answer["error"]["message"]) == (400, message)


def test_areas_of_several_traces_may_include_their_groups() -> None:
    with Session(index=False) as session:
        for name in ("a", "b"):
            session.mount(WAITS, name)
        with client_of(session) as client:
            tracks = [track["id"] for track in client.get("api/tracks")["tracks"]]
            assert {"a:", "b:"} < set(tracks)
            asked: dict[str, object] = {"tracks": tracks, "from": "0", "to": "200000"}
            status, answer = client.send("api/selection", asked)
            assert (status, {table["title"].partition(":")[0] for table in answer["tables"]}) == (200, {"a", "b"})
            status, moved = client.send("api/selection", {**asked, "moved": {"b": "200000"}})
            assert (status, moved["tables"]) == (200, [one for one in answer["tables"] if one["title"][0] == "a"])
            for wrong in (["b"], {"b": "soon"}):
                status, answer = client.send("api/selection", {**asked, "moved": wrong})
                assert status == 400
                assert answer["error"]["message"].startswith("expected ")
            assert client.send("api/selection", {**asked, "tracks": ["c:"]})[0] == 400


def test_rows_of_a_query_come_with_their_schema(client: Client, session: Session) -> None:
    sql = "SELECT SPAN comm, pid FROM t.scheduler.timeslices_p_cpu"
    found = client.table("api/query", {"sql": sql})
    about = json.loads(found.schema.metadata[b"dctv"])
    assert (about["kind"], about["partitions"], about["complete"]) == ("span", ["cpu"], True)
    assert about["columns"][0] == {"name": "_ts", "type": "INT64", "unit": "ns"}
    assert found.to_pylist() == session.sql(sql).arrow().to_pylist()


def test_only_as_many_rows_as_are_wanted(client: Client) -> None:
    sql = "SELECT tid FROM t.scheduler.timeslices"
    found = client.table("api/query", {"sql": sql, "limit": 7})
    assert (found.num_rows, json.loads(found.schema.metadata[b"dctv"])["complete"]) == (7, False)


def test_messages_of_statements_without_rows(client: Client) -> None:
    found = client.table("api/query", {"sql": "CREATE VIEW served AS SELECT 1 AS one; ASSERT 1 = 1, 'one is one'"})
    assert found.column_names == ["status"]
    found = client.table("api/query", {"sql": "ASSERT 1 = 1"})
    assert found.to_pylist() == [{"status": "the assertion holds"}]
    assert client.table("api/query", {"sql": "SELECT * FROM served"}).to_pylist() == [{"one": 1}]


def test_errors_have_their_place_as_javascript_counts(client: Client) -> None:
    sql = "SELECT '\N{GRINNING FACE}', nothing FROM t.threads"
    status, answer = client.send("api/query", {"sql": sql})
    place = answer["error"]["place"]
    in_units = sql.encode("utf-16-le")[2 * place["start"] : 2 * place["stop"]].decode("utf-16-le")
    assert (status, in_units, place["line"]) == (400, "nothing", 1)
    assert answer["error"]["message"] == "unknown column `nothing`"


def test_a_query_ends_with_its_client(client: Client, session: Session) -> None:
    endless = "SELECT COUNT(*) FROM range(100000000000) AS a(i), range(100000) AS b(j) WHERE a.i % 7 = b.j"
    body = json.dumps({"sql": endless}).encode()
    with socket.create_connection(("127.0.0.1", client.serving.port)) as going:
        head = f"POST /{client.token}/api/query HTTP/1.1\r\nhost: 127.0.0.1:{client.serving.port}\r\n"
        going.sendall(f"{head}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
        time.sleep(0.5)
    assert client.table("api/query", {"sql": "SELECT 1 AS one"}).to_pylist() == [{"one": 1}]
    assert session.sql("SELECT 2").fetchall() == [(2,)]


def test_a_running_query_can_be_stopped(client: Client) -> None:
    answers = []
    endless = {"sql": "SELECT COUNT(*) FROM range(100000000000) AS a(i), range(100000) AS b(j) WHERE a.i % 7 = b.j"}
    asking = threading.Thread(target=lambda: answers.append(client.send("api/query", endless)))
    asking.start()
    while asking.is_alive():
        client.send("api/interrupt", {})
        asking.join(0.2)
    ((status, answer),) = answers
    assert (status, answer["error"]["message"]) == (409, "interrupted")


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("SELECT SPAN comm FROM t.scheduler.timeslices_p_cpu", "slices"),
        ("SELECT EVENT name FROM t.events", "instants"),
    ],
)
def test_a_select_makes_tracks(client: Client, sql: str, kind: str) -> None:
    status, answer = client.send("api/tracks", {"sql": sql, "title": "mine"})
    assert status == 200, answer
    made = answer["tracks"]
    shown = [one for one in made if one["kind"] != "group"]
    assert {one["kind"] for one in shown} == {kind}
    assert len(shown) >= 1
    assert {one["source"] for one in made} == {sql}
    assert made[0]["name"] == "mine"
    listed = client.get("api/tracks")["tracks"]
    assert listed[: len(made)] == made
    assert client.send(f"api/tracks/{made[0]['id']}", {}, "DELETE") == (200, {})
    assert not [one for one in client.get("api/tracks")["tracks"] if one["source"] == sql]
    late = {"tracks": [shown[0]["id"]], "from": "0", "to": str(2**40), "step": str(2**30)}
    client.table("api/tiles", late)  # asked before the page knew that it is gone: no error
    assert client.send(f"api/tracks/{made[0]['id']}", {}, "DELETE")[0] == 400


def test_a_select_that_makes_no_track(client: Client) -> None:
    for sql, message in (
        ("SELECT 1", "a regular table has no times, expected spans or events"),
        ("SELECT SPAN comm FROM t.scheduler.timeslices_p_cpu WHERE 1 = 0", "the SELECT has no rows"),
        (
            "SELECT SPAN * FROM dctv.as_spans((SELECT i * 1ns AS _ts, 1ns AS _duration, i FROM range(20001) AS r(i)), "
            "partition=>'i')",
            "the rows have more than 20,000 tracks, one for each partition",
        ),
    ):
        status, answer = client.send("api/tracks", {"sql": sql})
        assert status == 400
        assert answer["error"]["message"].startswith(message)


def test_completion_is_that_of_the_prompt(client: Client) -> None:
    text = "SELECT '\N{GRINNING FACE}' FROM t.sched; SELECT 1"
    cursor = len(text[: text.index(";")].encode("utf-16-le")) // 2
    _, answer = client.send("api/complete", {"text": text, "cursor": cursor})
    assert answer["options"] == [{"label": "scheduler.", "kind": "namespace"}]
    assert answer["from"] == cursor - len("sched")


def test_mistakes_are_reported_before_a_text_runs(client: Client) -> None:
    text = "SELECT nothing FROM t.threads"
    _, answer = client.send("api/check", {"text": text})
    (error,) = answer["errors"]
    assert (error["message"], text[error["start"] : error["stop"]]) == ("unknown column `nothing`", "nothing")
    assert client.send("api/check", {"text": "SELECT FROM"})[1]["errors"]
    assert client.send("api/check", {"text": "CREATE VIEW v AS SELECT 1; SELECT * FROM v"})[1] == {"errors": []}


def test_tables_and_columns(client: Client) -> None:
    names = [one["name"] for one in client.get("api/tables?prefix=t.scheduler")["tables"]]
    assert "t.scheduler.wakeups" in names
    columns = client.get("api/columns?table=t.threads")["columns"]
    assert {"name": "tid", "type": "INT64", "unit": None} in columns
    status, _, body = client.raw("GET", f"/{client.token}/api/columns?table=t.thread")
    assert (status, json.loads(body)["error"]["hint"]) == (400, "did you mean `t.threads`?")


def test_a_report_covers_each_statement(client: Client) -> None:
    text = (
        "-- a report\nSELECT SPAN comm FROM t.scheduler.timeslices_p_cpu;\n"
        "ASSERT 1 = 1;\nASSERT 1 = 2, 'one is two';\nSELECT nothing;\nSELECT 1;"
    )
    lines = client.lines("api/report", {"name": "r.sql", "text": text})
    assert [line["kind"] for line in lines] == ["result", "assert", "assert", "error"]
    assert [line.get("passed") for line in lines] == [None, True, False, None]
    assert [line.get("message") for line in lines[1:3]] == ["1 = 1", "one is two"]
    assert lines[0]["tablekind"] == "span"
    assert lines[0]["table"]["columns"][0]["name"] == "_ts"
    place = lines[3]["error"]["place"]
    assert text[place["start"] : place["stop"]] == "nothing"
    assert text[lines[3]["start"] : lines[3]["stop"]] == lines[3]["statement"] == "SELECT nothing;"


def test_a_report_runs_again(client: Client) -> None:
    """Its views and tables make room for the new ones; those of others stay."""
    views = "CREATE VIEW of_report AS SELECT 1 AS one; CREATE VIEW `of it` AS SELECT one FROM of_report;"
    own = {"name": "r.sql", "text": f"{views} CREATE TABLE kept AS FROM `of it`; SELECT * FROM kept;"}
    for _ in range(2):
        assert [line["kind"] for line in client.lines("api/report", own)] == ["done", "done", "done", "result"]
    (error,) = client.lines("api/report", {"name": "other.sql", "text": "CREATE VIEW of_report AS SELECT 2;"})
    assert error["message"].startswith("`of_report` is a view already")


def test_the_page_mounts_no_path(client: Client) -> None:
    for sql in (f"MOUNT TRACE '{WAITS}' AS w", f"SELECT 1; MOUNT TRACE '{WAITS}' AS w"):
        status, answer = client.send("api/query", {"sql": sql})
        assert status == 400
        assert answer["error"]["message"].startswith("the page mounts only what `dctv ui` was given")
        assert client.lines("api/report", {"text": sql})[-1]["kind"] == "error"
        assert client.send("api/tracks", {"sql": sql})[0] == 400
    assert [one["name"] for one in client.get("api/session")["mounts"]] == ["t"]


def test_the_page_writes_no_file(client: Client, tmp_path: Path) -> None:
    text = f"COPY (SELECT 1 AS a) TO '{tmp_path}/x.csv'"
    status, answer = client.send("api/query", {"sql": text})
    assert (status, answer["error"]["message"]) == (400, "the page writes no files")
    assert client.lines("api/report", {"text": text})[-1]["kind"] == "error"
    assert list(tmp_path.iterdir()) == []


def _wait_for(client: Client, name: str) -> dict[str, object]:
    for _ in range(600):
        (found,) = [one for one in client.get("api/session")["mounts"] if one["name"] == name]
        if found["state"] != "mounting":
            return dict(found)
        time.sleep(0.05)
    raise AssertionError(f"`{name}` is still being mounted")


def test_a_file_that_is_dropped_is_mounted() -> None:
    with Session() as session, client_of(session) as client:
        for expected in ("waits", "waits_2"):
            path = f"/{client.token}/api/upload?name=C:%5Cmine%5C../../waits.trace.txt"
            status, _, body = client.raw("POST", path, WAITS.read_bytes())
            assert (status, json.loads(body)) == (200, {"mount": expected})
            assert _wait_for(client, expected)["state"] == "ready"
        roots = [one for one in client.get("api/tracks")["tracks"] if one["parent"] is None]
        assert [one["name"] for one in roots] == ["waits", "waits_2"]
        assert client.table("api/query", {"sql": "SELECT COUNT(*) AS n FROM waits_2.threads"}).num_rows == 1
        folder = Path(session.mounts()[0].path).parents[1]
        assert folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()


def test_uploading_a_file_that_is_no_trace_is_an_error() -> None:
    with Session() as session, client_of(session) as client:
        status, _, body = client.raw("POST", f"/{client.token}/api/upload?name=x.bin", b"\0\1\2" * 50)
        assert status == 200
        mount = _wait_for(client, json.loads(body)["mount"])
    assert (mount["state"], mount["path"]) == ("failed", "x.bin")
    assert "x.bin" in str(mount["message"])
    assert "page-" not in str(mount["message"])


def test_uploads_beyond_the_size_limit_are_refused(tmp_path: Path) -> None:
    with Session() as session, serve(session, uploads=Uploads(tmp_path, most=1000)) as serving:
        client = Client(serving)
        path = f"/{client.token}/api/upload?name=x"
        announced = client.raw("POST", path, b"x" * 1001)
        assert announced[0] == 413
        assert "larger than 0 MiB" in json.loads(announced[2])["error"]["message"]
        piece = b"3e8\r\n" + b"x" * 1000 + b"\r\n"
        chunked = {"transfer-encoding": "chunked", "content-length": ""}
        unannounced = client.raw("POST", path, piece * 2 + b"0\r\n\r\n", chunked)
        assert unannounced[0] == 413
        assert [one for one in tmp_path.rglob("*") if one.is_file()] == []


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("trace.pfw.gz", "trace"),
        ("My Trace (2).json", "my_trace_2"),
        ("2024-01-01.log", "t_2024_01_01"),
        ("select.sql.gz", "t_select"),
        ("dctv.json", "t_dctv"),
        ("....", "trace"),
        ("\N{GRINNING FACE}.json", "trace"),
    ],
)
def test_traces_are_called_after_their_files(file: str, name: str) -> None:
    assert name_of_mount(Path(file), ()) == name
    assert name_of_mount(Path(file), {name}) == f"{name}_2"


def test_news_of_mounts_and_of_the_end() -> None:
    with Session() as session:
        serving = session.serve()
        client = Client(serving)
        received: list[bytes] = []
        listening = threading.Event()

        def listen() -> None:
            with socket.create_connection(("127.0.0.1", serving.port)) as line:
                head = f"GET /{client.token}/api/events HTTP/1.1\r\nhost: 127.0.0.1:{serving.port}\r\n\r\n"
                line.sendall(head.encode())
                while piece := line.recv(1 << 16):
                    received.append(piece)
                    listening.set()

        ear = threading.Thread(target=listen)
        ear.start()
        assert listening.wait(10)
        time.sleep(0.1)
        assert client.raw("POST", f"/{client.token}/api/upload?name=waits.txt", WAITS.read_bytes())[0] == 200
        _wait_for(client, "waits")
        time.sleep(0.3)
        serving.stop()
        ear.join(10)
        assert not ear.is_alive()
    events = [
        line.removeprefix("event: ") for line in b"".join(received).decode().splitlines() if line.startswith("event")
    ]
    assert events[0] == "tracks"
    assert events.index("mount") < len(events) - events[::-1].index("tracks")
    assert events[-1] == "end"


def test_a_late_listener_gets_all_news() -> None:
    with Session() as session, session.serve() as serving:
        serving.service.expect([("w", str(WAITS)), ("x", "/does/not/exist")])
        for name in ("w", "x"):
            serving.service.mount(name)
        head = f"GET /{Client(serving).token}/api/events HTTP/1.1\r\nhost: 127.0.0.1:{serving.port}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", serving.port)) as line:
            line.sendall(head.encode())
            received = b""
            while b"event: tracks" not in received:
                received += line.recv(1 << 16)
    states = [json.loads(one[6:])["state"] for one in received.decode().splitlines() if one.startswith("data: {")]
    assert states == ["ready", "failed"]


def test_a_port_in_use_is_an_error() -> None:
    with Session() as session, session.serve() as serving:
        with pytest.raises(UsageError, match=f"cannot listen on port {serving.port}: address already in use"):
            session.serve(port=serving.port)
        with pytest.raises(UsageError, match="expected a port from 0 to 65535, found 70000"):
            session.serve(port=70000)


def test_stopping_the_server_ends_running_queries() -> None:
    with Session() as session:
        serving: Serving = session.serve()
        client = Client(serving)
        endless = {"sql": "SELECT COUNT(*) FROM range(100000000000) AS a(i), range(100000) AS b(j) WHERE a.i % 7 = b.j"}
        answers = []
        asking = threading.Thread(target=lambda: answers.append(client.send("api/query", endless)[0]))
        asking.start()
        time.sleep(0.5)
        serving.stop()
        asking.join(20)
        assert answers == [409]

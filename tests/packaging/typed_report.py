"""A report on a trace, as a user writes it."""

from __future__ import annotations

import sys
import warnings
from datetime import timedelta
from pathlib import Path

import dctv


def tell(*values: object) -> None:
    sys.stdout.write(f"{' '.join(map(str, values))}\n")


def longest(session: dctv.Session, least: timedelta) -> list[tuple[str, float]]:
    result = session.sql(
        "SELECT comm, MAX(_duration) IN ms AS took FROM t.scheduler.timeslices_p_cpu"
        " WHERE _duration > :least GROUP BY ALL",
        {"least": least},
    )
    tell(result.units.get("took"), [column.name for column in result.schema.columns])
    return [(str(comm), float(took)) for comm, took in result.fetchall()]


def frames(session: dctv.Session) -> None:
    text = "SELECT SPAN comm FROM t.scheduler.timeslices_p_cpu"
    frame = session.sql(text).df(units_in_names=True)
    tell(frame.columns.tolist(), frame.attrs, frame["comm"].nunique())
    polar = session.sql(text).pl()
    tell(polar.height, polar["comm"].n_unique())
    table = session.sql(text).arrow()
    tell(table.num_rows, table.schema.names)
    for batch in session.sql(text).batches():
        tell(batch.num_rows)
    reader = session.sql(text).reader()
    tell(reader.schema)


def pictures(session: dctv.Session) -> None:
    timeline = session.sql("SELECT SPAN comm FROM t.scheduler.timeslices_p_cpu").timeline(name="comm")
    for track in timeline.tracks:
        tell(track.name, timeline.path(track.id), track.kind)
    picture = session.sql("SELECT SPAN comm FROM t.scheduler.timeslices_p_cpu").plot()
    picture.save("timeslices.svg")
    whole = session.timeline("t")
    tell(whole.begin, whole.end)


def events(paths: list[str]) -> int:
    with dctv.TraceReader([Path(path) for path in paths]) as reader:
        for line in reader.read_lines('prev_comm == "nice"'):
            tell(line)
        for batch in reader.read_batches():
            tell(batch.num_rows)
        return reader.count()


def main(paths: list[str]) -> int:
    warnings.simplefilter("error", dctv.DctvWarning)
    with dctv.Session(threads=2, memory_limit="1GB", index=False) as session:
        try:
            session.mount(paths, "t")
            session.add_table("jobs", {"_ts": [0, 1], "_duration": [1, 1]}, kind="span")
            for name, took in longest(session, timedelta(milliseconds=5)):
                tell(name, took)
            frames(session)
            pictures(session)
            tell(events(paths))
            for outcome in session.execute("ASSERT 1 = 1; SELECT 1 AS a"):
                tell(outcome)
            for info in session.mounts():
                tell(info.name, info.path, info.format)
            for table in session.tables("t"):
                tell(table.name, table.kind, table.doc)
            schema = session.columns("t.events")
            if schema is not None:
                tell(schema.kind, schema.names)
            tell(session.incomplete(), session.warnings(), session.properties("t"))
        except dctv.TraceError as error:
            tell(error.message, error.hint)
            return 3
        except dctv.QueryError as error:
            tell(error.message, error.hint, error.place.start if error.place else None)
            return 2
        except dctv.AssertionFailed:
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""A served session: the state that the routes share."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dctv.catalog.mount_names import name_of_mount
from dctv.errors import DctvError, UsageError
from dctv.record import field, record
from dctv.web.engine_queue import Turns
from dctv.web.host import Host
from dctv.web.queries import Report, report
from dctv.web.server_events import News
from dctv.web.timelines import Timelines
from dctv.web.uploads import Uploads


@record(frozen=False)
class Mounting:
    """A trace to mount for the page."""

    name: str
    path: str
    shown: str
    """The name of its file on the page."""
    format: str = ""
    state: str = "mounting"
    """`mounting`, `ready` or `failed`."""
    message: str = ""
    done: int = 0
    total: int = 0


@record(frozen=False)
class Service:
    """The shared state of all requests; the session is only used in turns."""

    host: Host
    uploads: Uploads
    news: News = field(default_factory=News)
    given: set[str] = field(default_factory=set)
    """Paths that may be mounted: those given at the start or dropped."""
    report_name: str = ""
    report_text: str = ""
    """The text of `-f`, and its outcome."""
    report_lines: list[dict[str, Any]] = field(default_factory=list)
    made_by_reports: dict[str, list[str]] = field(default_factory=dict)
    """Names that each report has created, by its name."""
    mountings: dict[str, Mounting] = field(default_factory=dict)
    turns: Turns = field(init=False)
    timelines: Timelines = field(init=False)

    def __post_init__(self) -> None:
        self.turns = Turns(self.host.interrupt)
        self.timelines = Timelines(self.host)

    def expect(self, mounts: Sequence[tuple[str, str]]) -> None:
        """Announce traces that will be mounted."""
        for name, path in mounts:
            self.given.add(path)
            self.mountings[name] = Mounting(name, path, path)

    def mount(self, name: str) -> DctvError | None:
        """Mount an announced trace and build its timeline; return the error, which the page also shows."""
        one = self.mountings[name]
        try:
            self.turns.run(lambda: self._mount(one))
        except DctvError as error:
            one.state, one.message = "failed", error.message.replace(one.path, one.shown)
            self.news.send("mount", _mount_json(one))
            return error
        self.news.send("mount", _mount_json(one))
        self.news.send("tracks")
        self.news.send("idle")
        return None

    def _mount(self, one: Mounting) -> None:
        self.host.mount(one.path, one.name)
        one.message = "\n".join(self.host.warnings())
        one.format = next((known.format for known in self.host.mounts() if known.name == one.name), "")
        self.timelines.load()
        one.state = "ready"

    def mount_upload(self, path: Path) -> str:
        """Mount a dropped file, in a separate thread; return its name."""
        taken = {*self.mountings, *(one.name for one in self.host.mounts())}
        name = name_of_mount(path, taken)
        self.expect([(name, str(path))])
        self.mountings[name].shown = path.name
        self.news.send("mount", _mount_json(self.mountings[name]))
        threading.Thread(target=self.mount, args=(name,), name="dctv-mount", daemon=True).start()
        return name

    def progress(self, label: str, done: int, total: int) -> None:
        """Report progress to the page."""
        one = self.mountings.get(label)
        if one is not None and one.state == "mounting":
            one.done, one.total = done, total
            self.news.progress("mount", _mount_json(one))
        self.news.progress("busy", {"what": label, "done": done, "total": total})

    def run_report(self, name: str, text: str, base: Path | None) -> DctvError | None:
        """Run the text of `-f` and keep its outcome for the page."""
        given = Report(name, text, lambda _: True, base, self.undo_statements(name))
        self.report_lines = self.turns.run(lambda: list(report(self.host, given)))
        self.report_name, self.report_text = name, text
        self.turns.run(self.timelines.load)
        self.news.send("tracks")
        failed = [line for line in self.report_lines if line["kind"] == "error"]
        return UsageError(f"`{name}`: {failed[0]['message']}") if failed else None

    def add_track(self, select: str, shown: dict[str, str | None]) -> list[dict[str, Any]]:
        """Add tracks for a SELECT, in a turn."""
        made = self.timelines.add(select, shown)
        self.news.send("tracks")
        return made

    def remove_track(self, track: str) -> None:
        """Remove tracks of a SELECT."""
        self.timelines.remove(track)
        self.news.send("tracks")

    def is_behind(self) -> bool:
        """Whether a text or a prompt has mounted traces that have no timeline here yet, or unmounted some."""
        return {one.number for one in self.host.mounts()} != self.timelines.numbers()

    def look(self) -> None:
        """Notify pages of tracks that a text has added."""
        self.news.send("idle")
        if self.is_behind():
            self.news.send("tracks")

    def undo_statements(self, report: str) -> list[str]:
        """Return the statements that drop the views and tables of a report, which it may change."""
        return self.made_by_reports.setdefault(report, [])

    def has_run(self, name: str, text: str) -> bool:
        """Whether this is the report of `-f`, which has run: its views exist, and would be created again."""
        return bool(self.report_text) and (name, text) == (self.report_name, self.report_text)

    def may_mount(self, path: str) -> bool:
        """Whether a text from the page may mount a path."""
        return path in self.given

    def so_far(self) -> list[tuple[str, object]]:
        """Return the events about mounts so far."""
        return [*(("mount", _mount_json(one)) for one in list(self.mountings.values())), ("tracks", None)]

    def initial_data(self) -> dict[str, Any]:
        """Return the page's initial data."""
        from dctv import __version__

        shown = dict(self.mountings)
        for one in self.host.mounts():
            if one.name not in shown:
                shown[one.name] = Mounting(one.name, one.path, one.path, one.format, "ready")
        kept = {"name": self.report_name, "text": self.report_text} if self.report_text else None
        return {
            "version": __version__,
            "mounts": [_mount_json(one) for one in shown.values()],
            **self.timelines.span(),
            "warnings": self.host.incomplete(),
            "report": kept,
        }


def _mount_json(one: Mounting) -> dict[str, Any]:
    return {
        "name": one.name,
        "path": one.shown,
        "format": one.format,
        "state": one.state,
        "message": one.message,
        "done": one.done,
        "total": one.total,
    }

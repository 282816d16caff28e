"""replay, report, graph, dump and SQL over the same random calls and filters: each counts the same calls."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from dctv.cli import main
from dctv.session import Session
from tests.bounds import bounded
from tests.calls.trees import NAMES, Call, traces

_WORD = st.one_of(
    st.builds("-F {}".format, st.sampled_from([*NAMES, "a|c"])),
    st.builds("-F {}@sample={}".format, st.sampled_from("abc"), st.integers(1, 3)),
    st.builds("-T {}@sample={}".format, st.sampled_from("abc"), st.integers(1, 3)),
    st.builds("-N {}".format, st.sampled_from(NAMES)),
    st.builds("-H {}".format, st.sampled_from(NAMES)),
    st.builds("-C {}".format, st.sampled_from(NAMES)),
)
_ARGUMENTS = {"-F": "filters", "-T": "triggers", "-N": "notrace", "-H": "hide", "-C": "callers"}


def written(calls: list[Call], path: Path) -> None:
    """Write calls as a trace; those that did not end have only a begin."""
    events = []
    for call in calls:
        events.append((call.ts, {"ph": "B", "name": call.name, "pid": 1, "tid": call.tid, "ts": call.ts}))
        if call.end is not None:
            events.append((call.end, {"ph": "E", "name": call.name, "pid": 1, "tid": call.tid, "ts": call.end}))
    ordered = [event for _, event in sorted(events, key=lambda one: one[0])]
    path.write_text(json.dumps({"traceEvents": ordered}))


def out(folder: Path, *words: str) -> str:
    """Run a command and return what it wrote."""
    result = folder / "out"
    result.unlink(missing_ok=True)
    assert main([*words, "--no-index", "-o", str(result)]) == 0
    return result.read_text()


def by_sql(trace: Path, words: list[str]) -> Counter[str]:
    lists: dict[str, list[str]] = {}
    for word in words:
        flag, _, text = word.partition(" ")
        lists.setdefault(_ARGUMENTS[flag], []).append(f"'{text}'")
    arguments = "".join(f", {name}=>[{', '.join(texts)}]" for name, texts in lists.items())
    session = Session(index=False)
    session.mount(str(trace), "t")
    query = f"SELECT name, COUNT(*) FROM dctv.filter_calls(t.calls{arguments}) GROUP BY name"
    return Counter(dict(session.sql(query).fetchall()))


def sums(pairs: list[tuple[str, str]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for count, name in pairs:
        found[name] += int(count)
    return found


@bounded(5)
@given(traces(30), st.lists(_WORD, max_size=3))
def test_all_commands_count_the_same_calls(calls: list[Call], words: list[str]) -> None:
    if not calls:
        return
    # The order of -F and -N among each other counts, and lists of SQL cannot tell it.
    if any(word.startswith("-N") for word in words):
        words = [word for word in words if not word.startswith("-F")]
    with TemporaryDirectory() as name:
        folder = Path(name)
        trace = folder / "t.json"
        written(calls, trace)
        options = [part for word in words for part in word.split(" ", 1)]
        counts = by_sql(trace, words)

        def ran(*command: str) -> str:
            return out(folder, command[0], str(trace), *command[1:], *options)

        assert Counter(re.findall(r"(?m)^ *(\w)\(\)", ran("replay", "-f", "none"))) == counts
        assert sums(re.findall(r"(?m) (\d+)  (\w)$", ran("report"))) == counts
        graph = ran("graph", "-f", "none") if counts else ""
        assert sums(re.findall(r"(?m)\((\d+)\) (\w)$", graph)) == counts
        assert Counter(re.findall(r"\[entry\] (\w)\(", ran("dump"))) == counts
        assert Counter(re.findall(r'"ph":"B".*"name":"(\w)"', ran("dump", "--chrome"))) == counts
        stacks = ran("dump", "--flame-graph", "--sample-time=0")
        assert sums([(count, name) for name, count in re.findall(r"(?m)(\w) (\d+)$", stacks)]) == counts
        assert (
            sums([(n, name) for name, n in re.findall(r'-> "(\w)" \[xlabel = "(\d+)"', ran("dump", "--graphviz"))])
            == counts
        )
        assert sums(re.findall(r'-->\|(\d+)\| \d+_\d+\["(\w)"\]', ran("dump", "--mermaid"))) == counts

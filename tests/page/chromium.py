"""Find the Chromium in which the page is tested; `python -m tests.page.chromium` fetches one where there is none.

It comes from the npm registry with the libraries and fonts that it needs, so it takes no root. It goes beside the tools
that `make` installs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from web.build import tools, with_node

PACKAGE = "@sparticuz/chromium@153.0.0"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FETCHED = Path(sys.prefix) / "chromium"
PAGE = Path(__file__).resolve().parents[2] / "dctv" / "_data" / "page" / "index.html"
REQUIRED = bool(os.environ.get("DCTV_REQUIRE_CHROMIUM"))
# It is to ask nobody for anything, and root has no sandbox.
QUIET = ("background-networking", "component-update", "gpu", "quic", "sync")
FLAGS = [*(f"--disable-{part}" for part in QUIET), "--no-first-run", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
# The package unpacks its libraries where it takes itself to run in the cloud.
UNPACK = "import('@sparticuz/chromium').then((package_) => package_.default.executablePath())"
# Paths in the package's own file are those of the cloud.
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""
START = """#!/bin/sh
here=$(dirname "$0")
LC_ALL=en_US.UTF-8 LD_LIBRARY_PATH="$here/al2023/lib" FONTCONFIG_PATH="$here/fonts" exec "$here/chromium" "$@"
"""


def chromium() -> str | None:
    """Return the path of a Chromium: of `DCTV_CHROMIUM`, of the PATH, or the one that was fetched."""
    given = os.environ.get("DCTV_CHROMIUM")
    if given:
        return given
    found = next(filter(None, map(shutil.which, NAMES)), None)
    fetched = FETCHED / "start"
    return found or (str(fetched) if fetched.exists() else None)


def missing() -> str | None:
    """Return why the tests of the page can't run, or None if they can."""
    if chromium() is None:
        return "no Chromium was found: `make chromium` fetches one, or set DCTV_CHROMIUM to one"
    return None if PAGE.exists() else "the page is not built: `make page` builds it"


def fetch() -> None:
    """Bring a Chromium into the folder of the environment."""
    node, npm = tools()
    shutil.rmtree(FETCHED, ignore_errors=True)
    FETCHED.mkdir()
    with tempfile.TemporaryDirectory() as folder:
        install = [*npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", PACKAGE]
        subprocess.run(install, check=True, cwd=folder, env=with_node(node), stdout=sys.stderr)
        cloud = {**with_node(node), "TMPDIR": str(FETCHED), "AWS_LAMBDA_JS_RUNTIME": "nodejs22.x"}
        subprocess.run([*node, "-e", UNPACK], check=True, cwd=folder, env=cloud)
    (FETCHED / "fonts" / "fonts.conf").write_text(FONTS, encoding="utf-8")
    start = FETCHED / "start"
    start.write_text(START, encoding="utf-8")
    start.chmod(0o755)


if __name__ == "__main__":
    if chromium() is None:
        fetch()
    sys.stdout.write(f"{chromium()}\n")

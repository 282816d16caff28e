"""A wheel holds all that dctv needs, and works in an empty environment, away from the checkout."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
from fcntl import LOCK_EX, flock
from pathlib import Path
from zipfile import ZipFile

import pytest

pytestmark = pytest.mark.ci
ROOT = Path(__file__).resolve().parents[2]
PAGE = {"page/index.html", "page/assets/app.js", "page/assets/app.css", "page/assets/licences.txt"}
TRACE = ROOT / "tests" / "data" / "ftrace" / "live_marks.trace.txt.gz"


def run(*words: str | Path, cwd: Path, **changes: str) -> str:
    clean = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}}
    # As the Makefile has them: with other values Cargo would build everything again.
    clean["CARGO_TARGET_DIR"] = str(ROOT / "kernels" / "target")
    clean |= {"DCTV_REQUIRE_PAGE": "1", **changes}
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, cwd=cwd, env=clean, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel once for all workers of a run: they would do it in the same folder at the same time."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "wheel"
    with (shared / "wheel.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not folder.exists():
            run(sys.executable, ROOT / "build_wheel.py", folder, cwd=shared)
        (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_is_abi3(wheel: Path) -> None:
    assert "-cp311-abi3-" in wheel.name


def test_the_wheel_is_manylinux(wheel: Path) -> None:
    found = re.search(r"-manylinux_2_(\d+)_\w+\.whl$", wheel.name)
    assert found is not None, wheel.name
    assert 17 <= int(found[1]) <= int(platform.libc_ver()[1].rpartition(".")[2])


def test_wheel_holds_data_and_no_tests(wheel: Path) -> None:
    names = [name for name in ZipFile(wheel).namelist() if not name.endswith("/")]
    data = {n.removeprefix("dctv/_data/") for n in names if n.startswith("dctv/_data/")}
    read = {
        p.relative_to(ROOT).as_posix()
        for folder in ("grammar", "metrics", "stdlib")
        for p in (ROOT / folder).rglob("*.*")
    }
    built = {"grammar.json", "perfetto.binpb", "perfetto_left_out.binpb", "signatures.json", "units.txt"}
    assert data == {*built, *read, *PAGE}
    sources = {p.relative_to(ROOT).as_posix() for p in (ROOT / "dctv").rglob("*.py")}
    assert {n for n in names if n.endswith(".py")} == sources
    assert {"dctv/_kernels.abi3.so", "dctv/_kernels.pyi", "dctv/py.typed"} <= set(names)


def test_wheel_lists_the_licences_of_the_bundled_page(wheel: Path) -> None:
    licences = ZipFile(wheel).read("dctv/_data/page/assets/licences.txt").decode()
    used = json.loads((ROOT / "web" / "package.json").read_text(encoding="utf-8"))["dependencies"]
    versions = {name: version for name, version in used.items() if f"{name} {version}, " in licences}
    # `codemirror` is only a list of packages that stand there themselves.
    assert {name: version for name, version in used.items() if name != "codemirror"}.items() <= versions.items()


def test_the_source_distribution_has_the_page_and_no_build_products(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    tools = [line for line in requires if line.startswith("setuptools")]
    run(python, "-m", "pip", "install", "--quiet", *tools, cwd=tmp_path)
    run(python, "setup.py", "--quiet", "sdist", "--dist-dir", tmp_path / "dist", cwd=ROOT)
    (archive,) = (tmp_path / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    sources = {p.relative_to(ROOT).as_posix() for p in (ROOT / "web" / "src").rglob("*.*")}
    assert sources
    assert sources | {"web/build.py", "web/build.mjs", "web/package-lock.json", "units.txt"} <= names
    assert [
        name for name in names if "node_modules" in name or "/_data/" in name or name.startswith("web/build/")
    ] == []


def test_wheel_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    # Whatever would compile Rust or C is out of reach.
    bare = {"PATH": str(tmp_path / "venv" / "bin")}
    run(python, "-m", "pip", "install", "--quiet", "--no-compile", "--only-binary=:all:", wheel, cwd=tmp_path, **bare)
    query = "SELECT COUNT(*) AS n, MAX(_duration) IN ms AS longest FROM t.scheduler.timeslices_p_cpu"
    out = run(tmp_path / "venv" / "bin" / "dctv", "query", f"t={TRACE}", query, "--format", "csv", cwd=tmp_path)
    assert out == "n,longest [ms]\n674,148.13\n"
    assert run(python, "-c", "import dctv; print(dctv.__file__)", cwd=tmp_path).startswith(str(tmp_path))
    lookup = "import sys; from dctv.syntax.table import load_table; load_table(); print('lark' in sys.modules)"
    assert run(python, "-c", lookup, cwd=tmp_path) == "False\n"

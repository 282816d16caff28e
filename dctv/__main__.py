"""Run the command line for `python -m dctv`."""

from __future__ import annotations

from dctv.cli import process

if __name__ == "__main__":
    process()

"""Timelines: tracks in a tree, and what any part of them looks like at any scale."""

"""Timelines: trees of tracks, and views of any part of them at any scale."""

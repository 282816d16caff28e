"""Pictures of timelines: cells of tracks to shapes, and those to SVG, PNG, a page without scripts, or the terminal."""

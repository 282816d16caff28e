"""Draw timelines: lay out cells of tracks as shapes, and write these as SVG, PNG, a static page, or terminal text."""

"""Registry of span operators."""

"""Text to syntax tree, syntax tree to text."""

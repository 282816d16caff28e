"""Parse text into syntax trees, and print syntax trees as text."""

"""Nodes of the syntax tree to text: one function per class of node."""

"""Write nodes of the syntax tree as text: one function per class of node."""

"""The page's server: a session behind HTTP on the loopback interface."""

"""The page's server: HTTP access to a session on the loopback interface."""

"""Terminal sessions: results on stdout, messages on stderr, Ctrl-C as an interrupt."""

"""A terminal and its person: statements to results on stdout, narration on stderr, Ctrl-C to interrupts."""

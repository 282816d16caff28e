"""Call trees as texts: options of filters to queries of shown calls, and those to lines."""

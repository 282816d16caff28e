"""The subcommands of `dctv`, one module each; adding a module adds a subcommand."""

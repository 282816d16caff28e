"""The subcommands of `dctv`, one file each; a file here is all that a new one takes."""

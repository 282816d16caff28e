"""Arguments of `dctv compare`: words to sides, texts or bundled queries to what each side has of them, verdicts."""

"""Hints for statements of other tools: the equivalents here."""

from __future__ import annotations

STATEMENTS = {
    "ATTACH": "MOUNT TRACE 'path' AS name reads files, SQLite databases too",
    "BEGIN": "queries change nothing, so there are no transactions",
    "CALL": "table-valued functions stand in FROM: SELECT * FROM dctv.concurrency(...)",
    "COMMIT": "queries change nothing, so there are no transactions",
    "DETACH": "DROP ALL name unmounts a trace",
    "EXPORT": "COPY (SELECT ...) TO 'FILE' writes rows, as do -o FILE on the command line and .once FILE at the prompt",
    "IMPORT": "MOUNT TRACE 'path' AS name reads files",
    "INCLUDE": "nothing is to be included: SHOW TABLES lists the views of the standard library",
    "INSTALL": "there are no extensions: MOUNT TRACE 'path' AS name reads files",
    "LOAD": "MOUNT TRACE 'path' AS name reads files",
    "PRAGMA": "DESCRIBE name lists columns, SHOW TABLES lists tables, SET name = value changes a setting",
    "ROLLBACK": "queries change nothing, so there are no transactions",
    "UNMOUNT": "DROP ALL name unmounts a trace",
    "USE": "names are written in full, such as t.slices",
}
"""By the word that they begin with."""

_NAMED_QUERY = "CREATE VIEW name AS SELECT ... names a query"
CREATED = {
    "FUNCTION": "CREATE MACRO name(x) AS x + 1 names an expression, CREATE MACRO name(x) AS TABLE SELECT ... a query",
    "INDEX": "`dctv index TRACE` makes an index of a trace",
    "MATERIALIZED": "CREATE TABLE name AS SELECT ... keeps the rows of a query",
    "PERFETTO": _NAMED_QUERY,
    "SCHEMA": "a dot in the name is enough: CREATE VIEW area.name AS SELECT ...",
    "VIRTUAL": f"{_NAMED_QUERY}, in which a SPAN JOIN b joins spans",
}
"""By the word after CREATE."""

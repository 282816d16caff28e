-- Every line is a text that must parse; between them they use every form of the grammar.
SELECT 1
select 1;
;;SELECT 1;;SELECT 2;
SELECT a, b c, d AS e, "f" AS "g", `h``i` AS `j` FROM t
SELECT a, FROM t,
SELECT ALL a FROM t
SELECT DISTINCT a FROM t
SELECT SPAN FROM t
SELECT EVENT FROM t
SELECT SPAN * FROM t
SELECT ALL SPAN FROM t
SELECT ALL EVENT FROM t
SELECT DISTINCT SPAN a FROM t
SELECT DISTINCT EVENT a FROM t
SELECT SPAN ALL a FROM t
SELECT SPAN DISTINCT a FROM t
SELECT EVENT ALL a FROM t
SELECT EVENT DISTINCT a FROM t
SELECT SPAN a FROM t ORDER BY a
SELECT * FROM t
SELECT t.*, a.b.* FROM t
SELECT * EXCLUDE a FROM t
SELECT * EXCLUDE t.a, u.* EXCLUDE (u.a, b, c.d.e,) RENAME (u.f AS g) FROM t, u
SELECT * EXCLUDE (a,), t.* EXCLUDE (a), u.* EXCLUDE (a, b) FROM t, u
SELECT * EXCLUDE (a, b,) REPLACE (c + 1 AS c, d AS e,) FROM t
SELECT * REPLACE (c + 1 AS c) FROM t
SELECT t.* EXCLUDE (a) REPLACE (1 AS b, 2 AS c) FROM t
SELECT * REPLACE (1 AS b,) FROM t
SELECT a FROM t WHERE b GROUP BY c, d, HAVING e QUALIFY f WINDOW w AS (), v AS (w), ORDER BY g, h, LIMIT 1 OFFSET 2
SELECT a FROM t WINDOW w AS (ORDER BY a)
SELECT a FROM t WINDOW w AS (ORDER BY a),
SELECT a FROM t WINDOW w AS (ORDER BY a), v AS ()
SELECT a FROM t WINDOW w AS (ORDER BY a), QUALIFY b
SELECT a FROM t WINDOW w AS (ORDER BY a) QUALIFY b LIMIT 1
SELECT a FROM t OFFSET 5
SELECT a FROM t GROUP BY ALL
SELECT a FROM t GROUP BY a
SELECT a FROM t GROUP BY a,
SELECT a FROM t GROUP BY a, b
SELECT a FROM t GROUP BY ROLLUP (a, b), CUBE ((a, b), c,), GROUPING SETS ((a, b), a, (), (c))
SELECT a FROM t GROUP BY (), a
SELECT a FROM t GROUP BY GROUPING SETS (ROLLUP (a, b), (c), GROUPING SETS (CUBE ((a, b), c), ()))
SELECT a FROM t GROUP BY ROLLUP (a)
SELECT a FROM t GROUP BY ROLLUP (a,)
SELECT cube(a), rollup FROM t GROUP BY rollup
SELECT SPAN SUM(a) FROM t GROUP USING PARTITION
SELECT SPAN SUM(a) FROM t GROUP AND UNION USING PARTITION
SELECT SPAN SUM(a) FROM t GROUP AND INTERSECT USING PARTITION (cpu, tid,)
SELECT SPAN SUM(a) FROM t GROUP USING SPANS FROM g
SELECT SPAN SUM(a) FROM t GROUP AND INTERSECT USING SPANS FROM m.quantize(5s) AS q
SELECT SPAN SUM(a) FROM t GROUP AND UNION USING SPANS FROM (SELECT SPAN FROM g) q (a, b)
SELECT a FROM t ORDER BY a ASC, b DESC NULLS FIRST, c NULLS LAST
SELECT a FROM t ORDER BY a
SELECT a FROM t ORDER BY a,
SELECT a FROM t UNION SELECT b FROM u
SELECT a FROM t UNION ALL SELECT b FROM u UNION DISTINCT SELECT c FROM v
SELECT a FROM t INTERSECT SELECT b FROM u EXCEPT ALL SELECT c FROM v INTERSECT ALL SELECT d FROM w ORDER BY 1 LIMIT 2
SELECT a FROM t UNION ALL BY NAME SELECT b FROM u UNION BY NAME SELECT c FROM v
(SELECT a FROM t LIMIT 1) UNION ((SELECT b FROM u)) LIMIT 3
(SELECT 1)
((SELECT 1))
((SELECT 1) LIMIT 1)
VALUES (1, 'a'), (2, 'b'),
VALUES (1)
VALUES (1,),
VALUES (1), (2)
WITH a AS (SELECT 1), b (c, d,) AS (VALUES (1, 2)), SELECT * FROM a, b
WITH a AS (SELECT 1) SELECT * FROM a
WITH a AS (SELECT 1), SELECT * FROM a
WITH a AS (SELECT 1), b AS (SELECT 2) SELECT * FROM a
WITH RECURSIVE a (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a WHERE n < 9) (SELECT n FROM a) LIMIT 3
SELECT * FROM a, b, c
SELECT * FROM a JOIN b ON a.x = b.x
SELECT * FROM a INNER JOIN b USING (x, y,)
SELECT * FROM a LEFT JOIN b USING (x) LEFT OUTER JOIN c ON c.y
SELECT * FROM a RIGHT JOIN b ON 1 RIGHT OUTER JOIN c ON 2 FULL JOIN d ON 3 FULL OUTER JOIN e ON 4
SELECT * FROM a CROSS JOIN b
SELECT * FROM a ASOF JOIN b ON a.t >= b.t ASOF LEFT JOIN c ON a.t >= c.t
SELECT * FROM a SEMI JOIN b USING (x) ANTI JOIN c USING (x, y)
SELECT * FROM (a JOIN b USING (x)), (c, d,), ((SELECT 1) e)
SELECT * FROM a AS x (c, d), b y (e), (SELECT 1) z (f,)
SELECT * FROM a SPAN JOIN b SPAN INNER JOIN c SPAN OUTER JOIN d PARTITION AS cpu
SELECT * FROM a SPAN LEFT JOIN b SPAN LEFT OUTER JOIN c SPAN RIGHT JOIN d SPAN RIGHT OUTER JOIN e
SELECT * FROM a SPAN BROADCAST INTO b PARTITION AS p
SELECT * FROM a SPAN INNER BROADCAST FROM b SPAN OUTER BROADCAST FROM c
SELECT * FROM f(), g(1), h(1,), i(1, b => 2), j(a => 1, b => 2,) AS k
SELECT * FROM f([], [1], [1,], [1, 2], [ ], {}, {a => 1}, {a = 1,}, {a => 1, `b` = 2, 'c' = 3, "d" => 4})
SELECT * FROM f([1, 2,], {a => 1, b => 2,})
SELECT * FROM f([/* nothing */], t, a.`b`.c, `t`, g(), g.h(1), (SELECT 1), ((SELECT 2)))
SELECT * FROM f(-1 + 2 * (3 - +4s) / 5 // 6 % 7, "cpu", 'a', NULL, TRUE, FALSE, ?, :x, INTERVAL '3 days')
SELECT * FROM as_spans(t, end => 1, partition=>'p', from=>2, select=>3, `odd name`=>4)
SELECT a OR b AND NOT c = d
SELECT a = b, a == b, a != b, a <> b, a < b, a <= b, a > b, a >= b, a <=> b, a <!=> b
SELECT a IS NULL, a IS NOT NULL, a IS b, a IS NOT b, a IS DISTINCT FROM b, a IS NOT DISTINCT FROM b
SELECT a ISNULL, a NOTNULL, a NOT NULL
SELECT a IN (1), a IN (1,), a IN (1, 2), a IN (1, 2,), a NOT IN (1), a not /* c */ in (SELECT 1), a IN (SELECT 1)
SELECT a IN ms, b IN `miles/hour`, 4`inches` IN cm, x IN in
SELECT a LIKE b, a NOT LIKE b ESCAPE 'c', a ILIKE b, a NOT ILIKE b, a GLOB b, a NOT GLOB b, a REGEXP b, a NOT REGEXP b
SELECT a LIKE b ESCAPE '!'
SELECT a BETWEEN 1 AND 2, a NOT BETWEEN 1 | 2 AND 3, NOT a BETWEEN b AND c AND d, a = b BETWEEN 1 AND 2
SELECT a | b & c << d >> e + f - g || h * i / j // k % l
SELECT - + ~a, -1, -a::INT, a[1], a[b[2]], (a)[1]
SELECT a::INT, a::DECIMAL(18, 3), a::VARCHAR(10)[], a::double precision, a::timestamp with time zone, a::INT[][], a::X(1,)
SELECT a::DECIMAL(18, 3,)
SELECT CAST(a AS INT64), TRY_CAST(a AS TEXT)
SELECT CASE WHEN a THEN b END, CASE a WHEN 1 THEN 2 WHEN 3 THEN 4 ELSE 5 END
SELECT EXISTS (SELECT 1), NOT EXISTS (SELECT 1), (SELECT 1), ((SELECT 1)), (SELECT 1) + 1, ((SELECT 1) + 1)
SELECT (a, b), (a,), (a, b,), (a)
SELECT 1, 1_000, 0x1f, 0xFF_FF, 1.5, 1., .5, 1e9, 1.5e-3, 17ms, 1.5GiB, 4`miles/hour`, 1e3s, 3µs, 3μs, 0x10`ns`
SELECT 'a''b', '', 'multi line', INTERVAL '3 days', NULL, TRUE, FALSE, ?, ?3, ?, :name
SELECT COUNT(*), COUNT(), COUNT(DISTINCT a), COUNT(ALL a), COUNT(a, b,), f(a, k => b), f(k => b, l => c,), f(a,)
SELECT string_agg(a, ',' ORDER BY b DESC, c), list(DISTINCT a ORDER BY a)
SELECT SUM(a) FILTER (WHERE b), LAG(a) IGNORE NULLS OVER w, LAG(a) RESPECT NULLS OVER (w)
SELECT SUM(a) FILTER (WHERE b) OVER (w PARTITION BY c, d ORDER BY e ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
SELECT SUM(a) OVER (RANGE UNBOUNDED PRECEDING), SUM(a) OVER (GROUPS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
SELECT SUM(a) OVER (ORDER BY b ROWS BETWEEN CURRENT ROW AND 2 + 1 FOLLOWING)
SELECT left(a, 1), right(a, 1), replace(a, b, c), first(a), last(a), if(a, b, c), row(a), values_of(a), a.b.c(d)
SELECT name, type, value, first, last, events, trace, start, stop, end, partition, depth, row, rows, range, filter FROM t
SELECT left, right, full, cross, inner, outer, asof, semi, anti, replace, view, analyze, explain, set, show, tables FROM t
SELECT cast, try_cast, interval, asc, desc, nulls, current, unbounded, preceding, following, over, window, offset FROM t
SELECT string, number, space, bind, name AS name, x AS first, x AS partition, x row, x filter FROM trace AS events
SELECT t.select, t.from, t.span, t.`print|B` FROM a.group.order.`print|B`
SELECT time_avg(_duration) / 5s AS r, COUNT(*) /* nested /* comment */ here */ FROM t -- the end
SELECT 1 # a comment
CREATE VIEW v AS SELECT 1
CREATE OR REPLACE VIEW a.b (c, d) AS (VALUES (1, 2))
CREATE TEMP VIEW IF NOT EXISTS v AS SELECT 1; CREATE SECURE VIEW v AS SELECT 1; CREATE SECURE RECURSIVE VIEW v (n) AS SELECT 1
CREATE OR REPLACE RECURSIVE VIEW a.v (n) AS SELECT 1 UNION ALL SELECT n + 1 FROM v WHERE n < 3; SELECT secure, recursive FROM secure
CREATE STATE SYSTEM s AS SELECT 1
CREATE OR REPLACE STATE SYSTEM a.s AS (VALUES (1, 2))
CREATE STATE SYSTEM s WITH (backend => 'partial', granularity => 1000,) AS SELECT 1
DROP STATE SYSTEM s
DROP STATE SYSTEM IF EXISTS a.s
DROP VIEW v
DROP VIEW IF EXISTS a.b
DROP ALL a.b
MOUNT TRACE 'a.json' AS t
MOUNT TRACE "runs/*.pfw.gz" AS a.b WITH (format => 'pfw', strict => TRUE,)
MOUNT TRACE 'a' AS t WITH (a => 1)
MOUNT TRACE 'a' AS t WITH (a => 1,)
MOUNT TRACE 'a' AS t WITH (a => [1, {b => 2}], c => d)
MOUNT TRACES 'runs/*/' AS runs
MOUNT TRACES 'runs/*/' AS a.runs WITH (manifest => 'runs.csv', strict => TRUE)
SET a.b = 1 + 2
EXPLAIN SELECT 1
EXPLAIN ANALYZE SELECT 1
EXPLAIN (SQL) SELECT 1
DESCRIBE a.b
SHOW TABLES
SHOW TABLES FROM a.b
SHOW FUNCTIONS
SHOW UNITS
SHOW MOUNTS
ASSERT a = 1
ASSERT a = 1,
ASSERT (SELECT a FROM t), 'none may be left'
ASSERT 1 < 2, 'a' || 'b',
CREATE TABLE t AS SELECT 1; CREATE OR REPLACE TEMP TABLE a.b (c, d) AS FROM e; CREATE TEMPORARY TABLE IF NOT EXISTS t AS VALUES (1)
CREATE MACRO f() AS 1; CREATE OR REPLACE TEMP MACRO a.f(x) AS x + 1; CREATE MACRO f(x, y => 2, z := NULL,) AS (SELECT x); DROP MACRO f
CREATE MACRO f(x,) AS x; CREATE MACRO f(x, y) AS x; CREATE MACRO f(x, y, z) AS TABLE SELECT x; CREATE OR REPLACE MACRO f(x => 1) AS TABLE (SELECT x); DROP MACRO IF EXISTS a.f; SELECT macro FROM macro
ATTACH 'x' AS t; ATTACH "x" AS a.b WITH (format => 'pfw'); SELECT attach FROM attach; COPY a.b TO 'x.csv'; COPY (SELECT 1) TO 'x' (FORMAT csv); COPY a TO 'x' (FORMAT 'csv', header,); COPY a TO "x" (a 1, b, c d); COPY a TO 'x' (a 1, b); COPY a TO 'x' (b, a 1,); COPY a TO 'x' (b,); SELECT copy, to FROM copy
CREATE FUNCTION f(x) AS x; CREATE FUNCTION f(x) AS TABLE SELECT x; DROP FUNCTION f; CREATE TYPE t AS INT64[]; CREATE OR REPLACE TEMP TYPE t AS STRUCT(a t, b UNION(c t)); DROP TYPE t
CREATE TYPE IF NOT EXISTS t AS ENUM ('a', 'b'); CREATE TYPE t AS ENUM ('a',); CREATE TYPE t AS ENUM (SELECT 1); DROP TYPE IF EXISTS t
SELECT enum, type, approx, nearest, exact, distance, similarity FROM enum AS exact; SELECT 'a'::ENUM('a', 'b''c'), 'a'::ENUM('a', 'b', 'c',), 'a'::ENUM('a', 'b',), 'a'::ENUM('a')
SELECT 1 FROM a JOIN b NEAREST BY DISTANCE c JOIN d NEAREST 2 BY DISTANCE 1 JOIN e APPROX NEAREST BY DISTANCE 1 JOIN f EXACT NEAREST BY DISTANCE 1; SELECT 1 FROM a LEFT OUTER JOIN b t APPROX NEAREST 3 BY SIMILARITY t.c, d JOIN e EXACT NEAREST 1 BY DISTANCE 1
DROP TABLE t; DROP TABLE IF EXISTS a.b; SELECT temp, table, temporary FROM temp
EXPECT a = 1; EXPECT a = 1,; EXPECT (SELECT a FROM t), 'none'; EXPECT 1 < 2, 'a' || 'b',
WITH a AS MATERIALIZED (SELECT x: 1, b.y), b AS NOT MATERIALIZED (SELECT 1) SELECT x IN [1, 2], y NOT IN [] FROM a
SELECT COUNT(*) FROM mytrace.scheduler.timeslices_p_cpu;
SELECT 4`miles/hour` * 2`days`;
SELECT * FROM mytrace.raw_events.`print|B`
SELECT SPAN SUM(_duration)/5s AS non_idle_ratio FROM (SELECT SPAN * FROM my_cpu_timeslices WHERE pid != 0) GROUP USING SPANS FROM mytrace.quantize(5s)
SELECT SPAN * FROM dctv.time_series_to_span(sources=>[my_raw_events_table], columns=>["foo", "bar", "qux"],)
SELECT SPAN * FROM dctv.time_series_to_span(sources=>[{source=>table1, partition=>"cpu", nickname="foo"}, {source=>table2, partition=>"cpu", role="stop"}], columns=>[{column=>"total_things", source=>"foo", source_column=>"last_things", edge=>"falling"}])
WITH frames AS (SELECT SPAN * FROM dctv.time_series_to_spans(sources=>[{source=>(SELECT * FROM trace.raw_events.`print|B` WHERE name='eglBeginFrame'), timestamp=>'ts'}], columns=>[])), bad_frames AS (SELECT SPAN * FROM frames WHERE _duration > 17ms), bad_timeslices AS (SELECT SPAN * FROM trace.scheduler.timeslices_p_cpu SPAN BROADCAST FROM bad_frames) SELECT comm, cpu, SUM(_duration) AS totdur FROM bad_timeslices WHERE pid != 0 GROUP BY comm, cpu ORDER BY totdur DESC LIMIT 20
SELECT CASE a WHEN 1 THEN 2 END, CASE WHEN a THEN b WHEN c THEN d END
;;SELECT 1
;SELECT 1;SELECT 2
SELECT 1;SELECT 2
SELECT 1;SELECT 2;;SELECT 3
SELECT a, b, FROM t
VALUES (1), (2), (3)
SELECT * REPLACE (1 AS b, 2 AS c, 3 AS d) FROM t
SELECT * FROM t AS u (a, b, c) WHERE a IN (1, 2, 3) AND b::X(1, 2, 3) = 1 WINDOW u AS (), v AS (), w AS ()
MOUNT TRACE 'a' AS t WITH (a => 1, b => 2, c => 3)
FROM 'x.pfw.gz'.events; FROM 'x'.a.b AS c JOIN 'y'.z d (e); SELECT * FROM 'x.csv' AS f (a, b) SPAN JOIN 'y.parquet' JOIN t
;SELECT 1;
SELECT 1;SELECT 2;
SELECT [], [ ], [/* nothing */], [1], [1, 2, 3,], [a, [b]]
SELECT {a: 1}, {'b c': 2, "D": 3, `e`: 4,}, {a:b}, {'a':b}, MAP {}, MAP {'a': 1, b: 2, c:d, 'e':f,}, MAP {1: 2}
SELECT x[1:2], x[a:b], x[:], x[1:], x[: n], x[:n], x[1:4:2], x[: : 2], (x).a, x[1].b.c, f(x).a, x::INT[1].a, {a: 1}.a
SELECT args->'device'->>'name', args->>0, args -> key, args->>('a' || 'b'), -x->>'a'::INT
SELECT [1, 2], [1,], {a: 1,}, {a: 1, b: 2}, {a: 1, b: 2,}, MAP {1: 2,}, MAP {1: 2, 3: 4}, MAP {1: 2, 3: 4,}, [1, 2, 3], {a: 1, b: 2, c: 3}
SELECT DATE '2024-01-02', TIME '10:00:00', TIMESTAMP '2024-01-02 10:00:00', TIMESTAMPTZ '2024-01-02', TIMESTAMP_NS '2024-01-02', date, x date FROM time
SELECT INTERVAL 1 DAY, INTERVAL 1_000 microseconds, INTERVAL '2' hours, INTERVAL '1 day' days, INTERVAL (a + 1) WEEK, day, interval
SELECT EXTRACT(year FROM x), EXTRACT('hour' FROM x), EXTRACT(dow FROM DATE '2024-01-02'), extract
FROM t; FROM t, WHERE a GROUP BY b HAVING c QUALIFY d; FROM t SELECT x WHERE y; FROM t, SELECT DISTINCT x, y; FROM s SELECT SPAN; FROM s, SELECT SPAN x WHERE y UNION FROM u
DESCRIBE SELECT 1; DESCRIBE FROM t; SHOW COLUMNS FROM a.b; SUMMARIZE t; SUMMARIZE SELECT 1; SUMMARIZE (SELECT 1)
SELECT a FROM t ORDER BY ALL; SELECT a FROM t ORDER BY ALL DESC NULLS FIRST LIMIT 1; WITH a AS (FROM b) FROM a ORDER BY ALL
SELECT 2 ** 3 ** 2, -a ** b * c, E'a\n''\'\\\x41\u00e9', e'', $1, $x, $12 + ?, f(a := 1, b => 2), SUM(x) FILTER (x > 1), FIRST(x IGNORE NULLS) FROM g(a := 1)
SELECT list_transform(l, x -> x + 1), list_transform(l, lambda x: x + 1), list_reduce(l, (a, b) -> a + b, 0), f(lambda a, b, c: a), f(lambda, lambda a, `b`: b), list_filter(args->'a', (`x`) -> x->>'b'), lambda
SELECT [x + 1 FOR x IN l], [x FOR x IN l IF x > 1], [[y FOR y IN x] FOR x IN [l, m]]
SELECT * FROM a NATURAL JOIN b NATURAL INNER JOIN c NATURAL LEFT JOIN d NATURAL LEFT OUTER JOIN e NATURAL RIGHT JOIN f
SELECT * FROM a NATURAL RIGHT OUTER JOIN b NATURAL FULL JOIN c NATURAL FULL OUTER JOIN d
SELECT * REPLACE a AS b FROM t OFFSET 2 LIMIT 3
SELECT * FROM a, LATERAL (SELECT a.x) AS b(y) LEFT JOIN LATERAL (SELECT b.y) c ON TRUE
SELECT a FROM t LIMIT 10%
SELECT a FROM t LIMIT 10.5 PERCENT OFFSET 2
SELECT a FROM t OFFSET 2 LIMIT 10%
SELECT a FROM t OFFSET 2 LIMIT 3
SELECT a FROM t TABLESAMPLE 10%
SELECT a FROM t AS x TABLESAMPLE 10 ROWS (reservoir) REPEATABLE (3), (SELECT 1) TABLESAMPLE 5 PERCENT (system, 4)
SELECT a FROM t WHERE b WINDOW w AS () USING SAMPLE bernoulli(10%) REPEATABLE (3) ORDER BY a
SELECT SPAN a FROM t USING SAMPLE reservoir(5)
FROM t JOIN u ON a USING SAMPLE 5 ROWS
FROM t USING SAMPLE 5%
FROM t SELECT a USING SAMPLE 5%
FROM t SELECT SPAN a USING SAMPLE 5%
SELECT a FROM t POSITIONAL JOIN u
SELECT a FROM f(:x IN ms, y => (1 + 2) IN `ms`)
SELECT * RENAME a AS b, t.* EXCLUDE (a) REPLACE (b AS c) RENAME (d AS e, f AS g,) FROM t
SELECT * REPLACE 1 AS a, * LIKE 'a%', * NOT ILIKE 'a', * GLOB 'a', * REGEXP 'a', t.* SIMILAR TO 'a', * NOT SIMILAR TO 'a' FROM t
SELECT COLUMNS(*), COLUMNS(t.* EXCLUDE a), t.COLUMNS('a'), COLUMNS(['a']), COLUMNS(lambda c: c LIKE 'a'), COLUMNS(c -> TRUE) FROM t
SELECT f(*COLUMNS(*), 1), [*COLUMNS('a')], a IN (1, *COLUMNS('b')), COLUMNS('x(.)') AS '\1' FROM t
SELECT a SIMILAR TO 'b', a NOT SIMILAR TO 'b' FROM t
SELECT similar FROM t
SELECT * RENAME (a AS b), * REPLACE (a AS b, c AS d) FROM t
SELECT * RENAME (a AS b,), * RENAME (a AS b, c AS d), * RENAME (a AS b, c AS d, e AS f) FROM t
SELECT a FROM t, LATERAL (SELECT 1) AS s LEFT JOIN LATERAL (SELECT 2) ON TRUE
SELECT a FROM unnest([1, b]) AS u(x), range(a + 1), generate_series(DATE '2024-05-01', d, INTERVAL 1 DAY)
SELECT lateral, range, unnest(a) FROM lateral, dctv.f(range(3))
PIVOT t ON a
PIVOT t AS u ON a, b IN (1, 2,), (c, d) USING sum(e) AS s, count(*), GROUP BY f, g ORDER BY a LIMIT 1
PIVOT t USING sum(a)
PIVOT t USING sum(a) GROUP BY b
UNPIVOT t ON a, b AS c
UNPIVOT (SELECT 1 AS a) ON *, COLUMNS('b') INTO NAME n VALUE v
UNPIVOT t ON (a, b), (c, d) INTO NAME n VALUES v, w
FROM t PIVOT (sum(a) FOR b IN (1 AS x, 2 y,) c IN (3) FOR d GROUP BY f) AS p
FROM t PIVOT (sum(a) FOR b IN (1) FOR d FOR e + 1 IN (2, 3, 4)) PIVOT (sum(a) GROUP BY b)
FROM t PIVOT (sum(a)), t UNPIVOT (v FOR n IN (a, b)), t UNPIVOT INCLUDE NULLS ((v, w) FOR n IN ((a, b) AS c)) AS u
FROM t UNPIVOT EXCLUDE NULLS (v FOR n IN (a)) TABLESAMPLE 5%
SELECT (pivot), (unpivot + 1) FROM pivot, unpivot
FROM t PIVOT (sum(a) FOR b IN (1,) c IN (1, 2))
SELECT a FROM t NATURAL JOIN u NATURAL LEFT JOIN v, VALUES (1), (2) AS w(x), VALUES (1) y
SELECT a = ANY (SELECT 1), a < ALL (SELECT 2), a <> ALL (SELECT 2), a <> ANY (SELECT 3) FROM t
SELECT a.f(1), (a).f(), (a || b).f(DISTINCT c ORDER BY d).g(*COLUMNS(*)) FROM t
TABLE a.b LIMIT ALL OFFSET 3
SELECT a::STRUCT(b INT, c STRUCT(d STRING)[],), b::MAP(INT, STRING[])[], c::ROW(a INT) FROM t
SELECT UUID 'a', BLOB 'b', JSON 'c', TIMESTAMP_MS 'd', TIMESTAMP_S 'e', uuid, any, struct(1), natural FROM t
SELECT a FROM t, LATERAL range(a + 1) AS r, LATERAL unnest(a)
SELECT a FROM t, json_each(a) AS e, LATERAL json_tree(e.value, '$.x') WITH ORDINALITY
SELECT a::STRUCT(b INT), a::STRUCT(b INT,), a::ROW(b INT, c INT), a::ROW(b INT, c INT, d INT) FROM t, VALUES (1), (2), (3) AS w
SELECT map(), map(a, b), MAP {a: b}::MAP(INT64, TEXT), map FROM map
SELECT DISTINCT ON (a, b) *, c FROM t ORDER BY d
FROM t SELECT DISTINCT ON (a) b
FROM t, SELECT DISTINCT ON (a) b
SELECT SUM(a) OVER (ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW), SUM(a) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE GROUP) FROM t
SELECT SUM(a) OVER (ROWS UNBOUNDED PRECEDING EXCLUDE TIES), SUM(a) OVER (ROWS UNBOUNDED PRECEDING EXCLUDE NO OTHERS) FROM t
SELECT $$it's$$, $a$x$$y$a$ AS `$`
SELECT a < ANY ([1, 2]), a >= ALL (b), (a, b) = ANY (SELECT 1, 2), a IS TRUE, a IS NOT FALSE, a IS NOT b, a IS NULL FROM t
SELECT a ~ 'x', a !~ 'x', a ~~ 'x', a !~~ 'x', a ~~* 'x', a !~~* 'x', a ~~~ 'x', a ^@ 'x', a && b, a @> b, a <@ b, 2 ^ 3, ~ ~1 FROM t
SELECT a COLLATE nocase.noaccent, (a || b) COLLATE c, a AS collate FROM t ORDER BY a COLLATE nocase
SELECT ARRAY[1, 2], ARRAY[], ARRAY(SELECT 1), a::INT[3], a::INT[][4], a::INT ARRAY, CAST(a AS INT ARRAY), a::INT ARRAY[2], array FROM t AS array
SELECT a::UNION(b INT, c STRING), a::UNION(b INT,), a::UNION(b INT, c INT, d INT), a::UNION(b INT), a::UNION(b INT, c INT,), INTEGER '1', X'4142', a[1:-:2], a[-:] FROM t
SELECT a IN f(1), a NOT IN f(1), position(a IN 'b'), position(a IN b), position(a IN (b)) FROM t
SELECT overlay(a PLACING b FROM 1), overlay(a PLACING b FROM 1 FOR 2), substring(a FROM 1), substring(a FROM 1 FOR 2), substring(a FOR 2) FROM t
SELECT trim(a FROM b), trim(LEADING FROM + b), trim(BOTH FROM b), trim(LEADING 'x' FROM b), trim(TRAILING 'x'), trim(BOTH 'x'), rank(ORDER BY a) OVER (ORDER BY b) FROM t
SELECT * EXCEPT a, * EXCEPT (a, t.b), * EXCEPT (a,), * EXCLUDE (a, b, c), * EXCLUDE t.a, * EXCLUDE (a, t.b,), * ~ 'x', t.* EXCEPT (a) FROM t
SELECT * FROM f(1) WITH ORDINALITY, unnest(a) WITH ORDINALITY AS u(b, c), LATERAL range(2) WITH ORDINALITY
SELECT * EXCEPT (SELECT 1) ORDER BY 1
SELECT a ~* 'x', a !~* 'x', a ~ ANY (b), a !~ ALL (b), a ~~ ANY (SELECT 1), a ~ ALL (SELECT 2), a IS UNKNOWN, a IS NOT UNKNOWN FROM t
SELECT list(a ORDER BY ALL DESC), list(a, b ORDER BY ALL NULLS FIRST) FROM u : t, v : (SELECT 1), w : f(1) JOIN x : 'y.csv' ON a
SELECT a::DECIMAL(), fetch FROM t fetch ORDER BY a FETCH FIRST 3 ROWS ONLY
SELECT a FROM t OFFSET 2 ROWS FETCH NEXT ROW ONLY
SELECT a FROM t OFFSET 2 ROW FETCH NEXT 5 ROWS ONLY
SELECT SUM(a) FILTER (WHERE b) EXPORT_STATE s, AVG(a ORDER BY b) EXPORT_STATE FROM t
WITH RECURSIVE a (k, n) USING KEY (k, MAX(n) AS n) AS (SELECT 1, 2 UNION ALL SELECT k, n + 1 FROM recurring.a WHERE n < 9) SELECT n FROM a
SELECT x, y FROM (a JOIN b USING (c)) AS t (x, y), (a CROSS JOIN b,) u
SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY a), within FROM t within GROUP BY ALL
SELECT * EXCEPT ('a', b), * EXCLUDE ('a'), * LIKE '!_%' ESCAPE '!' FROM t FETCH FIRST (1 + 1) ROWS ONLY
SELECT [a + i FOR a, i IN b], [a FOR a, i IN b IF i > 1], a IN MAP {1: 2}, a NOT IN MAP {}, MAP {1: 2, 3: 4,} FROM t UNPIVOT (a FOR 'v' IN (b, c))
SELECT a OR b OR c AND d AND e AND f OR g FROM t WHERE (a AND b) AND NOT (c OR d) AND (e OR f OR g)
SELECT a AT TIME ZONE 'UTC' AT TIME ZONE b, a + c::TIMESTAMP AT TIME ZONE (d || e), at, time, zone FROM t at
SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION SELECT 4 EXCEPT SELECT 5 EXCEPT ALL (SELECT 6 EXCEPT ALL SELECT 7) INTERSECT SELECT 8 INTERSECT SELECT 9 UNION ALL BY NAME (SELECT 10 UNION ALL BY NAME SELECT 11)

/** How the editor colours the language. */

import { SQLDialect } from "@codemirror/lang-sql";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const KEYWORDS =
  "all and anti any as asc asof assert at between broadcast by case cast create cross current default desc describe "
  + "distinct drop else end escape event events except exclude exists explain false filter first following from full "
  + "function glob group grouping having if ignore ilike in inner intersect into is join last lateral left like limit "
  + "macro materialized message mount natural not null nulls of offset on or order outer over partition partitioned "
  + "preceding qualify range recursive regexp replace respect right row rows select semi set show span spans table "
  + "temp temporary then to trace true try_cast unbounded union unmount using values view when where window with";

const TYPES =
  "array bigint blob bool boolean bytes date datetime decimal double float float32 float64 hugeint int int128 int16 "
  + "int32 int64 int8 integer interval json list map numeric real smallint string struct text time timestamp tinyint "
  + "ubigint uint128 uint16 uint32 uint64 uint8 uuid varchar";

export const dialect = SQLDialect.define({
  keywords: KEYWORDS,
  types: TYPES,
  builtin: "",
  hashComments: true,
  identifierQuotes: '`"',
  operatorChars: "*+-%<>!=&|~^/",
  caseInsensitiveIdentifiers: true,
});

/** Colours are roles of the page, so that light and dark follow by themselves. */
const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.bool, tags.null], color: "var(--sql-keyword)", fontWeight: "600" },
  { tag: tags.typeName, color: "var(--sql-type)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--sql-string)" },
  { tag: tags.number, color: "var(--sql-number)" },
  { tag: tags.comment, color: "var(--sql-comment)", fontStyle: "italic" },
]);

const surface = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", backgroundColor: "var(--surface)", color: "var(--ink)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)", padding: "6px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--faint)", border: "none" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine, &.cm-focused .cm-activeLineGutter": { backgroundColor: "var(--sunken)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "var(--chosen)",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--chosen)", outline: "1px solid var(--strong-rule)" },
  ".cm-placeholder": { color: "var(--faint)" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--strong-rule)", borderRadius: "5px",
    boxShadow: "var(--shadow)", zIndex: "30",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "16em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 8px 2px 4px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionDetail": { color: "var(--faint)", marginLeft: "1.2em", fontStyle: "normal" },
  ".cm-tooltip-autocomplete ul li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-diagnostic": { fontFamily: "var(--ui)", padding: "5px 10px", whiteSpace: "pre-wrap", maxWidth: "52em" },
  ".cm-diagnostic-error": { borderLeft: "4px solid var(--bad)" },
  ".cm-diagnostic small": { color: "var(--faint)", fontSize: "12px", display: "block" },
});

export const look = [surface, syntaxHighlighting(colours)];

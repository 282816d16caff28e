/** Short names for queries and statements. */

/** What a tab is called: the table that is read, else how the text begins. */
export function titleOf(sql: string): string {
  const text = sql.replace(/--.*|#.*|\/\*[^]*?\*\//g, " ").trim();
  const froms = /^(SELECT|WITH|FROM|\()/i.test(text) ? [...text.matchAll(/\bFROM\s+([\w.`|:-]+)/gi)] : [];
  const found = froms[froms.length - 1]?.[1]?.replaceAll("`", "") ?? text.split(/\s+/).slice(0, 3).join(" ");
  return found.length > 28 ? `…${found.slice(-27)}` : found || "query";
}

/** What a statement is about: the comment before it, else the table it reads. */
export function headingOf(sql: string): string {
  const comment = /^\s*(?:--|#)\s*(.+)/.exec(sql)?.[1]?.trim();
  return comment ? (comment.length > 90 ? `${comment.slice(0, 89)}…` : comment) : titleOf(sql);
}

/** One HTML file of a view: the page's own script and style inside, allowed by their hashes and nothing else. */

import { toBase64 } from "./bytes";
import { ELEMENT, type SavedView } from "./format";

async function hash(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `'sha256-${toBase64(new Uint8Array(digest))}'`;
}

/** A script that ends only where it should: `<` is written otherwise before what HTML would read as a tag or comment. */
export function safeScript(script: string): string {
  return script.replace(/<(?=\/script|!--)/gi, "\\x3C");
}

/** JSON in which no tag can begin. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter]!);

export interface Parts {
  readonly title: string;
  readonly version: string;
  readonly script: string;
  readonly style: string;
  readonly view: SavedView;
}

export async function htmlOf({ title, version, script, style, view }: Parts): Promise<string> {
  const code = safeScript(script);
  const sheet = style.replace(/<(?=\/style)/gi, "\\3c ");
  const policy = `default-src 'none'; script-src ${await hash(code)}; style-src ${await hash(sheet)}; img-src data: blob:; base-uri 'none'; form-action 'none'`;
  return [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    `<meta name="generator" content="dctv ${escaped(version)}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${escaped(title)}</title>`,
    `<style>${sheet}</style>`,
    "</head>",
    "<body>",
    '<div id="app"></div>',
    "<noscript>This saved view needs JavaScript.</noscript>",
    `<script type="application/json" id="${ELEMENT}">${safeJson(view)}</script>`,
    `<script>${code}</script>`,
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

/** What to do with a file that is opened on the page. */

export type Sort = "report" | "saved" | "trace";

/** A web page is a trace only if it holds one, as systrace's do. */
export function sortOf(name: string, begin: string): Sort {
  if (/\.sql$/i.test(name)) return "report";
  return /\.html?$/i.test(name) && /<meta name="generator" content="dctv[ "]/.test(begin) ? "saved" : "trace";
}

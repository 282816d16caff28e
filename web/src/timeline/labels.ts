/** Texts on canvases: what fits into a width, measured once for each name. */

const widths = new Map<string, number>();
const MOST = 30_000;
export const FONT = '"Inter", system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif';
export const LABEL_SIZE = 11;
const measuring = document.createElement("canvas").getContext("2d");

/** The width of a text at the size of labels, in CSS pixels. */
export function widthOf(text: string): number {
  let width = widths.get(text);
  if (width === undefined) {
    if (widths.size > MOST) widths.clear();
    if (measuring) measuring.font = `${LABEL_SIZE}px ${FONT}`;
    width = measuring ? measuring.measureText(text).width : text.length * 6;
    widths.set(text, width);
  }
  return width;
}

/** Returns the text, or its begin with an ellipsis, or nothing if not even some letters fit. */
export function fitted(text: string, room: number): string {
  const short = text.length > 200 ? text.slice(0, 200) : text;
  const width = widthOf(short);
  if (width <= room) return short;
  for (let letters = Math.min(Math.floor(((room - 6) / width) * short.length), short.length - 1); letters >= 2; letters--) {
    const part = `${short.slice(0, letters)}…`;
    if (widthOf(part) <= room) return part;
  }
  return "";
}

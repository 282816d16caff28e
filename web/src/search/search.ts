import { batch, signal } from "@preact/signals";
import { api } from "../api/api";
import { isAbort, type Match, type SearchRequest } from "../api/types";
import { pushView } from "../state/address";
import { matchAt, matches } from "../state/found";
import { fromTime } from "../state/session";
import { noteError } from "../state/session";
import { offsetOf } from "../state/tracks";
import { viewport } from "../state/view";
import { goToMatch } from "../timeline/choose";

export const searchText = signal("");
/** Whether more is being found, and whether there is more than is kept. */
export const searching = signal(false);
export const more = signal(false);
export const searchFault = signal<string | null>(null);

const FIRST = 200;
const PAGE = 10_000;
const MOST = 50_000;
let stop: AbortController | undefined;

/** What a text in the search bar asks for: `where ...` is SQL, all else names. */
export function requestOf(text: string): SearchRequest | null {
  const predicate = /^\s*where\s+(.+)$/is.exec(text);
  if (predicate) return { where: predicate[1]! };
  return text.trim() ? { text: text.trim() } : null;
}

/** Finds all matches; the first are there soon, the others follow. */
export async function search(text: string): Promise<void> {
  stop?.abort();
  batch(() => {
    searchText.value = text;
    matches.value = [];
    matchAt.value = -1;
    more.value = false;
    searchFault.value = null;
  });
  const asked = requestOf(text);
  if (!asked) {
    searching.value = false;
    return;
  }
  const own = (stop = new AbortController());
  searching.value = true;
  try {
    let rest = true;
    while (rest && matches.value.length < MOST) {
      const last = matches.value.at(-1);
      const request = { ...asked, ...(last && { from: last.from }), limit: last ? PAGE : FIRST };
      const found = await api().search(request, own.signal);
      // The first of a page may be the last of the one before: those that begin at the same time.
      const known = new Set(matches.value.filter((match) => match.from === last?.from).map(keyOf));
      const fresh = found.matches.filter((match) => !known.has(keyOf(match)));
      rest = found.more && fresh.length > 0;
      batch(() => {
        matches.value = [...matches.value, ...fresh];
        more.value = found.more;
      });
    }
  } catch (error) {
    if (isAbort(error)) return;
    searchFault.value = error instanceof Error ? error.message : String(error);
  } finally {
    if (stop === own) searching.value = false;
  }
}

function keyOf(match: Match): string {
  return `${match.track}/${match.row}`;
}

/** Goes to the next or the previous match: at first to the one that is nearest to what is seen. */
export function toMatch(by: 1 | -1): void {
  const found = matches.value;
  if (!found.length) return;
  let at = matchAt.value + by;
  if (matchAt.value < 0) {
    const { from } = viewport.value;
    const after = found.findIndex((match) => fromTime(match.from) + offsetOf(match.track) >= from);
    at = by > 0 ? (after < 0 ? 0 : after) : (after <= 0 ? found.length : after) - 1;
  }
  if (at >= found.length && more.value) return void beyond();
  matchAt.value = (at + found.length) % found.length;
  pushView();
  goToMatch(found[matchAt.value]!);
}

/** There are more matches than are kept: asks for those that follow the last. */
async function beyond(): Promise<void> {
  const asked = requestOf(searchText.value);
  const last = matches.value.at(-1);
  if (!asked || !last) return;
  try {
    const found = await api().search({ ...asked, from: last.from, direction: "next", limit: PAGE });
    if (!found.matches.length) return;
    matches.value = found.matches;
    more.value = found.more;
    matchAt.value = 0;
    goToMatch(found.matches[0]!);
  } catch (error) {
    noteError(error);
  }
}

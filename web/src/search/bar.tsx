import { useEffect, useRef } from "preact/hooks";
import { matchAt, matches } from "../state/found";
import { whole } from "../text/amounts";
import { more, search, searchFault, searching, searchText, toMatch } from "./search";

const WAIT_MS = 180;
let field: HTMLInputElement | null = null;

export function focusSearch(): void {
  field?.focus();
  field?.select();
}

/** Finds slices by name, pattern or SQL. */
export function SearchBar() {
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  useEffect(() => {
    field = input.current;
  }, []);
  const now = (text: string) => {
    clearTimeout(timer.current);
    timer.current = undefined;
    if (text !== searchText.value) void search(text);
  };
  const key = (event: KeyboardEvent) => {
    const { value } = event.currentTarget as HTMLInputElement;
    if (event.key === "Enter") {
      event.preventDefault();
      if (value === searchText.value) toMatch(event.shiftKey ? -1 : 1);
      else void search(value).then(() => toMatch(1));
      clearTimeout(timer.current);
    } else if (event.key === "Escape") {
      event.stopPropagation();
      if (value) {
        (event.currentTarget as HTMLInputElement).value = "";
        now("");
      } else (event.currentTarget as HTMLInputElement).blur();
    }
  };
  return (
    <div class={`search${searchFault.value ? " wrong" : ""}`} role="search">
      <span class="glass" aria-hidden="true" />
      <input
        ref={input}
        type="text"
        aria-label="Search slices"
        placeholder="Search names, re:pattern, or where _duration > 5ms"
        title="A part of a name; re: and a regular expression; or where and an SQL condition over name, _ts, _duration, lane and track"
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => {
          const { value } = event.currentTarget;
          clearTimeout(timer.current);
          timer.current = setTimeout(() => now(value), WAIT_MS);
        }}
        onKeyDown={key}
      />
      <span class="count" role="status">{countText()}</span>
      <button type="button" class="icon" aria-label="Previous match" title="Previous match (Shift+N)" disabled={!matches.value.length} onClick={() => toMatch(-1)}>↑</button>
      <button type="button" class="icon" aria-label="Next match" title="Next match (N)" disabled={!matches.value.length} onClick={() => toMatch(1)}>↓</button>
      {searchFault.value && <div class="fault" role="alert">{searchFault.value}</div>}
    </div>
  );
}

function countText(): string {
  if (!searchText.value || searchFault.value) return "";
  const count = matches.value.length;
  if (!count) return searching.value ? "…" : "none";
  const of = `${whole(count)}${more.value ? "+" : ""}${searching.value ? "…" : ""}`;
  return matchAt.value >= 0 ? `${whole(matchAt.value + 1)} of ${of}` : of;
}

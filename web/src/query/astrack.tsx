/** Makes a track of a result of spans or events, pinned above the others. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError, type Column, type Track } from "../api/types";
import { note } from "../state/session";
import { addTracks, tracks } from "../state/tracks";
import { removeMade } from "./made";
import type { Run } from "./runs";
import { isNumeric } from "./values";

const NONE = "";

export function AddTrack({ run, columns }: { readonly run: Run; readonly columns: readonly Column[] }) {
  const free = columns.filter((column) => column.name !== "_ts" && column.name !== "_duration");
  const texts = free.filter((column) => !isNumeric(column.type));
  const numbers = free.filter((column) => isNumeric(column.type));
  const [open, setOpen] = useState(false);
  const [name, setName] = useState(texts[0]?.name ?? NONE);
  const [value, setValue] = useState(NONE);
  const [title, setTitle] = useState(run.title);
  const [error, setError] = useState<ApiError | null>(null);
  const [made, setMade] = useState<readonly Track[]>([]);
  const [waiting, setWaiting] = useState(false);
  const toggle = useRef<HTMLButtonElement>(null);
  const first = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => first.current?.select(), [open]);
  const there = made.filter((track) => tracks.value.some((each) => each.id === track.id));

  async function add(event: Event): Promise<void> {
    event.preventDefault();
    setWaiting(true);
    setError(null);
    try {
      const added = await addTracks({ sql: run.sql, ...(name && { name }), ...(value && { value }), ...(title && { title }) });
      setMade([...there, ...added]);
      setOpen(false);
      note(`${title || "The result"} is a track now, pinned at the top`);
    } catch (refused) {
      setError(refused instanceof ApiError ? refused : new ApiError(0, String(refused)));
    } finally {
      setWaiting(false);
    }
  }

  async function remove(): Promise<void> {
    await removeMade(there.map((track) => track.id));
    setMade([]);
  }

  function close(): void {
    setOpen(false);
    toggle.current?.focus();
  }

  return (
    <span class="add-track">
      {there.length > 0 && <button type="button" onClick={() => void remove()}>Remove track</button>}
      <button ref={toggle} type="button" class="primary" aria-expanded={open} onClick={() => setOpen(!open)}>
        Add as track
      </button>
      {open && (
        <form
          class="popover"
          aria-label="Add as track"
          onSubmit={(event) => void add(event)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.stopPropagation();
            close();
          }}
        >
          <label>
            <span>Title</span>
            <input type="text" ref={first} value={title} onInput={(event) => setTitle(event.currentTarget.value)} />
          </label>
          <label>
            <span>Names from</span>
            <select value={name} onChange={(event) => setName(event.currentTarget.value)}>
              <option value={NONE}>nothing</option>
              {free.map((column) => <option key={column.name}>{column.name}</option>)}
            </select>
          </label>
          <label>
            <span>Value from</span>
            <select value={value} onChange={(event) => setValue(event.currentTarget.value)}>
              <option value={NONE}>nothing: slices</option>
              {numbers.map((column) => <option key={column.name}>{column.name}</option>)}
            </select>
          </label>
          {error && <p class="error-text" role="alert">{error.message}{error.hint && <small>{error.hint}</small>}</p>}
          <div class="popover-end">
            <button type="button" onClick={close}>Cancel</button>
            <button type="submit" class="primary" disabled={waiting}>{waiting ? "Adding…" : "Add"}</button>
          </div>
        </form>
      )}
    </span>
  );
}

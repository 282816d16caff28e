import { signal } from "@preact/signals";
import { Dialog } from "../commands/dialog";
import { offsets, tracks } from "../state/tracks";
import { exactTime, parseTime } from "../text/times";

const open = signal(false);
const wrong = signal<string | null>(null);

export function openOffsets(): void {
  open.value = true;
}

export function resetOffsets(): void {
  offsets.value = new Map();
}

/** Moves traces in time against each other, by a time that is typed. */
export function OffsetsDialog() {
  if (!open.value) return null;
  const mounts = [...new Set(tracks.value.map((track) => track.mount).filter((mount) => mount !== null))];
  const set = (mount: string, text: string) => {
    const time = text.trim() === "" ? 0 : parseTime(text);
    wrong.value = time === null ? mount : null;
    if (time !== null) offsets.value = new Map(offsets.value).set(mount, time);
  };
  return (
    <Dialog title="Align traces" close={() => (open.value = false)}>
      <p class="hint">All of a trace is shown so much later, or earlier with a minus: 1.5 ms, -20 us, 3 s. Alt+drag on its tracks does the same.</p>
      <div class="form">
        {mounts.map((mount) => (
          <label key={mount}>
            <span>{mount}</span>
            <input
              type="text"
              value={exactTime(offsets.value.get(mount) ?? 0)}
              aria-invalid={wrong.value === mount}
              onChange={(event) => set(mount, event.currentTarget.value)}
            />
          </label>
        ))}
      </div>
      {wrong.value && <p class="bad" role="alert">expected a time with a unit, as 1.5 ms</p>}
      <div class="actions">
        <button type="button" onClick={resetOffsets}>Reset all</button>
        <button type="button" class="primary" onClick={() => (open.value = false)}>Done</button>
      </div>
    </Dialog>
  );
}

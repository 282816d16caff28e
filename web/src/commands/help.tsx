import { signal } from "@preact/signals";
import { commands, type Command } from "./commands";
import { Dialog } from "./dialog";

const open = signal(false);

export function openHelp(): void {
  open.value = true;
}

export function shownKeys(command: Command): readonly string[] {
  return [...(command.keys ?? []), ...(command.shownKeys ?? [])];
}

const GROUPS = ["Move", "Select", "Tracks", "View", "Query", "File"] as const;

/** All keys. */
export function HelpDialog() {
  if (!open.value) return null;
  return (
    <Dialog title="Keys" close={() => (open.value = false)} wide>
      <div class="help">
        {GROUPS.map((group) => {
          const own = commands.value.filter((command) => command.group === group && shownKeys(command).length);
          return own.length > 0 && (
            <section key={group}>
              <h3>{group}</h3>
              <dl>
                {own.map((command) => (
                  <div key={command.id}>
                    <dt>{shownKeys(command).map((key) => <kbd key={key}>{key}</kbd>)}</dt>
                    <dd>{command.title}</dd>
                  </div>
                ))}
              </dl>
            </section>
          );
        })}
        <section>
          <h3>Pointer</h3>
          <dl>
            {POINTER.map(([what, does]) => <div key={what}><dt><kbd>{what}</kbd></dt><dd>{does}</dd></div>)}
          </dl>
        </section>
      </div>
      <div class="actions"><button type="button" class="primary" onClick={() => (open.value = false)}>Close</button></div>
    </Dialog>
  );
}

const POINTER = [
  ["Drag", "Move in time and through the tracks"],
  ["Shift drag", "Select time and tracks"],
  ["Drag on ruler", "Select time"],
  ["Ctrl wheel", "Zoom at the pointer"],
  ["Shift wheel", "Move in time"],
  ["Alt drag", "Move a trace against the others"],
  ["Double click", "Zoom to the slice"],
] as const;

import { signal } from "@preact/signals";

/** Something that can be done; the palette lists all, and their keys work everywhere but in fields of text. */
export interface Command {
  readonly id: string;
  readonly title: string;
  /** What it stands under in the list of keys. */
  readonly group: "Move" | "Select" | "Tracks" | "View" | "Query" | "File";
  /** Keys as `Ctrl+K`, `Shift+N`, `/`; each alone does it. Ctrl is also Cmd. */
  readonly keys?: readonly string[];
  /** Keys that stand in the list only, since something else listens to them. */
  readonly shownKeys?: readonly string[];
  readonly run: () => void;
  readonly enabled?: () => boolean;
}

export const commands = signal<readonly Command[]>([]);

export function addCommands(...added: readonly Command[]): void {
  commands.value = [...commands.value, ...added];
}

export function runCommand(id: string): void {
  const found = commands.value.find((command) => command.id === id);
  if (found && (found.enabled?.() ?? true)) found.run();
}

/** Writes the key of an event as commands do. */
export function keyOf(event: KeyboardEvent): string {
  const letter = event.key.length === 1 && /[a-z]/i.test(event.key);
  const parts: string[] = [];
  if (event.ctrlKey || event.metaKey) parts.push("Ctrl");
  if (event.altKey) parts.push("Alt");
  if (event.shiftKey && (letter || event.key.length > 1)) parts.push("Shift");
  parts.push(letter ? event.key.toUpperCase() : event.key);
  return parts.join("+");
}

export function isTextField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable) return true;
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
    || (target instanceof HTMLInputElement && !["checkbox", "radio", "button", "range"].includes(target.type));
}

/** Runs the command of a key; returns whether there was one. */
export function takeKey(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return false;
  const key = keyOf(event);
  if (isTextField(event.target) && !key.startsWith("Ctrl+")) return false;
  const found = commands.value.find((command) => command.keys?.includes(key) && (command.enabled?.() ?? true));
  if (!found) return false;
  event.preventDefault();
  found.run();
  return true;
}

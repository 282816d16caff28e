import { computed, signal } from "@preact/signals";
import { api } from "../api/api";
import { ApiError, isAbort, type ServerEvent, type SessionInfo, type Time } from "../api/types";

/** What is mounted; null until the server has answered once. */
export const session = signal<SessionInfo | null>(null);
export const connection = signal<"opening" | "open" | "lost" | "ended">("opening");
/** When the session begins, in ns: all times of the page are numbers of ns since then. */
export const begin = signal(0n);
/** How long the session is, in ns. */
export const length = signal(0);

export interface Busy {
  readonly what: string;
  readonly done: number | null;
  readonly total: number | null;
}

/** What the server is busy with. */
export const serverBusy = signal<Busy | null>(null);
const jobs = signal<readonly Job[]>([]);

interface Job extends Busy {
  readonly stop: AbortController;
}

/** What is shown as running: what the page waits for, with what the server says about it. */
export const busy = computed<Busy | null>(() => {
  const job = jobs.value.at(-1);
  const told = serverBusy.value;
  return job ? { ...job, done: told?.done ?? null, total: told?.total ?? null } : told;
});

/** Returns a time of the page as the server writes it. */
export function toTime(relative: number): Time {
  return (begin.value + BigInt(Math.round(relative))).toString();
}

/** Returns a time of the server as ns since the session's begin. */
export function fromTime(time: Time): number {
  return Number(BigInt(time) - begin.value);
}

/** Runs what may take long; the user sees `what` and can stop it. */
export async function running<T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const job: Job = { what, done: null, total: null, stop: new AbortController() };
  jobs.value = [...jobs.value, job];
  try {
    return await work(job.stop.signal);
  } finally {
    jobs.value = jobs.value.filter((each) => each !== job);
  }
}

/** Stops all that runs, here and at the server. */
export function interrupt(): void {
  for (const job of jobs.value) job.stop.abort();
  void api().interrupt().catch(() => undefined);
}

type Mount = SessionInfo["mounts"][number];

export interface Note {
  readonly id: number;
  readonly message: string;
  readonly hint: string | null;
  readonly bad: boolean;
}

export const notes = signal<readonly Note[]>([]);
let lastNote = 0;

/** Tells the user something for some seconds. */
export function note(message: string, options: { hint?: string | null; bad?: boolean } = {}): void {
  const made: Note = { id: ++lastNote, message, hint: options.hint ?? null, bad: options.bad ?? false };
  notes.value = [...notes.value.slice(-3), made];
  setTimeout(() => dropNote(made.id), made.bad ? 12_000 : 5_000);
}

export function dropNote(id: number): void {
  notes.value = notes.value.filter((each) => each.id !== id);
}

/** Tells what went wrong, unless it was only stopped. */
export function noteError(error: unknown): void {
  if (isAbort(error)) return;
  if (error instanceof ApiError) {
    if (error.status === 409) return;
    if (error.status === 0 && connection.value === "lost") return;
    note(error.message, { hint: error.hint, bad: true });
  } else note(String(error), { bad: true });
}

/** What is heard of mounts while answers are on their way, for each of these. */
const heard = new Set<Mount[]>();

export async function loadSession(): Promise<void> {
  const meanwhile: Mount[] = [];
  heard.add(meanwhile);
  try {
    session.value = await api().session();
  } finally {
    heard.delete(meanwhile);
  }
  // The answer may be older than what was told since it was asked for, such as that a trace cannot be opened.
  meanwhile.forEach(takeMount);
}

/** Takes what an event says about mounts and what runs. */
export function takeEvent(event: ServerEvent): void {
  if (event.type === "open") connection.value = "open";
  else if (event.type === "lost" && connection.value !== "ended") connection.value = "lost";
  else if (event.type === "end") connection.value = "ended";
  else if (event.type === "busy") serverBusy.value = event;
  else if (event.type === "idle") serverBusy.value = null;
  else if (event.type === "note") note(event.message);
  else if (event.type === "mount") takeMount(event.mount);
}

function takeMount(mount: Mount): void {
  for (const meanwhile of heard) meanwhile.push(mount);
  const known = session.value;
  if (!known) return;
  const has = known.mounts.some((each) => each.name === mount.name);
  const mounts = has
    ? known.mounts.map((each) => (each.name === mount.name ? mount : each))
    : [...known.mounts, mount];
  session.value = { ...known, mounts };
}

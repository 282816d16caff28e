/** Roles of colours that canvases draw with: the same as `dctv draw` has. */

const HUES = ["#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff", "#44bb99", "#bbcc33", "#b9b14a", "#c3a6e6"] as const;
const NAMELESS = "#bfc3ca";
const HALF = 0.42;
const LIGHT = {
  background: "#ffffff", ink: "#1f2328", faint: "#5a626c", "on-fill": "#14171a", "on-pale": "#1f2328",
  grid: "#e9ebee", zero: "#a9b0b9", rule: "#dfe2e6", tick: "#8b939d", band: "#e9edf2", "band-inner": "#f4f6f9",
  line: "#1d5f9e", range: "#8fbce6", area: "#dcebf8",
  running: "#3fae7c", runnable: "#8ecbf2", sleeping: "#e3e6ea", uninterruptible: "#ec7a4b", stopped: "#d7a6cf",
  ended: "#a3a9b2", unknown: "#cfd3d8",
  accent: "#1d5f9e", found: "#d99b00", flow: "#8a3ffc", critical: "#c2185b",
};
export type BaseRole = keyof typeof LIGHT;
const DARK: Record<BaseRole, string> = {
  ...LIGHT,
  background: "#1c1e22", ink: "#e6e8eb", faint: "#a2a9b3", "on-pale": "#f0f2f4", grid: "#2a2d33", zero: "#6b727c",
  rule: "#30343b", tick: "#7d858f", band: "#2d3239", "band-inner": "#23262c", line: "#8cc4f5", range: "#3f76a8",
  area: "#253a4e", sleeping: "#3b4048", unknown: "#5b616a", ended: "#7b828c",
  accent: "#8cc4f5", found: "#ffd75e", flow: "#c49bff", critical: "#ff7fab",
};
const STATES: Readonly<Record<string, string>> = {
  running: "running oncpu on-cpu executing active busy",
  runnable: "runnable r r+ ready preempted waking wakeup runnable(preempted) waitcpu wait_cpu",
  sleeping: "sleeping s sleep interruptible interruptiblesleep sleeping(interruptible) waiting wait idle i parked p",
  uninterruptible:
    "uninterruptible d d+ dk uninterruptiblesleep disksleep blocked iowait io-wait waitblocked "
    + "uninterruptible(io) uninterruptiblesleep(io) uninterruptiblesleep(non-io) d(io) d|k",
  stopped: "stopped t traced trace tracingstop",
  ended: "ended x z dead zombie exit exited terminated exit(dead) exit(zombie)",
  unknown: "unknown",
};
const KNOWN = new Map(
  Object.entries(STATES).flatMap(([role, words]) => words.split(" ").map((word) => [word, role] as const)),
);

/** Fills, each with a place: those of names first, then of what has no name, then of states. */
const FILLS = [...HUES.map((_, place) => `hue${place}`), "nameless", ...Object.keys(STATES)];
export const NO_HUE = HUES.length;
export const FILL_COUNT = FILLS.length;
const STATE_BEGIN = HUES.length + 1;
const STATE_PLACES = new Map(Object.keys(STATES).map((role, place) => [role, STATE_BEGIN + place]));

const TABLE = new Uint32Array(256).map((_, place) => {
  let value = place;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});
const encoder = new TextEncoder();

/** CRC-32 of a text in UTF-8, as zlib computes it. */
export function crc32(text: string): number {
  let value = 0xffffffff;
  for (const byte of encoder.encode(text)) value = TABLE[(value ^ byte) & 255]! ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

const hues = new Map<string, number>();

/** Returns the place of the colour that a name has in every picture. */
export function hueOf(name: string | null): number {
  if (!name) return NO_HUE;
  let found = hues.get(name);
  if (found === undefined) {
    if (hues.size > 50_000) hues.clear();
    found = crc32(name) % HUES.length;
    hues.set(name, found);
  }
  return found;
}

/** Returns the place of a state's colour: one that everybody knows, or that of its name. */
export function stateFill(name: string | null): number {
  const word = (name ?? "").slice(0, 64).toLowerCase().replace(/\s+/g, "");
  const role = KNOWN.get(word);
  return role === undefined ? hueOf(name) : (STATE_PLACES.get(role) ?? NO_HUE);
}

export interface Palette {
  readonly dark: boolean;
  readonly of: Readonly<Record<BaseRole, string>>;
  /** Colours of fills by place, what is written on them, and paler ones. */
  readonly fills: readonly string[];
  readonly inks: readonly string[];
  readonly pales: readonly string[];
}

function made(dark: boolean): Palette {
  const of = dark ? DARK : LIGHT;
  const fills = [...HUES, NAMELESS, ...Object.keys(STATES).map((role) => of[role as BaseRole])];
  const inks = FILLS.map((role) => (role === "sleeping" || role === "unknown" ? of["on-pale"] : of["on-fill"]));
  return { dark, of, fills, inks, pales: fills.map((colour) => mixed(colour, of.background)) };
}

function mixed(colour: string, background: string): string {
  const parts = [1, 3, 5].map((at) => {
    const part = HALF * parseInt(colour.slice(at, at + 2), 16) + (1 - HALF) * parseInt(background.slice(at, at + 2), 16);
    return Math.round(part).toString(16).padStart(2, "0");
  });
  return `#${parts.join("")}`;
}

const PALETTES = { light: made(false), dark: made(true) };

export function palette(dark: boolean): Palette {
  return dark ? PALETTES.dark : PALETTES.light;
}

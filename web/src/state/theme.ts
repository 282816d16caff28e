import { computed, effect, signal } from "@preact/signals";
import { kept, keep } from "./kept";

export type Theme = "light" | "dark" | "auto";

const dark = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(dark.matches);
dark.addEventListener("change", () => (systemDark.value = dark.matches));

/** What the user chose; `auto` follows the system. */
export const theme = signal<Theme>(read());
export const isDark = computed(() => (theme.value === "auto" ? systemDark.value : theme.value === "dark"));

function read(): Theme {
  const found = kept("theme");
  return found === "light" || found === "dark" ? found : "auto";
}

export function setTheme(chosen: Theme): void {
  theme.value = chosen;
  keep("theme", chosen);
}

export function toggleTheme(): void {
  setTheme(isDark.value ? "light" : "dark");
}

effect(() => {
  document.documentElement.dataset["theme"] = isDark.value ? "dark" : "light";
});

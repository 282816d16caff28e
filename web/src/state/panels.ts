import { signal, type ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

/** A tab of the lower part of the page. */
export interface Panel {
  readonly id: string;
  readonly title: string;
  /** Tabs stand in this order. */
  readonly order: number;
  readonly render: () => ComponentChildren;
  /** A short text beside the title, e.g. how many rows there are. */
  readonly badge?: ReadonlySignal<string | null>;
  /** Whether the tab is there at all; it is unless this says no. */
  readonly shown?: ReadonlySignal<boolean>;
}

export const panels = signal<readonly Panel[]>([]);
/** The tab that is open; null when the lower part is closed. */
export const openPanel = signal<string | null>(null);
/** Height of the lower part, in CSS pixels. */
export const panelHeight = signal(Math.round(Math.min(Math.max(innerHeight * 0.32, 180), 340)));

export function addPanel(panel: Panel): void {
  panels.value = [...panels.value, panel].sort((a, b) => a.order - b.order);
}

export function showPanel(id: string): void {
  openPanel.value = id;
}

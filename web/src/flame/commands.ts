/** The flame graph's tab and commands. */

import { createElement } from "preact";
import { api } from "../api/api";
import { addCommands } from "../commands/commands";
import { addPanel } from "../state/panels";
import { FlamePanel } from "./panel";
import { flameOfSelection } from "./state";

const live = (): boolean => api().live;

export function addFlame(): void {
  addPanel({ id: "flame", title: "Flame graph", order: 40, render: () => createElement(FlamePanel, null) });
  addCommands(
    { id: "flame.slices", title: "Flame graph of slices in the selection", group: "Select", keys: ["G"], run: () => flameOfSelection("slices"), enabled: live },
    { id: "flame.samples", title: "Flame graph of samples in the selection", group: "Select", keys: ["Shift+G"], run: () => flameOfSelection("samples"), enabled: live },
  );
}

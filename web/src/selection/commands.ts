/** The tab of the selected area, and its commands. */

import { computed } from "@preact/signals";
import { createElement } from "preact";
import { addCommands } from "../commands/commands";
import { addPanel, showPanel } from "../state/panels";
import { area } from "../state/view";
import { SelectionPanel, zoomTo } from "./panel";
import { followArea, selection } from "./state";

const some = (): boolean => area.value !== null;

export function addSelection(): void {
  addPanel({
    id: "selection",
    title: "Selection",
    order: 20,
    render: () => createElement(SelectionPanel, null),
    badge: computed(() => {
      const rows = selection.value?.tables?.reduce((sum, table) => sum + table.rows.length, 0) ?? 0;
      return rows > 0 ? String(rows) : null;
    }),
  });
  addCommands(
    { id: "area.zoom", title: "Zoom to the selected area", group: "Select", keys: ["Z"], run: () => zoomTo(area.value!), enabled: some },
    { id: "area.table", title: "Show what the selected area holds", group: "Select", run: () => showPanel("selection"), enabled: some },
    { id: "area.clear", title: "Clear the selected area", group: "Select", run: () => (area.value = null), enabled: some },
  );
  followArea();
}

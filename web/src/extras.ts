import { addDrop } from "./drop/commands";
import { addFlame } from "./flame/commands";
import { addQuery } from "./query/commands";
import { addReport } from "./report/commands";
import { addSave } from "./save/commands";
import { addSelection } from "./selection/commands";

/** Adds the tabs and commands of query, selection, flame, report, save and drop. */
export function addExtras(): void {
  addSelection();
  addQuery();
  addFlame();
  addReport();
  addDrop();
  addSave();
}

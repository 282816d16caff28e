import { computed } from "@preact/signals";
import { addPanel } from "../state/panels";
import { marks } from "../state/view";
import { Details } from "./details";
import { Marks } from "./marks";

export function addOwnPanels(): void {
  addPanel({ id: "details", title: "Details", order: 10, render: () => <Details /> });
  addPanel({
    id: "marks", title: "Marks", order: 70, render: () => <Marks />,
    badge: computed(() => (marks.value.length ? String(marks.value.length) : null)),
  });
}

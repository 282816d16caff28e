/** The tab of reports, and its commands. */

import { computed } from "@preact/signals";
import { createElement } from "preact";
import { addCommands } from "../commands/commands";
import { addPanel } from "../state/panels";
import { ReportPanel } from "./panel";
import { counts, report, runGivenReport, runReport, stopReport } from "./state";

export function addReport(): void {
  addPanel({
    id: "report",
    title: "Report",
    order: 50,
    render: () => createElement(ReportPanel, null),
    badge: computed(() => {
      const bad = counts.value.failed + counts.value.errors;
      return bad > 0 ? `${bad} ✗` : report.value?.state === "done" ? "✓" : null;
    }),
  });
  addCommands(
    {
      id: "report.again", title: "Report: run again", group: "Query",
      run: () => void runReport(report.value!.name, report.value!.text),
      enabled: () => report.value !== null && report.value.state !== "running",
    },
    { id: "report.stop", title: "Report: stop", group: "Query", run: stopReport, enabled: () => report.value?.state === "running" },
  );
  runGivenReport();
}

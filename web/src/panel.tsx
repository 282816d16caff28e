import { Split } from "./split";
import { openPanel, panelHeight, panels } from "./state/panels";

/** The lower part of the page: one tab is open, or none. */
export function BottomPanel() {
  const shown = panels.value.filter((panel) => panel.shown?.value ?? true);
  const open = shown.find((panel) => panel.id === openPanel.value);
  return (
    <section class="bottom" aria-label="Details and queries">
      {open && (
        <Split
          label="Height of the lower part" value={panelHeight.value} least={80} most={Math.max(innerHeight - 260, 120)}
          sign={-1} set={(value) => (panelHeight.value = value)}
        />
      )}
      <div class="tabs" role="tablist" aria-label="Details and queries">
        {shown.map((panel) => (
          <button
            key={panel.id}
            type="button"
            role="tab"
            id={`tab-${panel.id}`}
            aria-selected={panel === open}
            aria-controls={`panel-${panel.id}`}
            onClick={() => (openPanel.value = panel === open ? null : panel.id)}
          >
            {panel.title}
            {panel.badge?.value && <span class="badge">{panel.badge}</span>}
          </button>
        ))}
      </div>
      {open && (
        <div class="panel" role="tabpanel" tabIndex={0} style={{ height: `${panelHeight.value}px` }} id={`panel-${open.id}`} aria-labelledby={`tab-${open.id}`}>
          {open.render()}
        </div>
      )}
    </section>
  );
}

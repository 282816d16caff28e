import { openPanel, panels } from "./state/panels";

/** The lower part of the page: one tab is open, or none. */
export function BottomPanel() {
  const shown = panels.value.filter((panel) => panel.shown?.value ?? true);
  const open = shown.find((panel) => panel.id === openPanel.value);
  return (
    <section class="bottom" aria-label="Details and queries">
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
        <div class="panel" role="tabpanel" id={`panel-${open.id}`} aria-labelledby={`tab-${open.id}`}>
          {open.render()}
        </div>
      )}
    </section>
  );
}

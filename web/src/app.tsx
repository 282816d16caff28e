import { useEffect, useRef } from "preact/hooks";
import { runCommand } from "./commands/commands";
import { CommandPalette } from "./commands/palette";
import { HelpDialog } from "./commands/help";
import { Banners, Header, Notes } from "./header";
import { BottomPanel } from "./panel";
import { Split } from "./split";
import { session } from "./state/session";
import { filter, loaded, tracks } from "./state/tracks";
import { collapseAll, TrackTree } from "./tracks/tree";
import { layout } from "./tracks/layout";
import { OffsetsDialog } from "./tracks/offsets";
import { mostScroll, pinnedHeight, scrolledHeight, scrollTo, shownTop, treeWidth } from "./tracks/scroll";
import { TimeAxis, Timeline } from "./timeline/timeline";

/** The regions of the page. */
export function App() {
  return (
    <div class="app">
      <Header />
      <Banners />
      <main class="work" aria-label="Timeline">
        <div class="top">
          <FilterBox />
          <Split label="Width of the names" quiet vertical value={treeWidth.value} least={120} most={900} sign={1} set={(value) => (treeWidth.value = value)} />
          <TimeAxis />
        </div>
        <div class="body">
          <TrackTree />
          <Split label="Width of the names" vertical value={treeWidth.value} least={120} most={900} sign={1} set={(value) => (treeWidth.value = value)} />
          <Timeline />
          <ScrollBar />
          <Empty />
        </div>
      </main>
      <BottomPanel />
      <Notes />
      <CommandPalette />
      <HelpDialog />
      <OffsetsDialog />
    </div>
  );
}

function FilterBox() {
  return (
    <div class="filter" style={{ width: `${treeWidth.value}px` }}>
      <input
        type="text"
        aria-label="Filter tracks"
        placeholder="Filter tracks"
        value={filter.value}
        spellcheck={false}
        onInput={(event) => (filter.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          if (filter.value) filter.value = "";
          else event.currentTarget.blur();
        }}
      />
      <button type="button" class="icon" title="Close all groups" aria-label="Close all groups" onClick={() => collapseAll(true)}>⊟</button>
      <button type="button" class="icon" title="Open all groups" aria-label="Open all groups" onClick={() => collapseAll(false)}>⊞</button>
    </div>
  );
}

/** A bar that the browser draws; the tracks themselves are moved by the page, so that names and canvas stay together. */
function ScrollBar() {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const bar = element.current;
    if (bar && Math.abs(bar.scrollTop - shownTop.value) > 1) bar.scrollTop = shownTop.value;
  });
  void mostScroll.value;
  return (
    <div
      class="scrollbar"
      ref={element}
      aria-hidden="true"
      tabIndex={-1}
      style={{ top: `${pinnedHeight.value}px`, height: `${scrolledHeight.value}px` }}
      onScroll={(event) => {
        const top = event.currentTarget.scrollTop;
        if (Math.abs(top - shownTop.value) > 1) scrollTo(top);
      }}
    >
      <div style={{ height: `${layout.value.height + 40}px` }} />
    </div>
  );
}

function Empty() {
  const known = session.value;
  if (!known || tracks.value.length) return null;
  if (!loaded.value) return <div class="empty late"><p>The tracks are being read…</p></div>;
  if (known.mounts.some((mount) => mount.state === "mounting")) return <div class="empty"><p>The trace is being opened…</p></div>;
  if (known.mounts.some((mount) => mount.state === "ready")) {
    return <div class="empty"><h2>No tracks</h2><p>This trace has nothing that the timeline shows. Its tables can be asked in the SQL tab.</p></div>;
  }
  return (
    <div class="empty">
      <h2>No trace</h2>
      <p>Drop one here, or start with <code>dctv ui NAME=PATH</code>.</p>
      <button type="button" class="primary" onClick={() => runCommand("file.open")}>Open a trace…</button>
    </div>
  );
}

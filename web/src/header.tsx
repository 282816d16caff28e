import { api } from "./api/api";
import { runCommand } from "./commands/commands";
import { SearchBar } from "./search/bar";
import { busy, dropNote, interrupt, notes, session, connection } from "./state/session";
import { isDark, toggleTheme } from "./state/theme";

export function Header() {
  const mounts = session.value?.mounts ?? [];
  return (
    <header class="bar">
      <h1 class="brand" title={`dctv ${session.value?.version ?? ""}`}>
        <span class="logo" aria-hidden="true"><i /><i /><i /></span>
        dctv
      </h1>
      <span class="mounts" title={mounts.map((mount) => `${mount.name}: ${mount.path}`).join("\n")}>
        {mounts.map((mount) => <span key={mount.name} class={`mount ${mount.state}`}>{mount.name}</span>)}
      </span>
      <SearchBar />
      <BusyChip />
      <FileButtons />
      <button type="button" class="bar-button" onClick={() => runCommand("palette")} title="All commands (Ctrl+K)">
        Commands <kbd>Ctrl K</kbd>
      </button>
      <button type="button" class="bar-button icon" onClick={toggleTheme} title={isDark.value ? "Light page" : "Dark page"} aria-label={isDark.value ? "Light page" : "Dark page"}>
        {isDark.value ? "☀" : "☾"}
      </button>
      <button type="button" class="bar-button icon" onClick={() => runCommand("help")} title="Keys (?)" aria-label="Keys">?</button>
    </header>
  );
}

function FileButtons() {
  if (!api().live) return <span class="mount" title="Queries, search and other traces need dctv ui">saved view</span>;
  return (
    <>
      <button type="button" class="bar-button" onClick={() => runCommand("file.open")} title="Open a trace or report (Ctrl+O)">Open…</button>
      <button type="button" class="bar-button" onClick={() => runCommand("file.save")} title="Save this view as one HTML file (Ctrl+S)">Save</button>
    </>
  );
}

/** Tells what takes long, how far it is, and stops it. */
function BusyChip() {
  const now = busy.value;
  if (!now) return null;
  const share = now.done !== null && now.total ? Math.min(now.done / now.total, 1) : null;
  return (
    <span class="busy" role="status">
      <span class="spinner" aria-hidden="true" />
      <span class="what">{now.what}{share !== null && ` ${Math.floor(share * 100)} %`}</span>
      <button type="button" onClick={interrupt}>Stop</button>
    </span>
  );
}

/** What the user must know of: traces that are being read or could not be, and a server that is gone. */
export function Banners() {
  const mounts = session.value?.mounts ?? [];
  return (
    <div class="banners">
      {connection.value === "lost" && <p class="banner bad" role="alert"><b>Connection lost.</b> Trying again; is <code>dctv ui</code> still running?</p>}
      {connection.value === "ended" && <p class="banner bad" role="alert"><b>The server has stopped.</b> What is on the page stays, but no more can be asked for.</p>}
      {mounts.map((mount) => {
        if (mount.state === "ready") return null;
        if (mount.state === "failed") {
          return <p key={mount.name} class="banner bad" role="alert"><b>{mount.name} could not be opened.</b> {mount.message}</p>;
        }
        const share = mount.done !== null && mount.total ? Math.min(mount.done / mount.total, 1) : null;
        return (
          <p key={mount.name} class="banner progress" role="status">
            <b>{mount.name}</b> {mount.message || "is being opened"}
            <progress aria-label={`How much of ${mount.name} is read`} {...(share !== null && { value: share })} max={1} />
            {share !== null && <span>{Math.floor(share * 100)} %</span>}
          </p>
        );
      })}
    </div>
  );
}

export function Notes() {
  return (
    <div class="notes" role="log" aria-label="Messages">
      {notes.value.map((each) => (
        <div key={each.id} class={`note${each.bad ? " bad" : ""}`} role={each.bad ? "alert" : "status"}>
          <p>{each.message}{each.hint && <span class="hint">{each.hint}</span>}</p>
          <button type="button" class="icon" aria-label="Close" onClick={() => dropNote(each.id)}>✕</button>
        </div>
      ))}
    </div>
  );
}

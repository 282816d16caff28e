/** What lies over the page while a file is dragged onto it, and how far files are sent. */

import "./drop.css";
import { useEffect, useState } from "preact/hooks";
import { amount } from "../text/amounts";
import { dismiss, openFiles, stopUpload, type Upload, uploads } from "./uploads";

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;

export function DropLayer() {
  const [over, setOver] = useState(false);

  useEffect(() => {
    // Elements inside of the page enter and leave too: only the last of them counts.
    let depth = 0;
    const enter = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      depth++;
      setOver(true);
    };
    const leave = (event: DragEvent): void => {
      if (hasFiles(event) && --depth <= 0) {
        depth = 0;
        setOver(false);
      }
    };
    const move = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      event.dataTransfer!.dropEffect = "copy";
    };
    const drop = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      void openFiles([...event.dataTransfer!.files]);
    };
    const all = { dragenter: enter, dragleave: leave, dragover: move, drop };
    for (const [name, listen] of Object.entries(all)) addEventListener(name, listen as EventListener);
    return () => {
      for (const [name, listen] of Object.entries(all)) removeEventListener(name, listen as EventListener);
    };
  }, []);

  return (
    <>
      {over && (
        <div class="drop-over" aria-hidden="true">
          <div class="drop-card">
            <strong>Drop to open</strong>
            <span>a trace, or a report (.sql)</span>
          </div>
        </div>
      )}
      {uploads.value.length > 0 && (
        <section class="uploads" aria-label="Files that are opened">
          {uploads.value.map((upload) => <Sending key={upload.id} upload={upload} />)}
        </section>
      )}
    </>
  );
}

function Sending({ upload }: { readonly upload: Upload }) {
  const { id, name, size, sent, state, message, hint } = upload;
  const failed = state === "failed";
  return (
    <div class={`upload${failed ? " failed" : ""}`} role={failed ? "alert" : "status"}>
      <div class="upload-line">
        <strong title={name}>{name}</strong>
        <button type="button" onClick={() => (failed ? dismiss(id) : stopUpload(id))}>{failed ? "Close" : "Cancel"}</button>
      </div>
      {failed
        ? <p>{message}{hint && <small>{hint}</small>}</p>
        : (
          <>
            <progress max={size} value={sent} aria-label={`How much of ${name} is sent`} />
            <small>{state === "storing" ? "opening…" : `${amount(sent, "B")} of ${amount(size, "B")}`}</small>
          </>
        )}
    </div>
  );
}

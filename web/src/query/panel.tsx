/** The SQL panel: editor at the left, results at the right. */

import "./query.css";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useSignalEffect } from "@preact/signals";
import { api } from "../api/api";
import { keep, kept } from "../state/kept";
import { queryText } from "../state/view";
import { type SqlEditor, sqlEditor } from "./editor";
import { forget, history } from "./history";
import { Results } from "./results";
import { fault, runs, runSql, stopAll } from "./runs";

let editor: SqlEditor | null = null;
let wantsFocus = false;

/** Runs what is selected in the editor, else all of it. */
export function runEditor(): void {
  const chosen = editor?.chosen() ?? { text: queryText.value, start: 0 };
  void runSql(chosen.text, chosen.start);
}

/** Puts the cursor into the editor, now or as soon as its tab is open. */
export function focusEditor(): void {
  wantsFocus = true;
  setTimeout(takeFocus);
}

function takeFocus(): void {
  if (!wantsFocus || !editor) return;
  wantsFocus = false;
  editor.focus();
}

export function SqlPanel() {
  const [part, setPart] = useState(Number(kept("sqlpart")) || 0.4);
  const box = useRef<HTMLDivElement>(null);

  function move(to: number): void {
    const bounded = Math.min(0.75, Math.max(0.2, to));
    setPart(bounded);
    keep("sqlpart", String(bounded));
  }

  function drag(event: PointerEvent): void {
    const handle = event.currentTarget as HTMLElement;
    handle.setPointerCapture(event.pointerId);
    const { left, width } = box.current!.getBoundingClientRect();
    const over = (moving: PointerEvent): void => move((moving.clientX - left) / width);
    handle.addEventListener("pointermove", over);
    handle.addEventListener("lostpointercapture", () => handle.removeEventListener("pointermove", over), { once: true });
  }

  return (
    <div ref={box} class="sql-panel" style={{ gridTemplateColumns: `${(part * 100).toFixed(2)}% 5px minmax(0, 1fr)` }}>
      <Writing />
      <div
        class="sql-divider"
        role="separator"
        tabIndex={0}
        aria-label="Width of the editor"
        aria-orientation="vertical"
        aria-valuemin={20}
        aria-valuemax={75}
        aria-valuenow={Math.round(part * 100)}
        onPointerDown={drag}
        onKeyDown={(event) => {
          const step = event.key === "ArrowLeft" ? -0.02 : event.key === "ArrowRight" ? 0.02 : 0;
          if (step) {
            event.preventDefault();
            event.stopPropagation();
            move(part + step);
          }
        }}
      />
      <Results />
    </div>
  );
}

function Writing() {
  const host = useRef<HTMLDivElement>(null);
  const running = runs.value.some((run) => run.state === "running");

  useLayoutEffect(() => {
    const made = sqlEditor(host.current!, queryText.value, { run: runEditor, changed: (text) => (queryText.value = text) });
    editor = made;
    takeFocus();
    return () => {
      made.close();
      if (editor === made) editor = null;
    };
  }, []);
  useSignalEffect(() => editor?.setText(queryText.value));
  useSignalEffect(() => {
    if (fault.value) editor?.showFault(fault.value);
  });

  return (
    <div class="sql-writing">
      <div class="sql-bar">
        <button type="button" class="primary" onClick={runEditor} disabled={!api().live} title="Ctrl+Enter">Run</button>
        <button type="button" onClick={stopAll} disabled={!running}>Stop</button>
        <History />
        <span class="grow" />
        {!api().live && <span class="faint">not in this saved view: queries</span>}
      </div>
      <div ref={host} class="sql-editor" />
    </div>
  );
}

function History() {
  const [open, setOpen] = useState(false);
  const toggle = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);

  useLayoutEffect(() => {
    if (!open) return;
    list.current?.querySelector("button")?.focus();
    const away = (event: PointerEvent): void => {
      const target = event.target as Node;
      if (!list.current?.contains(target) && !toggle.current?.contains(target)) setOpen(false);
    };
    document.addEventListener("pointerdown", away);
    return () => document.removeEventListener("pointerdown", away);
  }, [open]);

  function close(): void {
    setOpen(false);
    toggle.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    const buttons = [...list.current!.querySelectorAll("button")];
    const place = buttons.indexOf(event.target as HTMLButtonElement);
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown") buttons[place + 1]?.focus();
    else if (event.key === "ArrowUp") buttons[place - 1]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <span class="sql-history">
      <button ref={toggle} type="button" aria-expanded={open} disabled={history.value.length === 0} onClick={() => setOpen(!open)}>
        History
      </button>
      {open && (
        <div ref={list} class="popover history-list" role="group" aria-label="Queries that were run" onKeyDown={onKeyDown}>
          {history.value.map((text) => (
            <button
              key={text}
              type="button"
              title={text}
              onClick={() => {
                queryText.value = text;
                setOpen(false);
                focusEditor();
              }}
            >
              {text.replace(/\s+/g, " ")}
            </button>
          ))}
          <button type="button" class="history-clear" onClick={() => (forget(), close())}>Clear history</button>
        </div>
      )}
    </span>
  );
}

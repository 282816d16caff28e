/** The editor of SQL: completion and errors come from the server, which knows the language and the trace. */

import { autocompletion, closeCompletion, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { type Diagnostic, forceLinting, linter } from "@codemirror/lint";
import { Prec } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";
import { basicSetup } from "codemirror";
import { api } from "../api/api";
import type { Fault } from "../api/types";
import { dialect, look } from "./language";

const CHECK_AFTER = 350;

export interface EditorActions {
  readonly run: () => void;
  readonly changed: (text: string) => void;
}

export interface SqlEditor {
  readonly text: () => string;
  /** What is selected, with its place; all if nothing is. */
  readonly chosen: () => { readonly text: string; readonly start: number };
  readonly setText: (text: string) => void;
  readonly focus: () => void;
  /** Underlines an error of a run until the text changes. */
  readonly showFault: (fault: Fault | null) => void;
  readonly close: () => void;
}

/**
 * Makes an editor in a shadow tree of `host`: there its styles are adopted sheets, which the page's security policy
 * allows, while in the document they would be inline styles, which it does not.
 */
export function sqlEditor(host: HTMLElement, text: string, actions: EditorActions): SqlEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  let fault: Fault | null = null;
  let checking = new AbortController();

  async function faults(view: EditorView): Promise<readonly Diagnostic[]> {
    checking.abort();
    checking = new AbortController();
    const { doc } = view.state;
    const found = fault ? [fault] : await check(doc.toString(), checking.signal);
    return found.map((each) => diagnostic(each, doc.length));
  }

  const view = new EditorView({
    doc: text,
    parent: root,
    root,
    extensions: [
      Prec.highest(
        keymap.of([
          { key: "Mod-Enter", run: (here) => (closeCompletion(here), actions.run(), true) },
        ]),
      ),
      basicSetup,
      dialect.extension,
      look,
      placeholder("SELECT …   (Ctrl+Enter runs it, Ctrl+Space completes)"),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": "SQL" }),
      autocompletion({ override: [complete], maxRenderedOptions: 200, icons: false }),
      linter(faults, { delay: CHECK_AFTER }),
      EditorView.domEventHandlers({ beforeinput: typedOver }),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged) return;
        fault = null;
        actions.changed(update.state.doc.toString());
      }),
    ],
  });
  const keepKeys = (event: KeyboardEvent): void => {
    if (!event.ctrlKey && !event.metaKey && event.key !== "F1") event.stopPropagation();
  };
  host.addEventListener("keydown", keepKeys);

  return {
    text: () => view.state.doc.toString(),
    chosen() {
      const { from, to, empty } = view.state.selection.main;
      return empty ? { text: view.state.doc.toString(), start: 0 } : { text: view.state.sliceDoc(from, to), start: from };
    },
    setText(changed) {
      if (changed === view.state.doc.toString()) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: changed } });
    },
    focus: () => view.focus(),
    showFault(shown) {
      fault = shown;
      forceLinting(view);
    },
    close() {
      checking.abort();
      host.removeEventListener("keydown", keepKeys);
      view.destroy();
    },
  };
}

/**
 * Types over a selection without the browser's help, which would keep the colours of what is replaced by elements with
 * inline styles: the page's security policy refuses these and tells so on the console.
 */
function typedOver(event: InputEvent, view: EditorView): boolean {
  const { from, to, empty } = view.state.selection.main;
  const text = event.data;
  if (event.inputType !== "insertText" || text === null || empty || view.composing) return false;
  const insert = () => view.state.update(view.state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
  if (!view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, text, insert))) view.dispatch(insert());
  event.preventDefault();
  return true;
}

async function check(text: string, signal: AbortSignal): Promise<readonly Fault[]> {
  if (!text.trim() || !api().live) return [];
  try {
    return await api().check({ text }, signal);
  } catch {
    // The text is checked again when it changes; that this one was not is no news to who types.
    return [];
  }
}

function diagnostic(fault: Fault, length: number): Diagnostic {
  const from = Math.min(Math.max(0, fault.start), length);
  return {
    from,
    to: Math.min(Math.max(from + 1, fault.stop), length),
    severity: "error",
    message: fault.message,
    renderMessage() {
      const text = document.createElement("div");
      text.textContent = fault.message;
      if (fault.hint) text.appendChild(document.createElement("small")).textContent = fault.hint;
      return text;
    },
  };
}

async function complete(context: CompletionContext): Promise<CompletionResult | null> {
  // A number alone is complete; letters after it are a unit.
  const begun = context.matchBefore(/[\w.`]$/) && !context.matchBefore(/(?:^|[^\w.])[\d.]+$/);
  if (!api().live || (!context.explicit && !begun)) return null;
  const stop = new AbortController();
  context.addEventListener("abort", () => stop.abort());
  try {
    const found = await api().complete({ text: context.state.doc.toString(), cursor: context.pos }, stop.signal);
    if (found.options.length === 0) return null;
    return { from: found.from, options: found.options.map(option), validFor: /^\w*$/ };
  } catch {
    return null;
  }
}

const option = (found: { readonly label: string; readonly kind: string }): Completion => ({ label: found.label, detail: found.kind });

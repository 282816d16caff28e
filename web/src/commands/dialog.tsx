import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** A dialog over the page; Esc and a click beside it close it, and the focus goes back to where it was. */
export function Dialog(props: { title: string; close: () => void; children: ComponentChildren; wide?: boolean; plain?: boolean }) {
  const element = useRef<HTMLDialogElement>(null);
  // Not an effect after the next frame: keys typed until then would go to the page, where letters are commands.
  useLayoutEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={`dialog${props.wide ? " wide" : ""}${props.plain ? " plain" : ""}`}
      aria-label={props.title}
      onCancel={(event) => {
        event.preventDefault();
        props.close();
      }}
      onPointerDown={(event) => event.target === element.current && props.close()}
    >
      <div class="inside">
        {!props.plain && <h2>{props.title}</h2>}
        {props.children}
      </div>
    </dialog>
  );
}

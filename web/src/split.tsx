/** An edge between two parts of the page that can be dragged, or moved by arrow keys. */
export function Split(props: {
  label: string;
  /** There is another one for the same edge that keys reach. */
  quiet?: boolean;
  vertical?: boolean;
  value: number;
  least: number;
  most: number;
  /** 1 if dragging right or down makes the value larger, otherwise -1. */
  sign: 1 | -1;
  set: (value: number) => void;
}) {
  const bounded = (value: number) => Math.min(Math.max(Math.round(value), props.least), props.most);
  const drag = (event: PointerEvent) => {
    const element = event.currentTarget as HTMLElement;
    const start = props.vertical ? event.clientX : event.clientY;
    const { value } = props;
    element.setPointerCapture(event.pointerId);
    const gone = new AbortController();
    const { signal } = gone;
    element.addEventListener("pointermove", (move) => {
      props.set(bounded(value + props.sign * ((props.vertical ? move.clientX : move.clientY) - start)));
    }, { signal });
    element.addEventListener("pointerup", () => gone.abort(), { signal });
    element.addEventListener("pointercancel", () => gone.abort(), { signal });
  };
  const key = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
    const by = steps[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    props.set(bounded(props.value + props.sign * by * 20));
  };
  return (
    <div
      class={`split${props.vertical ? " vertical" : ""}`}
      role="separator"
      tabIndex={props.quiet ? -1 : 0}
      aria-hidden={props.quiet}
      aria-label={props.label}
      aria-orientation={props.vertical ? "vertical" : "horizontal"}
      aria-valuenow={props.value}
      aria-valuemin={props.least}
      aria-valuemax={props.most}
      onPointerDown={drag}
      onKeyDown={key}
    />
  );
}

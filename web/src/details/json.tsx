import type { Json } from "../api/types";

/** A JSON value that folds; long lists show their first items, and more when asked. */
export function JsonTree({ name, value, open = 2 }: { name?: string; value: Json; open?: number }) {
  const label = name === undefined ? null : <span class="json-key">{name}</span>;
  if (value === null || typeof value !== "object") {
    return <div class="json-leaf">{label}{label && ": "}<span class={`json-${value === null ? "null" : typeof value}`}>{leaf(value)}</span></div>;
  }
  const entries = Array.isArray(value) ? value.map((each, at) => [String(at), each] as const) : Object.entries(value as Record<string, Json>);
  return (
    <details class="json" open={open > 0}>
      <summary>{label}{label && " "}<span class="json-size">{Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`}</span></summary>
      {entries.slice(0, MOST).map(([key, each]) => <JsonTree key={key} name={key} value={each} open={open - 1} />)}
      {entries.length > MOST && <div class="json-leaf hint">and {entries.length - MOST} more</div>}
    </details>
  );
}

const MOST = 500;

function leaf(value: string | number | boolean | null): string {
  return typeof value === "string" ? `"${value}"` : String(value);
}

/** An error of a query as the command line would print it: what, where, and a hint. */

import { ApiError } from "../api/types";

export function Fault({ error }: { readonly error: ApiError }) {
  return (
    <div class="fault" role="alert">
      <p class="fault-message">
        <strong>error:</strong> {error.message}
        {error.place && <span class="faint">{` (line ${error.place.line}, column ${error.place.column})`}</span>}
      </p>
      {error.rendered && <pre>{error.rendered}</pre>}
      {error.hint && !error.rendered?.includes(error.hint) && <p class="fault-hint">{`hint: ${error.hint}`}</p>}
    </div>
  );
}

export function Warnings({ warnings }: { readonly warnings: readonly (readonly [string, number])[] }) {
  if (warnings.length === 0) return null;
  return (
    <details class="warnings" open={warnings.length <= 2}>
      <summary>{warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`}</summary>
      <ul>
        {warnings.map(([text, count]) => <li key={text}>{count > 1 ? `${text} (${count} times)` : text}</li>)}
      </ul>
    </details>
  );
}

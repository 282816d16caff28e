/** An error of a query as the command line would print it: what, where, and a hint. */

import { ApiError } from "../api/types";

export function Fault({ error }: { readonly error: ApiError }) {
  const quoted = quotation(error);
  return (
    <div class="fault" role="alert">
      <p class="fault-message">
        <strong>error:</strong> {error.message}
        {error.place && <span class="faint">{` (line ${error.place.line}, column ${error.place.column})`}</span>}
      </p>
      {quoted && <pre>{quoted}</pre>}
      {error.hint && <p class="fault-hint">{`hint: ${error.hint}`}</p>}
    </div>
  );
}

/** The lines of SQL with carets, without the message and the hint around them. */
function quotation({ rendered, hint }: ApiError): string {
  const lines = (rendered ?? "").split("\n").slice(1);
  return lines.filter((line) => line.trim() && !(hint && line.startsWith("hint:"))).map((line) => line.replace(/^ {2}/, "")).join("\n");
}

export function Warnings({ warnings }: { readonly warnings: readonly (readonly [string, number])[] }) {
  const [first] = warnings;
  if (!first) return null;
  if (warnings.length === 1) return <p class="warnings">{`warning: ${repeated(first)}`}</p>;
  return (
    <details class="warnings" open={warnings.length === 2}>
      <summary>{`${warnings.length} warnings`}</summary>
      <ul>
        {warnings.map((warning) => <li key={warning[0]}>{repeated(warning)}</li>)}
      </ul>
    </details>
  );
}

const repeated = ([text, count]: readonly [string, number]): string => (count > 1 ? `${text} (${count} times)` : text);

import type { CounterValue, SliceDetails } from "../api/types";
import { seenValues } from "../state/view";
import { amount } from "../text/amounts";
import { exactTime } from "../text/times";

const DIGITS = 6;

/** What a row is called: a value of a counter by itself. */
export function calledOf(found: { readonly name: string | null; readonly value?: CounterValue | null }): string {
  const { value } = found;
  if (!value) return found.name ?? "(no name)";
  return value.value === null ? "no value" : amount(value.value, value.unit, DIGITS);
}

/** A value of a counter, and what has become of the one before. */
export function valueFields({ value, change, unit }: CounterValue) {
  return [
    <Field key="value" name="value" value={value} unit={unit} />,
    change !== null && <Field key="change" name="change" value={change} unit={unit} sign />,
  ];
}

function Field({ name, value, unit, sign = false }: { name: string; value: number | null; unit: string | null; sign?: boolean }) {
  if (value === null) return <tr><th scope="row">{name}</th><td><span class="null">null</span></td></tr>;
  const text = `${sign && value > 0 ? "+" : ""}${amount(value, unit, DIGITS)}`;
  return <tr><th scope="row">{name}</th><td title={[value, unit].filter((part) => part !== null).join(" ")}>{text}</td></tr>;
}

/** What was seen of a counter where it was clicked, if that is more than one value. */
export function Seen({ found }: { found: SliceDetails }) {
  const seen = seenValues.value;
  if (!found.value || seen?.track !== found.track || seen.row !== found.row || seen.min === seen.max) return null;
  const { unit } = found.value;
  return (
    <section aria-label="As it is drawn">
      <h3>As it is drawn</h3>
      <table class="plain-table fields">
        <tbody>
          <Field name="min" value={seen.min} unit={unit} />
          <Field name="max" value={seen.max} unit={unit} />
          <Field name="mean" value={seen.mean} unit={unit} />
          <tr><th scope="row">from</th><td>{exactTime(seen.from)}</td></tr>
          <tr><th scope="row">for</th><td>{exactTime(seen.duration)}</td></tr>
        </tbody>
      </table>
    </section>
  );
}

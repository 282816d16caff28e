import { marks, viewport } from "../state/view";
import { exactTime } from "../text/times";
import { jumpTo } from "../timeline/motion";

/** All marks: their names can be changed. */
export function Marks() {
  const all = marks.value;
  if (!all.length) return <p class="hint padded">No marks. <kbd>M</kbd> sets one where the pointer is.</p>;
  const rename = (place: number, name: string) => {
    marks.value = all.map((mark, each) => (each === place ? { ...mark, name } : mark));
  };
  return (
    <table class="plain-table">
      <thead><tr><th>name</th><th>time</th><th>since the one before</th><th><span class="hidden">remove</span></th></tr></thead>
      <tbody>
        {all.map((mark, place) => (
          <tr key={`${mark.at}-${place}`}>
            <td><input type="text" value={mark.name} aria-label={`Name of the mark at ${exactTime(mark.at)}`} onChange={(event) => rename(place, event.currentTarget.value)} /></td>
            <td><button type="button" class="link" onClick={() => goTo(mark.at)}>{exactTime(mark.at)}</button></td>
            <td class="number">{place > 0 ? exactTime(mark.at - all[place - 1]!.at) : ""}</td>
            <td><button type="button" class="icon" aria-label={`Remove ${mark.name}`} onClick={() => (marks.value = all.filter((each) => each !== mark))}>✕</button></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function goTo(at: number): void {
  const half = (viewport.value.to - viewport.value.from) / 2;
  jumpTo({ from: at - half, to: at + half });
}

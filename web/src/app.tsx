import { BottomPanel } from "./panel";

/** The regions of the page. */
export function App() {
  return (
    <div class="app">
      <header class="bar" />
      <main class="work" />
      <BottomPanel />
    </div>
  );
}

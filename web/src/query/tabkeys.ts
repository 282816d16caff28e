/** Arrow keys, Home and End among the tabs of a list, as ARIA's pattern has it. */
export function tabKeys(event: KeyboardEvent): void {
  const list = event.currentTarget as HTMLElement;
  const tabs = [...list.querySelectorAll<HTMLElement>('[role="tab"]')];
  const place = tabs.indexOf(event.target as HTMLElement);
  const steps: Record<string, number> = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: tabs.length - 1 };
  const next = tabs[steps[event.key] ?? -1];
  if (place < 0 || !next) return;
  event.preventDefault();
  event.stopPropagation();
  next.click();
  next.focus();
}

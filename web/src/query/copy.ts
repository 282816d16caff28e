/** Text to the clipboard, and to a file of the person's. */

/** Copies by the clipboard's own API, or where a page may not (opened from a file) by the copy command. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    return;
  } catch {
    copyByCommand(text);
  }
}

function copyByCommand(text: string): void {
  const take = (event: ClipboardEvent): void => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  document.addEventListener("copy", take, { capture: true, once: true });
  document.execCommand("copy");
  document.removeEventListener("copy", take, { capture: true });
}

/** Hands the person a file; the address is of this page alone and is dropped at once. */
export function download(name: string, content: BlobPart, type: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

import type { Mount, ServerEvent } from "./types";

/**
 * Listens to the server's events; EventSource reconnects by itself, unless the server refuses it.
 *
 * A page that nobody sees does not listen: a browser opens six connections to a server, and each tab would hold one.
 * The server begins with all that a page may have missed.
 */
export function listenToEvents(listen: (event: ServerEvent) => void): () => void {
  let source: EventSource | null = null;
  let again: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;

  function open(): void {
    source = new EventSource("api/events");
    source.onopen = () => listen({ type: "open" });
    source.onerror = () => {
      listen({ type: "lost" });
      if (source?.readyState === EventSource.CLOSED && !stopped) again = setTimeout(open, 2000);
    };
    on("mount", (data) => listen({ type: "mount", mount: data as Mount }));
    on("tracks", () => listen({ type: "tracks" }));
    on("busy", (data) => listen({ type: "busy", ...(data as { what: string; done: number | null; total: number | null }) }));
    on("idle", () => listen({ type: "idle" }));
    on("note", (data) => listen({ type: "note", message: (data as { message: string }).message }));
    on("end", () => listen({ type: "end" }));
  }

  function on(name: string, take: (data: unknown) => void): void {
    source?.addEventListener(name, (event) => {
      const text = (event as MessageEvent<string>).data;
      take(text ? JSON.parse(text) : {});
    });
  }

  function close(): void {
    clearTimeout(again);
    source?.close();
    source = null;
  }

  function follow(): void {
    if (document.hidden) close();
    else if (!source) open();
  }

  document.addEventListener("visibilitychange", follow);
  follow();
  return () => {
    stopped = true;
    document.removeEventListener("visibilitychange", follow);
    close();
  };
}

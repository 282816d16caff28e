import assert from "node:assert/strict";
import { test } from "node:test";
import { setApi, type Api } from "../src/api/api";
import type { SessionInfo } from "../src/api/types";
import { loadSession, session, takeEvent } from "../src/state/session";

const mount = (state: "mounting" | "failed") => ({ name: "notes", state, message: "" }) as SessionInfo["mounts"][number];
const info = (state: "mounting" | "failed") => ({ mounts: [mount(state)] }) as unknown as SessionInfo;

test("an answer does not undo what was told since it was asked for", async () => {
  let answer: (found: SessionInfo) => void = () => {};
  setApi({ session: () => new Promise<SessionInfo>((resolve) => (answer = resolve)) } as unknown as Api);
  session.value = info("mounting");
  const loaded = loadSession();
  takeEvent({ type: "mount", mount: mount("failed") });
  answer(info("mounting"));
  await loaded;
  assert.equal(session.value?.mounts[0]?.state, "failed");
});

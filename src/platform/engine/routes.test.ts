import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const cacheDir = mkdtempSync(join(tmpdir(), "svc-weights-"));
// A file is where the folder of the locks should be: a fetch fails before it asks any registry.
writeFileSync(join(cacheDir, "locks"), "");
afterAll(() => rmSync(cacheDir, { recursive: true, force: true }));

const { operator: ofOff } = usePlatform({ isShared: true });
// No model is routed to the engine: nothing is installed, fetched or started by itself.
const { gateway: on, operator } = usePlatform({
  environment: { SVC_ENGINE: "on", SVC_CACHE_DIR: cacheDir },
});

test("an engine that is switched off is told as off, and fetches nothing", async () => {
  const { body } = await ofOff.ask("GET /api/engine");
  expect(body).toEqual({ state: "off", pid: null, problem: null, models: [], weights: [] });
  const { status, body: refused } = await ofOff.ask("POST /api/engine/pull", { body: {} });
  expect(status).toBe(409);
  expect(refused.error.message).toContain("SVC_ENGINE=on");
});

test("weights that are not here are told with their size, and a set that there is not is refused", async () => {
  const { body } = await operator.ask("GET /api/engine");
  expect(body.state).toBe("unused");
  expect(body.weights.map((one: { set: string }) => one.set)).toEqual([
    "text",
    "chat",
    "speech",
    "image",
    "recognizer",
  ]);
  // Not the text's, which another test asks for.
  expect(body.weights[1]).toMatchObject({ phase: "absent", done_bytes: 0, needed: false });
  expect(body.weights[1].total_bytes).toBeGreaterThan(1_000_000);
  const { status } = await operator.ask("POST /api/engine/pull", { body: { sets: ["nothing"] } });
  expect(status).toBe(400);
});

test("what is asked for is fetched in the background; why it failed is told, and it can be tried again at once", async () => {
  const failed = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    on.server.engine?.watchers.add(({ set, phase }) => {
      if (set === "text" && phase === "failed") resolve();
    });
    return promise;
  };
  const pull = () => operator.ask("POST /api/engine/pull", { body: { sets: ["text"] } });
  const text = async () => (await operator.ask("GET /api/engine")).body.weights[0];
  const first = failed();
  expect((await pull()).body[0].phase).toBe("waiting");
  await first;
  const told = await text();
  expect(told).toMatchObject({ phase: "failed", needed: false });
  expect(told.problem).not.toBe("");
  // The pause before the next try is half a minute; nobody waits for it here.
  const second = failed();
  expect((await pull()).body[0].problem).toBeNull();
  await second;
});

import { expect, test } from "bun:test";
import { join } from "node:path";

/** Runs in a process of its own, so that what it prints can be read. */
async function printed(script: string): Promise<string> {
  const welcome = join(import.meta.dir, "welcome.ts");
  const child = Bun.spawn(
    [
      process.execPath,
      "-e",
      `const { followWeights, printServing } = await import("${welcome}");\n${script}`,
    ],
    { stdin: "ignore", stdout: "pipe", stderr: "inherit" },
  );
  const text = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return text;
}

test("models that become ready all at once are all told, and what to try with each", async () => {
  const text = await printed(`
    const sets = ["text", "chat", "speech"];
    let phase = "waiting";
    const progressOf = (set) => ({ set, phase, doneBytes: 1, totalBytes: 1 });
    const engine = {
      watchers: new Set(),
      problemOf: () => undefined,
      get progress() { return sets.map(progressOf); },
    };
    const model = (id, name, endpoint) => ({ id, endpoint, input: "text", routes: ["engine/" + name], route_list: [{ provider: "engine", model: name }] });
    followWeights(engine, [
      model("svc-embedding-2", "text", "embeddings"),
      model("svc-3-flash", "chat", "chat"),
      model("svc-2.5-flash-tts", "speech-flash", "speech"),
    ]);
    phase = "ready";
    for (const progress of engine.progress) for (const watch of engine.watchers) watch(progress);
    if (engine.watchers.size !== 0) throw new Error("it still watches");
  `);
  for (const said of ["svc embed", "svc chat", "svc say"]) expect(text).toContain(said);
  for (const set of ["text", "chat", "speech"]) expect(text).toContain(`${set}: ready`);
});

/** The first screen of a first start, with one chat model of the engine or none. */
const firstScreen = (
  phase: "ready" | "waiting" | "none",
  { databaseUrl, workers }: { databaseUrl?: string; workers?: readonly string[] } = {},
) =>
  printed(`
    const phase = ${JSON.stringify(phase)};
    const chat = { id: "svc-3-flash", endpoint: "chat", input: "text", served: true, routes: ["engine/chat"], route_list: [{ provider: "engine", model: "chat" }] };
    const engine = {
      watchers: new Set(),
      problemOf: () => undefined,
      progress: phase === "none" ? [] : [{ set: "chat", phase, doneBytes: 0, totalBytes: 1e6 }],
    };
    const screen = await printServing({
      server: {
        gatewayUrl: "http://127.0.0.1:1",
        platformUrl: "http://127.0.0.1:2",
        applied: undefined,
        engine,
        operations: { models: { list: async () => (phase === "none" ? [] : [chat]) } },
      },
      workers: ${JSON.stringify(workers)},
      configuration: { settings: { databaseUrl: ${JSON.stringify(databaseUrl)}, dataDir: "data", engine: "on", firstKey: "on" } },
      version: "1",
      first: { key: { secret: "svc-key", balanceUsd: "5" }, operatorLink: undefined },
    });
    screen.end();
  `);

test("the first screen offers the API beside a command, or else by itself", async () => {
  const ready = await firstScreen("ready");
  expect(ready).toMatch(/Try it in another shell[\s\S]*\n {2}Or call the API\n/);
  for (const phase of ["waiting", "none"] as const) {
    const text = await firstScreen(phase);
    expect(text).not.toContain("Try it in another shell");
    expect(text).toMatch(/\n {2}Call the API\n\n {4}curl /);
    expect(text).toContain("\n  svc connect shows the settings for Claude Code");
  }
});

test("the first screen names the database without its user, and the workers", async () => {
  expect(await firstScreen("none")).toContain("\n  data      data\n  database  data/svc.db\n");
  const databaseUrl = "postgres://ann:secret@db.example:6432/svc?sslmode=require";
  const text = await firstScreen("none", { databaseUrl, workers: ["vm/1", "vm/2"] });
  expect(text).toContain("\n  workers   vm/1, vm/2\n");
  expect(text).toContain("\n  database  postgres://db.example:6432/svc\n");
  expect(text).not.toMatch(/secret|ann/);
});

import { expect, test } from "bun:test";
import { join } from "node:path";

/** Runs in a process of its own, so that what it prints can be read. */
async function printed(script: string): Promise<string> {
  const welcome = join(import.meta.dir, "welcome.ts");
  const child = Bun.spawn(
    [process.execPath, "-e", `const { followWeights } = await import("${welcome}");\n${script}`],
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

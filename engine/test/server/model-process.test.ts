import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { EngineError, type TextResult } from "../../contract.ts";
import { ModelProcess } from "../../server/model-process.ts";
import { weightsDir } from "../weights/weights-dir.ts";

setDefaultTimeout(600_000);

let dir: string;
beforeAll(async () => {
  dir = await weightsDir("text");
});

const logged: string[] = [];
let onLog: (line: string) => void = () => {};
let model: ModelProcess;
const open = (more: { readonly idleMs?: number; readonly maxWaiting?: number } = {}) => {
  model = new ModelProcess({
    name: "text",
    load: { type: "load", kind: "text", options: { dir } },
    parallel: 1,
    maxWaiting: 2,
    idleMs: 60_000,
    log: { info: (line) => onLog(line), error: (line) => logged.push(line) },
    ...more,
  });
};
afterEach(() => {
  model.close();
  onLog = () => {};
});

const never = new AbortController().signal;
const embed = (texts: readonly string[], signal = never) =>
  model.run({ texts, dimensions: 768 }, signal, () => {}) as Promise<TextResult>;
/** Long enough to find the model at work. */
const long = Array.from({ length: 100 }, (_, at) => `a text of some length, number ${at}`);
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

test("is started by the first job and answers in order", async () => {
  open();
  expect(model.view).toMatchObject({ state: "idle", pid: null });
  const [first, second] = await Promise.all([embed(["one"]), embed(["one two"])]);
  expect([first.tokens, second.tokens]).toEqual([3, 4]);
  expect(model.view).toMatchObject({ state: "loaded", active: 0, waiting: 0 });
});

test("refuses with 503 what the line has no room for, and serves the rest", async () => {
  open();
  const jobs = [embed(long), embed(["a"]), embed(["b"])];
  expect(model.view).toMatchObject({ active: 1, waiting: 2 });
  const refused = await failureOf(embed(["c"]));
  expect(refused).toBeInstanceOf(EngineError);
  expect(refused).toMatchObject({ status: 503, code: "overloaded" });
  expect((await Promise.all(jobs)).map(({ vectors }) => vectors.length)).toEqual([100, 1, 1]);
});

test("a caller who leaves gives up the place in line, and stops the work", async () => {
  open();
  const working = new AbortController();
  const waiting = new AbortController();
  const jobs = [embed(long, working.signal), embed(["a"], waiting.signal)];
  const failures = jobs.map(failureOf);
  waiting.abort(new Error("left the line"));
  expect(model.view).toMatchObject({ active: 1, waiting: 0 });
  working.abort(new Error("left the work"));
  expect(await Promise.all(failures)).toMatchObject([
    { message: "left the work" },
    { message: "left the line" },
  ]);
  // The next job begins only when the model has let go of the last.
  expect((await embed(["next"])).vectors).toHaveLength(1);
});

test("a process that is killed fails its job, and the next job starts another", async () => {
  open();
  await embed(["warm"]);
  const before = model.view.pid ?? 0;
  const job = failureOf(embed(long));
  const inLine = embed(["in line"]);
  process.kill(before, "SIGKILL");
  expect(await job).toMatchObject({ status: 502, code: "model_failed" });
  expect((await inLine).vectors).toHaveLength(1);
  expect(model.view.pid).not.toBe(before);
});

test("an idle model's process ends, and comes back with the next job", async () => {
  open({ idleMs: 20 });
  const idle = new Promise<void>((resolve) => {
    onLog = (line) => line.includes("was idle") && resolve();
  });
  await embed(["one"]);
  const before = model.view.pid;
  await idle;
  expect((await embed(["again"])).vectors).toHaveLength(1);
  expect(model.view.pid).not.toBe(before);
});

test("a model that cannot be loaded fails its jobs and says why in the log", async () => {
  dir = "/nowhere";
  open();
  dir = await weightsDir("text");
  expect(await failureOf(embed(["a"]))).toMatchObject({ status: 502 });
  expect(logged.some((line) => line.includes("cannot be loaded"))).toBe(true);
});

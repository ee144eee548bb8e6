/** Preloaded into the processes that run test files: notes what each file reached, and its time. */

import { afterAll, beforeAll } from "bun:test";
import { appendFileSync } from "node:fs";
import { join, relative } from "node:path";
import { takeReached } from "./switch.ts";

let beganMs = Date.now();
beforeAll(() => {
  beganMs = Date.now();
  takeReached();
});
afterAll(() => {
  const file = relative(process.cwd(), Bun.main);
  const line = { file, beganMs, endedMs: Date.now(), reached: takeReached() };
  appendFileSync(join(import.meta.dir, "files.jsonl"), `${JSON.stringify(line)}\n`);
});

/**
 * Copied beside the switched sources. Every process of a run reads which mutant is active, and
 * notes the mutants that it came across.
 */

import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

const folder = import.meta.dir;
const active = Number(readFileSync(join(folder, "active"), "utf8"));
const isRecording = active === -1;
/** Threads and processes that a test file starts may live longer than it. */
const forgetsAfterMs = 250;

/** Filled and cleared by `record.ts`, which runs in the processes that run test files. */
const reached = new Set<number>();
let clearedMs = 0;
const isRunner = isMainThread && process.env["BUN_TEST_WORKER_ID"] !== undefined;
export const takeReached = (): readonly number[] => {
  const ids = [...reached];
  reached.clear();
  return ids;
};

export function isMutant(id: number): boolean {
  if (isRecording) record(id);
  return id === active;
}

function record(id: number): void {
  if (!isRunner && Date.now() - clearedMs > forgetsAfterMs) {
    clearedMs = Date.now();
    reached.clear();
  }
  if (reached.has(id)) return;
  reached.add(id);
  if (!isRunner)
    appendFileSync(
      join(folder, "elsewhere.jsonl"),
      `${JSON.stringify({ id, atMs: Date.now() })}\n`,
    );
}

/**
 * Loaded before the real program: its `fdatasync` is in the hands of the process that started it,
 * which may hold it up, let it go, or have it fail. Each one that begins is told.
 */

import { mock } from "bun:test";
import * as fs from "node:fs";

export type GateOrder = "pass" | "hold" | "fail";
/** How many have begun since the program started, and what was ordered last. */
export interface GateState {
  readonly syncs: number;
  readonly order: GateOrder;
}

let order: GateOrder = "pass";
let syncs = 0;
let waiting: (() => void)[] = [];

const report = () => process.send?.({ syncs, order } satisfies GateState);

process.on("message", (next: GateOrder) => {
  order = next;
  report();
  if (next === "hold") return;
  for (const go of waiting) go();
  waiting = [];
});

const realFs = { ...fs };
await mock.module("node:fs", () => ({
  ...realFs,
  fdatasync(fd: number, callback: fs.NoParamCallback) {
    syncs++;
    report();
    const go = () => {
      if (order !== "fail") return realFs.fdatasync(fd, callback);
      setImmediate(() => callback(Object.assign(new Error("EIO: i/o error"), { code: "EIO" })));
    };
    if (order === "hold") waiting.push(go);
    else go();
  },
}));

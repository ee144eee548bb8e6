/**
 * Loaded before the real program (`bun --preload`), which knows nothing of it. Told a step and a
 * count by the process that started it, it kills its own process with SIGKILL when that step is
 * passed for that many times; until then it changes nothing.
 */

import { Database } from "bun:sqlite";
import { mock } from "bun:test";
import * as fs from "node:fs";
import type { InnerStep } from "./steps.ts";

export interface Arming {
  readonly step: InnerStep;
  readonly pass: number;
}

let wanted: InnerStep | undefined;
let passesLeft = 0;

process.on("message", ({ step, pass: passes }: Arming) => {
  wanted = step;
  passesLeft = passes;
  process.send?.("armed");
});

function pass(step: InnerStep): void {
  if (step !== wanted) return;
  passesLeft--;
  if (passesLeft === 0) process.kill(process.pid, "SIGKILL");
}

/** Set while a transaction with a receipt is being made, which happens in one go. */
let isWriting = false;
/** Commits with a receipt that the disk has not confirmed yet. */
let unconfirmed = 0;

const realFs = { ...fs };
// Before the program loads it: what it has imported by name cannot be changed later.
await mock.module("node:fs", () => ({
  ...realFs,
  fdatasync(fd: number, callback: fs.NoParamCallback) {
    const hasReceipt = unconfirmed > 0;
    realFs.fdatasync(fd, (error) => {
      if (hasReceipt) pass("after-sync");
      callback(error);
    });
    if (hasReceipt) pass("during-sync");
  },
}));

const { Hold } = await import("../../../src/ledger/purse.ts");
const { LedgerWriter } = await import("../../../src/store/sqlite/ledger/writer.ts");
const { WalSync } = await import("../../../src/store/sqlite/ledger/wal-sync.ts");

const takeHold = Hold.take;
Hold.take = (...values) => {
  pass("before-hold");
  const hold = takeHold.apply(Hold, values);
  pass("after-hold");
  return hold;
};

const wrapped = new WeakSet<object>();
const { query } = Database.prototype;
Database.prototype.query = function (this: Database, sql: string) {
  const statement = query.call(this, sql);
  if (sql !== "commit" || wrapped.has(statement)) return statement;
  wrapped.add(statement);
  const run = statement.run.bind(statement);
  return Object.assign(statement, {
    run(...values: Parameters<typeof run>) {
      if (isWriting) pass("in-transaction");
      return run(...values);
    },
  });
} as typeof query;

const { sync } = WalSync.prototype;
WalSync.prototype.sync = function (this: InstanceType<typeof WalSync>) {
  if (isWriting) pass("before-sync");
  return sync.call(this);
};

const { commit } = LedgerWriter.prototype;
LedgerWriter.prototype.commit = function (
  this: InstanceType<typeof LedgerWriter>,
  ...values: Parameters<typeof commit>
) {
  const [writes] = values;
  const hasReceipt = writes.some(({ type }) => type === "receipt");
  const hasClaim = writes.some(({ type }) => type === "claim");
  const confirmed = () => {
    if (hasReceipt) pass("before-last-byte");
    if (hasClaim) pass("after-claim");
  };
  if (!hasReceipt) return commit.apply(this, values).then(confirmed);
  pass("before-transaction");
  isWriting = true;
  unconfirmed++;
  try {
    return commit
      .apply(this, values)
      .finally(() => unconfirmed--)
      .then(confirmed);
  } finally {
    isWriting = false;
  }
};
